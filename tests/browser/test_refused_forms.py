"""A refused form in real Chromium: said at its field, in sight and in focus, with what was typed still there."""

import re

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from hits.budgeting import set_cap
from hits.designing import create_study
from hits.models import Membership, PublishingRun, SpendingCap, offering_for
from tests import snapshots
from tests.browser.conftest import CheckAccessibility
from tests.conftest import DEMO


def expect_said_at(page: Page, field: Locator, words: str) -> None:
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport()
    expect(field).to_have_accessible_description(re.compile(words))
    assert field.get_attribute("aria-invalid") == "true"


@pytest.mark.parametrize("width", [1366, 390])
def test_a_refused_budget_stays_in_its_field_and_the_next_click_publishes_nothing(
    researcher_page: Page, check_accessibility: CheckAccessibility, width: int
) -> None:
    page = researcher_page
    page.set_viewport_size({"width": width, "height": 700})
    snapshots.build(create_study(DEMO, User.objects.get()))
    page.goto("/studies/demo/")
    budget = page.get_by_label("Budget of the study in all")
    publish = page.get_by_role("button", name="Publish to the local marketplace")

    for typed, words in (
        ("$20", "write an amount in USD, as 1500 or 99.50"),
        ("1,000", "write an amount in USD"),
        ("3", "above the"),
    ):
        budget.fill(typed)
        publish.click()
        expect_said_at(page, budget, words)
        expect(budget).to_have_value(typed)
        publish.click()  # without a look
        expect(budget).to_have_value(typed)
    check_accessibility(page)

    assert not PublishingRun.objects.exists()
    budget.fill("20")
    publish.click()
    expect(page.get_by_text("Requested by")).to_be_visible()
    assert PublishingRun.objects.exists()
    assert SpendingCap.objects.get().cents == 20_00


def test_the_next_wave_keeps_the_last_one_s_budget_until_someone_takes_it_out(researcher_page: Page) -> None:
    page = researcher_page
    study = create_study(DEMO, User.objects.get())
    snapshots.build(study)
    set_cap(offering_for(study, "local"), 20_50, None, timezone.now())

    page.goto("/studies/demo/")

    expect(page.get_by_label("Budget of the study in all")).to_have_value("20.50")


def test_a_budget_in_its_field_outlasts_a_refused_and_a_taken_invitation(researcher_page: Page) -> None:
    page = researcher_page
    User.objects.create_user("grace")
    snapshots.build(create_study(DEMO, User.objects.exclude(username="grace").get()))
    page.goto("/studies/demo/")
    budget = page.get_by_label("Budget of the study in all")
    budget.fill("12.50")
    page.get_by_label("HITs in this wave").fill("2")

    for name, words in (("Sarah", "Nobody here has the user name"), ("grace", "grace can see the study now")):
        page.get_by_label("User name of a colleague").fill(name)
        page.get_by_role("button", name="Invite").click()
        expect(page.get_by_text(words)).to_be_visible()
        expect(budget).to_have_value("12.50")
        expect(page.get_by_label("HITs in this wave")).to_have_value("2")


def test_refused_invitations_copies_and_names_are_said_at_their_fields(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    snapshots.build(create_study(DEMO, User.objects.get()))
    page.goto("/studies/demo/")

    page.get_by_label("User name of a colleague").fill("Sarah")
    page.get_by_role("button", name="Invite").click()
    expect_said_at(page, page.get_by_label("User name of a colleague"), "Nobody here has the user name 'Sarah'")
    expect(page.get_by_label("User name of a colleague")).to_have_value("Sarah")
    check_accessibility(page)
    assert not Membership.objects.exists()

    page.get_by_label("Name", exact=True).fill("demo")
    page.get_by_role("button", name="Copy").click()
    expect_said_at(page, page.get_by_label("Name", exact=True), "is taken")
    page.reload()
    page.goto("/studies/demo/copy/")
    expect(page).to_have_url(re.compile("/studies/demo/$"))

    page.goto("/studies/")
    page.get_by_label("Name").fill("demo")
    page.get_by_role("button", name="Start").click()
    expect_said_at(page, page.get_by_label("Name"), "is taken")
    expect(page.get_by_label("Name")).to_have_value("demo")
