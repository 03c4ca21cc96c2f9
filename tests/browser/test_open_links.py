"""A whole study by an open link in real Chromium, by mouse and by finger; Back stays in it; its pages are usable."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django import Settings

from hits.crowds import open_crowd
from hits.crowds.link.open_links import LinkSettings, make_link
from hits.designing import create_study
from hits.models import Assignment, Departure, Offering, OpenLink, Submission, offering_for
from hits.syncing import sync
from tests import snapshots
from tests.browser.conftest import PHONE, SMALL, CheckAccessibility
from tests.browser.worker_moves import card_at, choice, expect_saved, sort, tap_card
from tests.conftest import DEMO
from tests.hits.crowd import now

FOR_LINKS = {"name": "link", "countries": [], "min_approved": 0, "min_approval_percent": 0, "max_hits_per_worker": 1}
TOUCH: Any = {**PHONE, "has_touch": True, "is_mobile": True}
DESKTOP: Any = {"viewport": {"width": 1280, "height": 800}}
devices = pytest.mark.parametrize("context", [DESKTOP, TOUCH], indirect=True, ids=["desktop", "touch"])


@pytest.fixture
def offering(live_server_url: str, settings: Settings, end_offline: None) -> Offering:
    settings.PUBLIC_URL = live_server_url
    cache.clear()
    study = create_study({**DEMO, **SMALL, "crowd": FOR_LINKS}, User.objects.get())
    snapshots.build(study)
    call_command("publish_hits", study.name, crowd="link", verbosity=0)
    study.refresh_from_db()
    return offering_for(study, "link.trial")


@pytest.fixture
def panel(offering: Offering, live_server_url: str) -> OpenLink:
    """A panel whose own page is this server's health page: it needs no log-in, and shows its address."""
    said = LinkSettings("Panel", "pid", "redirect", f"{live_server_url}/health/?who={{worker}}&cc={{code}}")
    link = make_link(offering, said, None, now())
    OpenLink.objects.filter(pk=link.pk).update(codes={"finished": "DONE1", "no consent": "NO1"})
    return link


def rate_everything(page: Page) -> None:
    """From the instructions to the last step, by the buttons on the cards."""
    page.get_by_role("button", name="Next").click()
    for number in (1, 2):
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(f"Conversation {number} of 2"))
        sort(page, page, f"Conversation {number} of 2", tap_card)
        expect_saved(page)
        page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Finish")


@devices
def test_a_whole_study_from_the_link_back_to_the_panel(page: Page, offering: Offering, panel: OpenLink) -> None:
    page.goto(f"/join/{panel.key}/?pid=p1")
    expect(page.get_by_text("One moment")).to_have_count(0)

    page.get_by_role("button", name="I agree and begin").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Instructions")
    rate_everything(page)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(re.compile("/health/"))

    assert urlsplit(page.url).query == "who=p1&cc=DONE1"
    sync(offering, open_crowd(offering), now)
    submission = Submission.objects.get()
    assert (submission.problem, submission.assignment.crowd_worker_id) == ("", "panel_p1")


@devices
def test_leaving_leads_back_with_the_code_for_it(page: Page, panel: OpenLink) -> None:
    page.goto(f"/join/{panel.key}/?pid=p1")

    page.get_by_role("button", name="I do not agree").click()
    page.wait_for_url(re.compile("/health/"))

    assert urlsplit(page.url).query == "who=p1&cc=NO1"
    assert Departure.objects.get().outcome == "no consent"
    assert not Assignment.objects.exists()


def test_back_leads_to_the_step_before_and_never_out_of_the_study(page: Page, offering: Offering) -> None:
    link = OpenLink.objects.get(offering=offering)
    heading = page.get_by_role("heading", level=1)
    page.goto(f"/join/{link.key}/")
    page.get_by_role("button", name="I agree and begin").click()
    expect(heading).to_have_text("Instructions")
    study = page.url
    page.get_by_role("button", name="Next").click()
    expect(heading).to_have_text(re.compile("Conversation 1"))
    choice(card_at(page, 0), "good").click()
    expect_saved(page)

    page.go_back()
    expect(heading).to_have_text("Instructions")
    page.go_forward()
    expect(heading).to_have_text(re.compile("Conversation 1"))
    page.get_by_role("button", name="Back").click()
    expect(heading).to_have_text("Instructions")
    page.go_back()
    expect(heading).to_have_text("Welcome")
    for _ in range(3):
        page.go_back()
        expect(page.get_by_text("This is the first page")).to_be_visible()
        page.get_by_role("button", name="OK").click()

    assert page.url == study
    page.get_by_role("button", name="Next").click()
    expect(heading).to_have_text("Instructions")


def test_after_a_break_back_still_leads_to_the_step_before(page: Page, offering: Offering) -> None:
    link = OpenLink.objects.get(offering=offering)
    heading = page.get_by_role("heading", level=1)
    page.goto(f"/join/{link.key}/")
    page.get_by_role("button", name="I agree and begin").click()
    page.get_by_role("button", name="Next").click()
    expect(heading).to_have_text(re.compile("Conversation 1"))
    expect_saved(page)

    page.goto(f"/join/{link.key}/")
    expect(page.get_by_text("What you have answered is saved.")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(heading).to_have_text(re.compile("Conversation 1"))
    study = page.url
    page.reload()
    expect(heading).to_have_text(re.compile("Conversation 1"))
    page.go_back()
    expect(heading).to_have_text("Instructions")

    assert page.url == study


def test_the_links_pages_are_accessible(page: Page, panel: OpenLink, check_accessibility: CheckAccessibility) -> None:
    page.goto(f"/join/{panel.key}/?pid=p1")
    expect(page.get_by_role("button", name="I agree and begin")).to_be_enabled()
    check_accessibility(page)
    page.goto(f"/join/{panel.key}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("We can't tell who you are")
    check_accessibility(page)


def test_the_researchers_page_of_links_is_accessible_and_copies(
    researcher_page: Page, offering: Offering, check_accessibility: CheckAccessibility
) -> None:
    link = OpenLink.objects.get(offering=offering)
    researcher_page.goto("/studies/demo/links/?market=link.trial&preset=sona")
    expect(researcher_page.get_by_role("heading", level=1)).to_have_text("Links")
    check_accessibility(researcher_page)
    researcher_page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    researcher_page.get_by_role("button", name="Copy the address of Open link").click()

    expect(researcher_page.get_by_text("Copied")).to_be_visible()
    assert researcher_page.evaluate("navigator.clipboard.readText()").endswith(f"/join/{link.key}/")


@pytest.fixture
def without_script(browser: Any, live_server_url: str) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=live_server_url, java_script_enabled=False)
    yield context
    context.close()


def test_a_browser_that_can_not_run_the_study_is_told_so_and_may_leave(
    without_script: BrowserContext, panel: OpenLink
) -> None:
    page = without_script.new_page()
    page.goto(f"/join/{panel.key}/?pid=p1")

    # (Chromium that is switched so still hides what is in `noscript`.)
    expect(page.get_by_text("If these words stay, it can't: please use Chrome")).to_be_visible()
    expect(page.get_by_role("button", name="I agree and begin")).to_be_disabled()
    page.get_by_role("button", name="I do not agree").click()
    page.wait_for_url(re.compile("/health/"))
