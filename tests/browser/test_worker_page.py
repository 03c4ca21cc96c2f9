"""The worker's page in real Chromium, from the local marketplace's accept to its submit.

As `make test` runs it, the pointer is a mouse on SQLite and a finger on PostgreSQL.
"""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from pytest_django import Settings

from generation.importing import import_candidates, import_dialogs
from hits.models import Answer, Assignment, BonusCheck
from localturk.models import TurkAssignment
from localturk.worker_frame import preview_frame
from tests.browser.conftest import SMALL, WITHOUT_BONUS, CheckAccessibility, OpenPage, Publish, WorkUrl
from tests.browser.worker_moves import (
    AREAS,
    FRAME,
    MoveCard,
    accept_in_marketplace,
    agree,
    card_at,
    drag_by_finger,
    drag_by_mouse,
    expect_offline,
    expect_saved,
    go_on,
    go_to,
    move_by_digit,
    move_by_key,
    open_first_dialog,
    placed_area,
    press,
    sort,
    stored_placements,
    tap_card,
    where_cards_are,
    zone,
)
from tests.conftest import WriteFile

# --- Fixtures --------------------------------------------------------------------------------------------------------


@pytest.fixture
def move_card(context: BrowserContext) -> MoveCard:
    """By the device's pointer: pressed on the card, moved in steps, let go over the area."""
    page = context.new_page()
    has_mouse = page.evaluate("matchMedia('(pointer: fine)').matches")
    page.close()
    return drag_by_mouse if has_mouse else drag_by_finger


# --- Whole HITs ------------------------------------------------------------------------------------------------------


def test_a_whole_hit_by_pointer_with_a_reload_and_a_lost_connection(
    context: BrowserContext, open_page: OpenPage, publish: Publish, move_card: MoveCard
) -> None:
    publish(**SMALL)
    page, placed = open_page(), {}
    work = accept_in_marketplace(page)
    expect(work.get_by_role("heading", level=1)).to_have_text("Welcome")
    agree(work)
    for place, area in enumerate(["good", "okay", "bad", "good"]):
        move_card(page, card_at(work, place), zone(work, area))
    work.get_by_role("button", name="Validate").click()
    expect(work.get_by_text("3 of 4 replies fit so far")).to_be_visible()
    expect(card_at(work, 3)).to_contain_text("does it answer anything?")
    work.get_by_role("button", name="Next").click()

    placed[0] = sort(page, work, "Conversation 1 of 2", move_card)
    page.reload()
    expect(work.get_by_role("heading", level=1)).to_have_text("Conversation 1 of 2")
    assert where_cards_are(work) == placed[0]
    go_on(work)
    context.set_offline(True)
    placed[1] = sort(page, work, "Conversation 2 of 2", tap_card, is_saved=False)
    expect_offline(work)
    go_on(work)
    context.set_offline(False)
    expect_saved(work)
    work.get_by_label("Anything that you would like to tell us?").fill("More cats, please 🐈")
    work.get_by_role("button", name="Submit").click()

    expect(work.get_by_text(re.compile("^[A-Z2-7]{4}-[A-Z2-7]{4}$"))).to_be_visible()
    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert stored_placements() == placed
    assignment = Assignment.objects.get()
    assert (assignment.feedback, assignment.submitted_at is not None) == ("More cats, please 🐈", True)
    handed_in = TurkAssignment.objects.get()
    assert handed_in.status == "Submitted"
    assert "More cats" in handed_in.answer
    timed = Answer.objects.order_by("item__position").first()
    assert timed is not None
    assert timed.active_ms > 0
    assert [[place, area] for _, place, area in timed.moves] == [[n, placed_area(n)] for n in range(len(placed[0]))]


