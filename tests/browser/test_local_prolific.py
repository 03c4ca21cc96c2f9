"""The participant's side of the local Prolific in real Chromium, around a small study page that only tests serve."""

from datetime import timedelta

import pytest
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.html import format_html
from playwright.sync_api import Page, expect
from pytest_django import Settings

from evalplatform.urls import urlpatterns as own_urlpatterns
from localprolific.in_process import issue_token
from localprolific.models import ProlificSubmission
from localprolific.panel_clock import Clock
from localprolific.seeding import ensure_participants
from tests.browser.conftest import CheckAccessibility
from tests.localprolific.conftest import ProlificApi
from tests.localprolific.test_money_at_prolific import REJECTION

QUERY = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
TITLE = "Rate <b>replies</b> & dialogs"


@login_not_required
def show_study(request: HttpRequest) -> HttpResponse:
    """What a study's page does: it reads the ids, and leads back with its code."""
    shown = ", ".join(f"{name}={request.GET.get(name, 'none')}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
    has_token = "a token" if request.GET.get("prolific_token", "").count(".") == 2 else "no token"
    link = "/localprolific/submissions/complete?cc=DONE1"
    page = '<!doctype html><html lang="en"><title>S</title><h1>Study</h1><p>{}, {}</p><a href="{}">Finish</a></html>'
    return HttpResponse(format_html(page, shown, has_token, link))


urlpatterns = [*own_urlpatterns, path("their-study/", show_study)]


@pytest.fixture
def prolific(live_server_url: str, settings: Settings) -> ProlificApi:
    settings.ROOT_URLCONF = "tests.browser.test_local_prolific"
    ensure_participants()
    return ProlificApi(issue_token("GBP"))


def publish(api: ProlificApi, live_server_url: str) -> str:
    url = f"{live_server_url}/their-study/?{QUERY}"
    return api.publish(name=TITLE, external_study_url=url, is_external_study_url_secure=True)


def come_in(page: Page, name: str = "Asha") -> None:
    page.goto("/localprolific/")
    page.get_by_role("button", name=name).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Studies for {name}")


def test_a_participant_takes_part_from_the_offer_to_the_code(
    page: Page, prolific: ProlificApi, live_server_url: str, check_accessibility: CheckAccessibility
) -> None:
    study_id = publish(prolific, live_server_url)
    page.goto("/localprolific/")
    check_accessibility(page)
    come_in(page)
    check_accessibility(page)

    page.get_by_role("button", name="Reserve a place").click()
    expect(page.get_by_text("Your place is reserved for ten minutes.")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Open the study").click()
    submission = ProlificSubmission.objects.select_related("participant").get()
    expect(page.locator("p")).to_have_text(
        f"PROLIFIC_PID={submission.participant.participant_id}, STUDY_ID={study_id}, "
        f"SESSION_ID={submission.submission_id}, a token"
    )
    page.get_by_role("link", name="Finish").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you!")
    check_accessibility(page)
    assert prolific.status_of(submission.submission_id) == "AWAITING REVIEW"
    page.reload()  # the address may be opened twice
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you!")

    prolific.post(f"submissions/{submission.submission_id}/transition/", {"action": "APPROVE"})
    page.get_by_role("link", name="Earnings").click()
    expect(page.get_by_role("row", name="Asha")).to_contain_text("£1.50")
    check_accessibility(page)


def test_a_participant_goes_on_returns_and_is_kept_out_afterwards(
    page: Page, prolific: ProlificApi, live_server_url: str, check_accessibility: CheckAccessibility
) -> None:
    publish(prolific, live_server_url)
    come_in(page, "Ben")
    page.get_by_role("button", name="Reserve a place").click()
    page.get_by_role("button", name="Open the study").click()

    page.goto("/localprolific/studies/")
    check_accessibility(page)
    page.get_by_role("link", name="Go on with").click()
    expect(page.get_by_label("Completion code")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Return this study").click()

    expect(page.get_by_text("You have no place in it any more.")).to_be_visible()
    page.goto("/localprolific/studies/")
    expect(page.get_by_text("There are no studies for Ben now.")).to_be_visible()
    check_accessibility(page)


def test_who_types_the_code_by_hand_after_the_time_is_still_taken(
    page: Page, prolific: ProlificApi, live_server_url: str
) -> None:
    publish(prolific, live_server_url)
    come_in(page)
    page.get_by_role("button", name="Reserve a place").click()
    page.get_by_role("button", name="Open the study").click()
    Clock().advance(timedelta(hours=1))

    page.goto("/localprolific/studies/")
    page.get_by_role("link", name=TITLE).click()
    expect(page.get_by_text("The time for it is over.")).to_be_visible()
    page.get_by_label("Completion code").fill("DONE1")
    page.get_by_role("button", name="Complete").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you!")
    assert prolific.status_of(ProlificSubmission.objects.get().submission_id) == "AWAITING REVIEW"


def test_a_rejection_is_shown_with_its_reason(
    page: Page, prolific: ProlificApi, live_server_url: str, check_accessibility: CheckAccessibility
) -> None:
    publish(prolific, live_server_url)
    come_in(page)
    page.get_by_role("button", name="Reserve a place").click()
    page.get_by_role("button", name="Open the study").click()
    page.get_by_role("link", name="Finish").click()
    submission_id = ProlificSubmission.objects.get().submission_id
    prolific.post(f"submissions/{submission_id}/transition/", REJECTION)

    page.goto("/localprolific/studies/")

    expect(page.get_by_role("row", name="rejected")).to_contain_text("same answer to every one")
    check_accessibility(page)


def test_a_browser_that_is_nobody_is_told_so(page: Page, prolific: ProlificApi) -> None:
    page.goto("/localprolific/submissions/complete?cc=DONE1")

    expect(page.get_by_role("heading", level=1)).to_have_text("Who are you?")
    page.get_by_role("link", name="Choose a participant").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Who are you today?")
