"""A whole study by invitation in real Chromium: begun on a desktop, gone on with and finished on a phone by touch."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django import Settings

from hits.crowds import invite_raters, open_crowd, personal_link, read_list
from hits.designing import create_study
from hits.models import Assignment, Invitation, Offering, Submission, offering_for
from hits.serving import revoke_invitation
from hits.syncing import sync
from tests import snapshots
from tests.browser.conftest import SMALL, WAIT_MS, CheckAccessibility
from tests.browser.test_open_links import DESKTOP, FOR_LINKS, TOUCH, rate_everything
from tests.browser.worker_moves import card_at, choice, expect_saved, sort, tap_card
from tests.conftest import DEMO
from tests.hits.crowd import now

FOUR = [{"name": "example-empathetic", "dialogs": 4}]
TWO = {**SMALL, "datasets": FOUR, "crowd": {**FOR_LINKS, "max_hits_per_worker": 2}}


@pytest.fixture
def offering(live_server_url: str, settings: Settings, end_offline: None) -> Offering:
    settings.PUBLIC_URL = live_server_url
    cache.clear()
    study = create_study({**DEMO, **TWO}, User.objects.get())
    snapshots.build(study)
    call_command("publish_hits", study.name, crowd="link", verbosity=0)
    study.refresh_from_db()
    return offering_for(study, "link.trial")


@pytest.fixture
def ada(offering: Offering) -> Invitation:
    invite_raters(offering, read_list("Ada Lovelace, ada@example.org").people, None, now())
    return Invitation.objects.get()


@pytest.fixture
def phone(browser: Browser, live_server_url: str) -> Iterator[Page]:
    """A second device, with its own storage and without cookies of the first."""
    context: BrowserContext = browser.new_context(base_url=live_server_url, **TOUCH)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    yield page
    context.set_offline(True)
    context.close()


def heading(page: Page) -> Any:
    return expect(page.get_by_role("heading", level=1))


def path_of(invitation: Invitation) -> str:
    return urlsplit(personal_link(invitation)).path


@pytest.mark.parametrize("context", [DESKTOP], indirect=True, ids=["desktop, then touch"])
def test_a_whole_study_by_invitation_on_two_devices(
    page: Page, phone: Page, offering: Offering, ada: Invitation, check_accessibility: CheckAccessibility
) -> None:
    page.goto(path_of(ada))
    heading(page).to_have_text("Hello, Ada Lovelace")
    expect(page.get_by_role("button", name="I agree and begin")).to_be_enabled()
    check_accessibility(page)
    page.get_by_role("button", name="I agree and begin").click()
    page.get_by_role("button", name="Next").click()
    heading(page).to_have_text(re.compile("Conversation 1 of 2"))
    sort(page, page, "Conversation 1 of 2", tap_card)
    expect_saved(page)

    # The first device stays open while the second goes on with the same work, and finishes it.
    phone.goto(path_of(ada))
    expect(phone.get_by_text("you have worked on 1 of 2 conversations")).to_be_visible()
    check_accessibility(phone)
    phone.get_by_role("button", name="Go on").tap()
    heading(phone).to_have_text(re.compile("Conversation 1 of 2"))
    expect(phone.get_by_role("button", name="Next")).to_be_visible()
    phone.get_by_role("button", name="Next").tap()
    sort(phone, phone, "Conversation 2 of 2", tap_card)
    expect_saved(phone)
    phone.get_by_role("button", name="Next").tap()
    heading(phone).to_have_text("Finish")
    phone.get_by_role("button", name="Submit").tap()
    phone.wait_for_url(re.compile("/join/invited/"))
    expect(phone.get_by_text("1 task, 2 conversations")).to_be_visible()

    # The first device, still open, changes nothing any more, and says so as soon as somebody looks at it.
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    heading(page).to_have_text("You have finished this task")

    # The next HIT, by the same link, on the first device again.
    page.get_by_role("link", name="Go to your page of this study").click()
    page.wait_for_url(re.compile("/join/invited/"))
    page.get_by_role("button", name="Begin the next task").click()
    heading(page).to_have_text(re.compile("Instructions|Conversation 1 of 2"))
    if "Instructions" in page.get_by_role("heading", level=1).inner_text():
        rate_everything(page)
    else:
        rate_conversations(page)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(re.compile("/join/invited/"))
    expect(page.get_by_text("You have done all that there is for you")).to_be_visible()
    check_accessibility(page)

    sync(offering, open_crowd(offering), now)
    submissions = Submission.objects.select_related("assignment__hit")
    assert [one.problem for one in submissions] == ["", ""]
    assert {one.assignment.crowd_worker_id for one in submissions} == {ada.worker_id}
    assert len({one.assignment.hit.block for one in submissions}) == 2
    assert Assignment.objects.count() == 2


def rate_conversations(page: Page) -> None:
    for number in (1, 2):
        sort(page, page, f"Conversation {number} of 2", tap_card)
        expect_saved(page)
        page.get_by_role("button", name="Next").click()


def test_who_is_inside_is_told_at_once_that_the_invitation_is_revoked(page: Page, ada: Invitation) -> None:
    page.goto(path_of(ada))
    page.get_by_role("button", name="I agree and begin").click()
    page.get_by_role("button", name="Next").click()
    heading(page).to_have_text(re.compile("Conversation 1 of 2"))
    expect_saved(page)
    revoke_invitation(ada, None, now())

    with page.expect_response("**/work/api/save/") as saved:
        choice(card_at(page, 0), "good").click()

    assert saved.value.status == 403
    heading(page).to_have_text("Your invitation was withdrawn")
    expect(page.get_by_role("button")).to_have_count(0)


def test_the_researchers_page_of_invitations_is_accessible_and_copies(
    researcher_page: Page, offering: Offering, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    page.goto("/studies/demo/links/?market=link.trial")
    page.get_by_role("link", name="Invite raters").click()
    check_accessibility(page)
    page.get_by_label("One rater a line").fill("Ada Lovelace, ada@example.org\nbob@\nCy")
    page.get_by_role("button", name="Add them").click()
    expect(page.get_by_text("Line 2 (bob@) has an e-mail address that can't be right.")).to_be_visible()
    expect(page.get_by_label("One rater a line")).to_have_value("bob@")
    check_accessibility(page)

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the link of Ada Lovelace").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    ada = Invitation.objects.get(name="Ada Lovelace")
    assert page.evaluate("navigator.clipboard.readText()") == personal_link(ada)

    page.get_by_label("Revoke the invitation of Cy").click()
    page.get_by_role("button", name="Yes, revoke Cy").click()
    expect(page.get_by_text("Cy's link opens nothing any more.")).to_be_visible()
    page.get_by_role("button", name="Restore the invitation of Cy").click()
    expect(page.get_by_text("Cy can go on, by the same link.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Payroll as CSV").click()
    assert download.value.suggested_filename == "demo-link.trial-payroll.csv"