def test_a_whole_hit_by_keyboard_alone(page: Page, publish: Publish) -> None:
    publish(**SMALL)
    page.goto("/market/")
    press(page, page.get_by_role("button", name=re.compile("^Alice")))
    press(page, page.get_by_role("button", name="Accept & Work"))
    work = page.frame_locator(FRAME)
    said = work.locator(".moved-words")
    press(page, work.get_by_role("button", name="I agree and begin"))
    expect(work.get_by_role("heading", level=1)).to_be_focused()
    press(page, work.get_by_role("button", name="Next"))

    expect(card_at(work, 0)).to_be_focused()
    press(page, work.get_by_role("button", name="Next"))
    expect(work.get_by_text(re.compile(r"^[45] replies still have no place\.$"))).to_be_visible()
    placed = {}
    for position in range(2):
        expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        if position == 0:
            go_to(page, card_at(work, 0).get_by_role("radio").first, backwards=True)
        count = work.locator("[data-card]").count()
        for place in range(count):
            page.keyboard.press(str(1 + place % 3))
            expect(said).to_contain_text(f"Reply {'ABCDE'[place]} moved to {AREAS[place % 3].title()}.")
            expect(card_at(work, min(place + 1, count - 1))).to_be_focused()
        expect(said).to_contain_text("All are placed: press Next or Enter")
        page.keyboard.press("Control+z")
        expect(said).to_contain_text(f"Undone: reply {'ABCDE'[count - 1]} is back in Replies to sort.")
        expect(card_at(work, count - 1)).to_be_focused()
        page.keyboard.press("1")
        placed[position] = where_cards_are(work)
        if work.get_by_role("button", name="Bonus Validate").count():
            press(page, work.get_by_role("button", name="Bonus Validate"))
            expect(work.get_by_text(re.compile("The bonus point is yours if|Not yet"))).to_be_visible()
        press(page, work.get_by_role("button", name="Next"))
    press(page, work.get_by_role("button", name="Submit"))

    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert stored_placements() == placed
    assert BonusCheck.objects.count() == 1


# --- Every step ------------------------------------------------------------------------------------------------------


