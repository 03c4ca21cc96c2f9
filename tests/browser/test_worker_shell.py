"""What stands around the work on a worker's page: its beginning, its clock, its voice, its end, and what goes wrong."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Route, expect

from hits.models import Answer, Assignment
from localturk.worker_frame import preview_frame
from tests.browser.conftest import (
    LAPTOP,
    SMALL,
    WITHOUT_BONUS,
    CheckAccessibility,
    OpenPage,
    Publish,
    WorkUrl,
)
from tests.browser.worker_moves import (
    accept_in_marketplace,
    agree,
    card_at,
    expect_offline,
    expect_saved,
    go_on,
    move_by_digit,
    move_by_key,
    open_first_dialog,
    sort,
    stored_placements,
    where_cards_are,
    zone,
)

ONE_DIALOG = {**SMALL, **WITHOUT_BONUS, "datasets": [{"name": "example-empathetic", "dialogs": 1}]}
REGIONS = "[role=status]"


def change_data(page: Page, change: Callable[[dict[str, Any]], None]) -> None:
    """What the server sends arrives otherwise: the script will stumble over it."""

    def answer(route: Route) -> None:
        response = route.fetch()
        start, rest = response.text().split('type="application/json">', 1)
        text, end = rest.split("</script>", 1)
        data = json.loads(text)
        change(data)
        changed = f'{start}type="application/json">{json.dumps(data)}</script>{end}'.replace("<\\/", "<\\u002f")
        route.fulfill(response=response, body=changed)

    page.route(re.compile(r"/work/[0-9a-f-]{36}/"), answer)


def heading(page: Page) -> Any:
    return expect(page.get_by_role("heading", level=1))


def tell_dialogs(page: Page) -> list[str]:
    """The kinds of dialogs that the browser shows; each is dismissed, so that the page stays."""
    kinds: list[str] = []

    def note(dialog: Dialog) -> None:
        kinds.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", note)
    return kinds


# --- The clock -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("minutes_left", [5, 1])
def test_the_page_stands_when_little_time_is_left(
    open_page: OpenPage, publish: Publish, work_url: WorkUrl, minutes_left: int
) -> None:
    page = open_first_dialog(open_page(), work_url(publish(**SMALL)))
    opened = Assignment.objects.get()
    Assignment.objects.update(held_at=opened.held_at - timedelta(minutes=60 - minutes_left, seconds=30))

    page.reload()

    heading(page).to_have_text("Conversation 1 of 2")
    expect(page.locator(".clock")).to_have_text(f"At most {minutes_left} minute{'s' * (minutes_left > 1)} left")
    expect(page.locator("[data-voice]")).to_contain_text(f"{minutes_left} minute", timeout=8_000)


def test_when_the_time_is_over_the_page_says_at_once_what_to_do(
    open_page: OpenPage, publish: Publish, work_url: WorkUrl
) -> None:
    page = open_first_dialog(open_page(), work_url(publish(**SMALL)))
    opened = Assignment.objects.get()
    Assignment.objects.update(held_at=opened.held_at - timedelta(minutes=59, seconds=57))

    page.reload()  # and nothing is touched

    heading(page).to_have_text("The time for this HIT is over", timeout=15_000)


def test_a_conversation_that_is_all_sorted_says_so_when_it_is_opened_again_and_enter_goes_on(
    open_page: OpenPage, publish: Publish, work_url: WorkUrl
) -> None:
    page = open_first_dialog(open_page(), work_url(publish(**SMALL)))
    expect(page.locator(".points")).to_have_text("")  # before the first check nothing is said of points
    for _ in range(page.locator("[data-card]").count()):
        page.keyboard.press("1")
    expect(page.locator(".saved")).to_have_attribute("data-state", "saved")

    page.reload()

    expect(page.locator(".moved-words")).to_contain_text("All are placed: press Next or Enter")
    page.keyboard.press("Enter")
    heading(page).to_have_text("Conversation 2 of 2")


def test_a_study_of_five_minutes_opens_and_says_when_the_time_is_over(
    page: Page, publish: Publish, work_url: WorkUrl
) -> None:
    short = {"crowd": {"time_limit_minutes": 5}, "pay": {"bonus_points": 1, "expected_minutes": 4}}
    url = work_url(publish(**{**SMALL, **short}))
    page.clock.install()
    page.goto(url)

    heading(page).to_have_text("Welcome")
    said = page.locator("[data-voice]")
    page.clock.fast_forward("00:06")
    expect(said).to_have_text("5 minutes left.")
    page.clock.fast_forward("04:00")
    expect(said).to_have_text("1 minute left.")
    page.clock.fast_forward("01:00")
    expect(said).to_have_text("The time is over.")
    expect(page.locator(".clock")).to_have_text("The time is over")


# --- When the script does not come, or fails -------------------------------------------------------------------------


def test_words_help_while_the_script_does_not_come(
    open_page: OpenPage, publish: Publish, work_url: WorkUrl, check_accessibility: CheckAccessibility
) -> None:
    page = open_page()
    page.route("**/worker*.js", lambda route: route.abort())

    page.goto(work_url(publish(**SMALL)))

    heading(page).to_have_text("One moment: the HIT is loading")
    expect(page.get_by_text("The work you have done so far is saved")).to_be_visible()
    check_accessibility(page)


def test_words_help_without_javascript(
    browser: Browser, live_server_url: str, publish: Publish, work_url: WorkUrl
) -> None:
    context = browser.new_context(base_url=live_server_url, java_script_enabled=False, **LAPTOP)
    page = context.new_page()

    page.goto(work_url(publish(**SMALL)))

    expect(page.get_by_text("allow JavaScript for it")).to_be_visible()
    expect(page.get_by_text("Firefox 114")).to_be_visible()
    context.close()


@pytest.mark.parametrize("is_later", [False, True], ids=["at the start", "at a later step"])
def test_words_help_again_when_the_script_fails(
    context: BrowserContext, publish: Publish, work_url: WorkUrl, is_later: bool
) -> None:
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def spoil(data: dict[str, Any]) -> None:
        if is_later:
            data["dialogs"][0]["turns"] = None
        else:
            data["dialogs"] = None

    change_data(page, spoil)
    page.goto(work_url(publish(**SMALL)))
    if is_later:
        agree(page)
        page.get_by_role("button", name="Next").click()

    heading(page).to_have_text("This page did not start")
    expect(page.get_by_text("Reload the page")).to_be_visible()
    assert len(errors) == 1


@pytest.mark.parametrize("missing", ["delete AbortSignal.timeout", "CSS.supports = () => false"])
def test_an_old_browser_is_told_at_the_door(page: Page, publish: Publish, work_url: WorkUrl, missing: str) -> None:
    page.add_init_script(missing)

    page.goto(work_url(publish(**SMALL)))

    heading(page).to_have_text("This browser is too old for this page")
    expect(page.get_by_text("Chrome or Edge 111, Firefox 114, Safari 16.4")).to_be_visible()


# --- Consent and introduction ----------------------------------------------------------------------------------------


def test_nobody_works_without_having_agreed(
    page: Page, publish: Publish, work_url: WorkUrl, check_accessibility: CheckAccessibility
) -> None:
    url = work_url(publish(**SMALL))
    page.goto(url)
    expect(page.get_by_role("button", name="Next")).to_have_count(0)

    page.get_by_role("button", name="I do not agree").click()
    expect(page.get_by_text("Please return the HIT on the marketplace")).to_be_visible()
    check_accessibility(page)
    assert Assignment.objects.get().consented_at is None

    agree(page)
    heading(page).to_have_text("Instructions")
    expect_saved(page)
    stored = Assignment.objects.get()
    assert (stored.consented_at is not None, len(stored.consent_version)) == (True, 64)
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("button", name="I agree and begin")).to_have_count(0)
    page.get_by_role("button", name="Next").click()
    heading(page).to_have_text("Instructions")


def test_an_agreement_without_a_connection_is_kept_and_sent_later(
    context: BrowserContext, open_page: OpenPage, publish: Publish, work_url: WorkUrl
) -> None:
    url = work_url(publish(**SMALL))
    page = open_page()
    page.goto(url)
    context.set_offline(True)
    agree(page)
    page.get_by_role("button", name="Next").click()
    heading(page).to_have_text("Conversation 1 of 2")
    move_by_key(page, card_at(page, 0), "1")
    expect_offline(page)
    page.close()
    context.set_offline(False)

    page = open_page()
    page.goto(url)

    heading(page).to_have_text("Conversation 1 of 2")
    expect_saved(page)
    assert Assignment.objects.get().consented_at is not None
    assert stored_placements()[0] == where_cards_are(page)


def test_the_preview_shows_the_consent_and_asks_nothing(page: Page, publish: Publish) -> None:
    hit = publish(**{**SMALL, "task": {"requester": "The Dialogue Group, Example University", "language": "en-GB"}})
    preview = preview_frame(hit)
    assert preview is not None

    page.goto(preview.url)

    expect(page.get_by_text("Taking part is voluntary")).to_be_visible()
    expect(page.get_by_text("The Dialogue Group, Example University")).to_be_visible()
    expect(page.get_by_text("$0.40, which is $1.60 an hour at this pace")).to_be_visible()
    expect(page.get_by_text("how you rate the replies never leads to a rejection")).to_be_visible()
    expect(page.get_by_role("button", name="agree")).to_have_count(0)
    assert page.locator("html").get_attribute("lang") == "en-GB"


def test_who_has_done_a_hit_of_the_study_begins_in_one_click(
    page: Page, publish: Publish, work_url: WorkUrl, check_accessibility: CheckAccessibility
) -> None:
    url = work_url(publish(**SMALL))
    page.goto(url)
    heading(page).to_have_text("Welcome")
    this = Assignment.objects.get()
    earlier = Assignment(
        hit_id=this.hit_id,
        offering=this.offering,
        crowd_assignment_id="EARLIER",
        crowd_worker_id=this.crowd_worker_id,
        rotation=1,
        opened_at=this.opened_at,
        held_at=this.held_at,
        submitted_at=this.opened_at,
        confirmed_at=this.opened_at,
    )
    earlier.save()

    page.reload()
    heading(page).to_have_text("Welcome back")
    consent = page.get_by_text("Taking part is voluntary").first
    expect(consent).to_be_hidden()
    page.get_by_text("The introduction and the consent in full").click()
    expect(consent).to_be_visible()
    check_accessibility(page)
    agree(page)

    heading(page).to_have_text("Conversation 1 of 2")
    page.get_by_role("button", name="Instructions").click()
    sheet = page.get_by_role("dialog", name="Instructions")
    expect(sheet.get_by_text("Taking part is voluntary")).to_be_visible()
    expect(sheet.get_by_text("Who asks")).to_be_visible()
    check_accessibility(page)


# --- Screen readers --------------------------------------------------------------------------------------------------


def test_regions_exist_before_they_speak_and_the_title_follows_the_step(
    page: Page, publish: Publish, work_url: WorkUrl
) -> None:
    def check_regions(least: int) -> None:
        shown = page.locator(REGIONS).evaluate_all(
            "regions => regions.map(one => getComputedStyle(one).display !== 'none' && one.checkVisibility())"
        )
        assert len(shown) >= least
        assert all(shown), page.locator(REGIONS).evaluate_all("regions => regions.map(one => one.outerHTML)")

    page.goto(work_url(publish(**SMALL)))
    title = "Rate replies in short conversations"
    expect(page).to_have_title(f"Welcome – {title}")
    check_regions(4)
    agree(page)
    expect(page).to_have_title(f"Instructions – {title}")
    check_regions(3)
    page.get_by_role("button", name="Next").click()
    expect(page).to_have_title(f"Conversation 1 of 2 – {title}")
    check_regions(3)
    following = page.get_by_role("button", name="Next", disabled=False)
    expect(following).to_be_enabled()
    assert following.get_attribute("aria-disabled") is None
    following.click()
    expect(page.get_by_text("replies still have no place")).to_be_visible()
    for position in (1, 2):
        sort(page, page, f"Conversation {position} of 2", move_by_digit)
        go_on(page)
    expect(page).to_have_title(f"Finish – {title}")
    check_regions(4)


# --- Waiting, leaving, tabs ------------------------------------------------------------------------------------------


def test_what_is_waited_for_is_said_while_an_earlier_save_waits(
    context: BrowserContext, open_page: OpenPage, publish: Publish, work_url: WorkUrl
) -> None:
    page = open_first_dialog(open_page(), work_url(publish(**SMALL)))
    if not page.get_by_role("region", name="Bonus").count():
        sort(page, page, "Conversation 1 of 2", move_by_digit)
        go_on(page)
    context.set_offline(True)
    sort(page, page, "Conversation", move_by_digit, is_saved=False)
    expect_offline(page)

    page.get_by_role("button", name="Bonus Validate").click()

    expect(page.locator(".bonus").get_by_text("No connection. Your work is kept")).to_be_visible()
    context.set_offline(False)
    expect(page.get_by_text(re.compile("The bonus point is yours|Not yet"))).to_be_visible()
    expect_saved(page)


def test_submitting_says_what_it_waits_for_while_a_save_hangs(
    open_page: OpenPage, publish: Publish, work_url: WorkUrl
) -> None:
    page = open_first_dialog(open_page(), work_url(publish(**ONE_DIALOG)))
    sort(page, page, "Conversation 1 of 1", move_by_digit)
    go_on(page)
    expect_saved(page)
    held: list[Route] = []
    page.route("**/work/api/save/", lambda route: held.append(route), times=1)
    page.get_by_label("Anything that you would like to tell us?").fill("It hangs")
    expect(page.locator(".saved")).to_have_text("Saving…")

    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_text("Submitting…")).to_be_visible()
    expect(page.get_by_text("The server has not answered yet; still waiting.")).to_be_visible(timeout=8_000)
    held[0].continue_()
    heading(page).to_have_text("Your answers are safe")
    assert Assignment.objects.get().feedback == "It hangs"


def test_leaving_with_unsent_work_warns_and_only_then(
    context: BrowserContext, open_page: OpenPage, publish: Publish, work_url: WorkUrl
) -> None:
    page = open_first_dialog(open_page(), work_url(publish(**ONE_DIALOG)))
    dialogs = tell_dialogs(page)
    sort(page, page, "Conversation 1 of 1", move_by_digit)
    page.reload()
    heading(page).to_have_text("Conversation 1 of 1")
    assert dialogs == []

    context.set_offline(True)
    move_by_key(page, card_at(page, 0), "3")
    expect_offline(page)
    page.evaluate("setTimeout(() => location.reload())")
    page.wait_for_timeout(500)
    assert dialogs == ["beforeunload"]
    expect(zone(page, "bad").locator("[data-card='0']")).to_be_visible()

    context.set_offline(False)
    expect_saved(page)
    go_on(page)
    page.get_by_role("button", name="Submit").click()
    heading(page).to_have_text("Thank you, your work is submitted")
    assert dialogs == ["beforeunload"]


def test_leaving_the_marketplaces_page_with_unsent_work_warns_too(
    context: BrowserContext, open_page: OpenPage, publish: Publish
) -> None:
    publish(**ONE_DIALOG)
    page = open_page()
    dialogs = tell_dialogs(page)
    work = accept_in_marketplace(page)
    agree(work)
    work.get_by_role("button", name="Next").click()
    expect_saved(work)
    context.set_offline(True)
    move_by_key(page, card_at(work, 0), "3")
    expect_offline(work)

    page.evaluate("setTimeout(() => location.reload())")
    page.wait_for_timeout(500)

    assert dialogs == ["beforeunload"]
    expect(zone(work, "bad").locator("[data-card='0']")).to_be_visible()


def test_work_that_waited_through_a_reload_merges_with_another_tab(
    context: BrowserContext, open_page: OpenPage, publish: Publish, work_url: WorkUrl
) -> None:
    url = work_url(publish(**SMALL))
    first = open_first_dialog(open_page(), url)
    second = open_page()
    second.goto(url)
    heading(second).to_have_text("Conversation 1 of 2")
    first.route("**/work/api/save/", lambda route: route.abort())
    move_by_key(first, card_at(first, 0), "1")
    move_by_key(first, card_at(first, 1), "1")
    expect_offline(first)
    first.close()
    move_by_key(second, card_at(second, 1), "3")
    move_by_key(second, card_at(second, 2), "2")
    expect_saved(second)
    second.close()

    page = open_page()
    page.goto(url)

    expect(page.get_by_text("Moved in another tab, too: reply B of conversation 1.")).to_be_visible()
    for place, area in enumerate(["good", "bad", "okay"]):
        expect(zone(page, area).locator(f"[data-card='{place}']")).to_be_visible()
    expect_saved(page)
    assert stored_placements()[0] == where_cards_are(page)


def test_a_refusal_of_the_page_uses_the_servers_words(open_page: OpenPage, publish: Publish, work_url: WorkUrl) -> None:
    page = open_first_dialog(open_page(), work_url(publish(**SMALL)))
    Assignment.objects.update(consented_at=None)

    move_by_key(page, card_at(page, 0), "1")

    heading(page).to_have_text("We need your agreement first")
    expect(page).to_have_title("We need your agreement first")
    expect(page.get_by_text("it is paid as always")).to_be_visible()
    assert not Answer.objects.exists()
    page.get_by_role("button", name="Open this HIT again").click()
    heading(page).to_have_text("Welcome")
    agree(page)
    expect_saved(page)
    assert stored_placements()[0]
