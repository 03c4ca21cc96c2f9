"""A whole study from Prolific's page to its completion page in real Chromium, on a desktop and by touch."""

import os
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from playwright.sync_api import Page, expect
from pytest_django import Settings

from hits.crowds import open_crowd
from hits.designing import create_study
from hits.models import Offering, Submission, offering_for
from hits.syncing import sync
from localprolific.behaviour import set_behaviour
from localprolific.models import ProlificStudy, ProlificSubmission
from localprolific.seeding import ensure_participants
from tests import snapshots
from tests.browser.conftest import LAPTOP, PHONE, CheckAccessibility
from tests.browser.worker_moves import agree, card_at, placed_area
from tests.conftest import DEMO
from tests.hits.crowd import now

DEVICES = [LAPTOP, {**PHONE, "has_touch": True}]


@pytest.fixture
def offering(live_server_url: str, settings: Settings) -> Offering:
    settings.PUBLIC_URL = live_server_url
    ensure_participants()
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=0, bonus_payment_seconds=0)
    study = create_study(
        {
            **DEMO,
            "screening": [],
            "hits": {"dialogs": 2, "assignments": 1},
            "datasets": [{"name": "example-empathetic", "dialogs": 2}],
            "checkpoints": {"per_hit": 1, "datasets": ["example-empathetic"]},
            "crowd": {"name": "prolific", "countries": [], "min_approved": 0, "min_approval_percent": 0},
            "pay": {"currency": "GBP", "reward": "1.50", "bonus": "0.10", "bonus_points": 1, "expected_minutes": 10},
        }
    )
    snapshots.build(study)
    call_command("publish_hits", study.name, crowd="prolific", stdout=StringIO())
    return offering_for(study, "prolific.local")


def come_from_prolific(page: Page, name: str) -> None:
    page.goto("/localprolific/")
    page.get_by_role("button", name=name).click()
    page.get_by_role("button", name="Reserve a place").click()
    page.get_by_role("button", name="Open the study").click()


def place_all(page: Page) -> None:
    """Give each reply an area by its radio buttons, which work with every device."""
    for place in range(page.locator("[data-card]").count()):
        area = placed_area(place).title()
        card_at(page, place).get_by_role("radio", name=area).check(force=True)


@pytest.mark.parametrize("context", DEVICES, indirect=True, ids=["desktop", "touch"])
def test_a_participant_comes_from_prolific_works_and_completes_there(
    page: Page, offering: Offering, check_accessibility: CheckAccessibility
) -> None:
    come_from_prolific(page, "Asha")
    agree(page)
    page.get_by_role("button", name="Next").click()
    for position in range(2):
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        place_all(page)
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you!", timeout=15_000)
    assert "/localprolific/submissions/complete?cc=" in page.url
    assert ProlificSubmission.objects.get().status == "AWAITING REVIEW"
    sync(offering, open_crowd(offering), now)
    assert Submission.objects.get().problem == ""
    assert ProlificSubmission.objects.get().status == "APPROVED"


def test_whoever_comes_when_all_is_taken_goes_back_with_a_code(
    page: Page, offering: Offering, check_accessibility: CheckAccessibility
) -> None:
    come_from_prolific(page, "Asha")
    agree(page)
    ProlificStudy.objects.update(total_available_places=2, status="ACTIVE")  # somebody added a place there by hand
    page.context.clear_cookies()
    come_from_prolific(page, "Ben")

    expect(page.get_by_role("heading", level=1)).to_contain_text("no free task")
    check_accessibility(page)
    page.get_by_role("link", name="Prolific").or_(page.get_by_role("button", name="Prolific")).first.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you!")
    ben = ProlificSubmission.objects.get(participant__name="Ben")
    assert ben.return_requested_at is not None


def test_the_page_says_what_prolific_charges_before_the_button(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    study = create_study(
        {
            **DEMO,
            "crowd": {"name": "prolific", "countries": [], "min_approved": 0, "min_approval_percent": 0},
            "pay": {"currency": "GBP", "reward": "1.50", "bonus": "0.10", "expected_minutes": 10},
        },
        User.objects.get(),
    )
    snapshots.build(study)
    page = researcher_page

    page.goto("/studies/demo/?market=prolific.local")
    said = page.locator("#crowd-quote")
    expect(said).to_contain_text("Prolific's own calculator says £50.40 for 24 places, with its fee and VAT")
    expect(said).to_contain_text("It wants £6.00 an hour at least")
    page.get_by_label("HITs in this wave").fill("2")
    expect(said).to_contain_text("£16.80 for 8 places")
    check_accessibility(page)
    if folder := os.environ.get("PICTURES_OF_FILTERS"):
        page.locator("#publishing").screenshot(path=Path(folder) / "6-quote.png")