def test_every_step_is_accessible_small_and_from_here_only(
    page: Page,
    publish: Publish,
    work_url: WorkUrl,
    live_server_url: str,
    check_accessibility: CheckAccessibility,
) -> None:
    hit = publish(checkpoints={"datasets": ["example-empathetic"], "max_attempts": 2})
    preview = preview_frame(hit)
    assert preview is not None
    page.goto(preview.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Preview")
    for words in (
        "about 15 minutes",
        "$0.40",
        "3 of the conversations carry a bonus point",
        "up to 50 HITs",
        "consent",
    ):
        expect(page.get_by_text(words).first).to_be_visible()
    assert page.locator("button:enabled, [tabindex='0'], textarea").count() == 0
    check_accessibility(page)
    assert not Assignment.objects.exists()

    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(work_url(hit))
    expect(page.get_by_role("heading", level=1)).to_have_text("Welcome")
    assert all(url.startswith(live_server_url) for url in requests)
    assert len([url for url in requests if "/work/api/" not in url]) <= 5
    check_accessibility(page)
    agree(page)
    tap_card(page, card_at(page, 0), zone(page, "good"))
    tap_card(page, card_at(page, 1), zone(page, "bad"))
    page.get_by_role("button", name="Validate").click()
    expect(card_at(page, 2)).to_contain_text("Not placed yet.")
    check_accessibility(page)
    page.get_by_role("button", name="Next").click()
    bonus, panel = page.get_by_role("button", name="Bonus Validate"), page.get_by_role("region", name="Bonus")
    while panel.count() == 0:
        sort(page, page, "Conversation", move_by_digit, is_saved=False)
        go_on(page)
    expect(panel).to_contain_text("What counts is where the replies are when you submit.")
    expect(bonus).to_have_count(0)  # before all is sorted
    height = panel.evaluate("panel => panel.getBoundingClientRect().height")
    tap_card(page, card_at(page, 0), zone(page, "okay"))
    check_accessibility(page)
    page.get_by_role("button", name="Instructions").click()
    expect(page.get_by_role("dialog", name="Instructions")).to_be_visible()
    check_accessibility(page)
    page.keyboard.press("Escape")
    for place in range(5):
        move_by_key(page, card_at(page, place), "3")
    expect(panel.get_by_role("status")).to_have_text("All sorted: see whether the point would be yours.")
    assert panel.evaluate("panel => panel.getBoundingClientRect().height") == height  # nothing jumps
    bonus.click()
    expect(page.get_by_text("Not yet. You may move replies and validate again.")).to_be_visible()
    expect(page.get_by_text("1 check left.")).to_be_visible()
    check_accessibility(page)
    for place in range(5):
        move_by_key(page, card_at(page, place), "1")
    bonus.click()
    expect(page.get_by_text("The bonus point is yours if it stays like this.")).to_be_visible()
    expect(page.get_by_text("Bonus points checked and right: 1 of 3")).to_be_visible()
    move_by_key(page, card_at(page, 0), "3")
    expect(panel.get_by_role("status")).to_have_text("Moved since the check: where replies are when you submit counts.")
    expect(page.get_by_text("Bonus points checked and right: 0 of 3")).to_be_visible()
    move_by_key(page, card_at(page, 0), "1")
    expect(page.get_by_text("Bonus points checked and right: 1 of 3")).to_be_visible()
    check_accessibility(page)
    heading = page.get_by_role("heading", level=1).inner_text()
    bonus.focus()
    page.keyboard.press("Enter")  # there is nothing left to check, so it goes on
    expect(page.get_by_role("heading", level=1)).not_to_have_text(heading)
    while page.get_by_role("heading", level=1).inner_text() != "Finish":
        if page.locator("[data-zone=''] [data-card]").count():
            sort(page, page, "Conversation", move_by_digit, is_saved=False)
        go_on(page)
    check_accessibility(page)


def test_odd_texts_are_shown_as_they_are_and_break_nothing(
    page: Page,
    publish: Publish,
    work_url: WorkUrl,
    write_lines: WriteFile,
    check_accessibility: CheckAccessibility,
) -> None:
    odd = {
        "html": "<script>alert(1)</script><img src=x onerror=alert(1)> &amp; </script>",
        "arabic": "مرحبا، كيف حالك؟ 😀👩‍👩‍👧‍👦",
        "endless": "A" * 400,
        "address": f"https://example.com/{'a/long/path/' * 20}?q=1",
    }
    dialog = {"id": "odd-1", "context": [*odd.values(), "def f(x):\n    return x"]}
    import_dialogs(write_lines(dialog, name="dialogs.jsonl"), "odd")
    import_candidates(write_lines({"id": "odd-1", "dataset": "odd", "candidates": odd}, name="candidates.jsonl"))
    hit = publish(
        **{
            **SMALL,
            **WITHOUT_BONUS,
            "datasets": [{"name": "odd", "dialogs": 1}],
            "generators": list(odd),
            "task": {"reply_style": "as written"},
        }
    )

    open_first_dialog(page, work_url(hit))

    expect(page.locator(".turn-text")).to_have_text([*odd.values(), "def f(x):\n    return x"])
    assert set(page.locator(".card-text").all_text_contents()) == set(odd.values())
    expect(page.get_by_role("banner")).not_to_contain_text("Bonus")
    sort(page, page, "Conversation 1 of 1", tap_card)
    check_accessibility(page)


def test_points_are_told_after_the_submission_and_again_when_the_page_is_reopened(
    page: Page, publish: Publish, work_url: WorkUrl
) -> None:
    checkpoints = {"per_hit": 1, "datasets": ["example-empathetic"], "feedback": "after submission"}
    url = work_url(publish(**{**SMALL, "checkpoints": checkpoints}))
    open_first_dialog(page, url)
    for position in range(2):
        expect(page.get_by_role("region", name="Bonus")).to_have_count(0)
        expect(page.get_by_role("banner")).not_to_contain_text("Bonus")
        for place in range(page.locator("[data-card]").count()):
            move_by_key(page, card_at(page, place), "1")
        go_on(page)
        expect_saved(page)
        assert Answer.objects.filter(item__position=position).exists()

    page.get_by_role("button", name="Submit").click()

    told = page.get_by_text("You have won the bonus point: we pay $0.10 on top.")
    expect(told).to_be_visible()
    expect(
        page.get_by_text("Please wait a moment: your answers go to the marketplace in a few seconds.")
    ).to_be_visible()
    page.get_by_role("button", name="Submit to the marketplace now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    page.goto(url)
    expect(told).to_be_visible()


# --- When something goes wrong ---------------------------------------------------------------------------------------


def test_two_tabs_keep_what_was_moved_in_either(open_page: OpenPage, publish: Publish, work_url: WorkUrl) -> None:
    url = work_url(publish(**SMALL))
    first = open_first_dialog(open_page(), url)
    second = open_page()
    second.goto(url)
    expect(second.get_by_role("heading", level=1)).to_have_text("Conversation 1 of 2")

    move_by_key(first, card_at(first, 0), "1")
    expect_saved(first)
    move_by_key(second, card_at(second, 1), "3")

    expect(second.get_by_text("what was done in both is shown")).to_be_visible()
    expect(zone(second, "good").locator("[data-card='0']")).to_be_visible()
    expect(zone(second, "bad").locator("[data-card='1']")).to_be_visible()
    expect_saved(second)
    assert stored_placements()[0] == where_cards_are(second)
    move_by_key(first, card_at(first, 1), "2")
    expect(first.get_by_text("Moved in another tab, too: reply B of conversation 1.")).to_be_visible()
    expect(zone(first, "bad").locator("[data-card='1']")).to_be_visible()
    assert where_cards_are(first) == where_cards_are(second)
    move_by_key(first, card_at(first, 1), "2")
    expect_saved(first)
    assert stored_placements()[0] == where_cards_are(first)


def test_a_crash_and_lost_answers_lose_nothing(
    context: BrowserContext, open_page: OpenPage, publish: Publish, work_url: WorkUrl
) -> None:
    url = work_url(publish(**SMALL))
    page = open_first_dialog(open_page(), url)
    lost: list[Route] = []

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        lost.append(route)
        route.abort()

    page.route("**/work/api/save/", lose_the_answer, times=1)
    with page.expect_event("requestfailed"):
        move_by_key(page, card_at(page, 0), "1")
    move_by_key(page, card_at(page, 1), "2")
    expect_saved(page)
    assert len(lost) == 1
    expect(page.get_by_text("Changed in another tab")).to_have_count(0)
    page.get_by_text("Something is wrong with this conversation").click()
    page.get_by_label("What is wrong?").fill("It ends in the middle")
    expect_saved(page)
    context.set_offline(True)
    move_by_key(page, card_at(page, 2), "3")
    expect_offline(page)
    seen = where_cards_are(page)
    page.close()
    context.set_offline(False)

    page = open_page()
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Conversation 1 of 2")
    assert where_cards_are(page) == seen
    expect(page.get_by_label("What is wrong?")).to_have_value("It ends in the middle")
    expect_saved(page)
    assert stored_placements()[0] == seen
    assert Answer.objects.get(item__position=0).problem == "It ends in the middle"


def test_a_submission_that_the_marketplace_missed_can_be_repeated(
    open_page: OpenPage, publish: Publish, work_url: WorkUrl, check_accessibility: CheckAccessibility
) -> None:
    url = work_url(publish(**{**SMALL, **WITHOUT_BONUS}))
    page = open_first_dialog(open_page(), url)
    sort(page, page, "Conversation 1 of 1", move_by_digit)
    go_on(page)
    page.route("**/work/api/submit/", lambda route: route.abort(), times=1)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Nothing is lost: please press Submit again.")).to_be_visible()

    page.route("**/externalSubmit", lambda route: route.fulfill(status=503, body="Out for lunch"), times=1)
    page.get_by_role("button", name="Submit").click()
    code = page.get_by_text(re.compile("^[A-Z2-7]{4}-[A-Z2-7]{4}$"))
    expect(code).to_be_visible()
    first_code = code.inner_text()
    expect(page.get_by_text("Out for lunch")).to_be_visible()
    assert TurkAssignment.objects.get().status == "Accepted"
    page.goto(url)
    expect(code).to_have_text(first_code)
    check_accessibility(page)
    page.get_by_role("button", name="Submit to the marketplace again").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert TurkAssignment.objects.get().status == "Submitted"
    assert first_code in TurkAssignment.objects.get().answer


def test_a_refusal_is_told_on_a_page_of_its_own_and_can_be_answered(
    open_page: OpenPage,
    publish: Publish,
    work_url: WorkUrl,
    check_accessibility: CheckAccessibility,
    settings: Settings,
) -> None:
    page = open_first_dialog(open_page(), work_url(publish(**SMALL)))
    assignment = Assignment.objects.get()
    Assignment.objects.update(held_at=assignment.held_at - timedelta(hours=2))
    settings.MTURK_LOCAL_URL = "http://127.0.0.1:9"  # as MTurk, it does not say who holds what

    move_by_key(page, card_at(page, 0), "1")
    expect(page.get_by_role("heading", level=1)).to_have_text("The time for this HIT is over")
    expect(page.get_by_text("Your answers so far are saved.")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Open this HIT again").click()
    still_held = page.get_by_role("link", name="I still hold this HIT: continue")
    expect(still_held).to_be_visible()
    check_accessibility(page)
    still_held.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Conversation 1 of 2")
    expect(zone(page, "good").locator("[data-card='0']")).to_be_visible()
    expect_saved(page)
    assert stored_placements()[0] == where_cards_are(page)
