"""Sorting replies in real Chromium: by keys, by a card's buttons, by mouse and by finger; what is seen and heard."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from generation.importing import import_candidates, import_dialogs
from hits.localturk.models import TurkHit
from hits.models import Answer
from tests.browser.conftest import LAPTOP, CheckAccessibility, Publish, WorkUrl
from tests.browser.worker_moves import (
    AREAS,
    FRAME,
    card_at,
    choice,
    drag_by_finger,
    drag_by_mouse,
    expect_nothing_focused,
    expect_saved,
    middle,
    move_by_key,
    open_first_dialog,
    placed_area,
    sort,
    stored_placements,
    tap_card,
    where_cards_are,
    zone,
)
from tests.conftest import WriteFile

EIGHT = [
    "Eight months, and then she tells you in the lift. I'd be furious. Do you want to talk about it?",
    "That must be hard.",
    "I like lifts. " * 20,
    "Perhaps Martin needs the help. Have you thought of asking him what he thinks about it before you decide?",
    "Congratulations on the project!",
    "I'm sorry. You put so much of yourself into it, and that is a horrible way to hear of it. " * 3,
    "What is a manager?",
    "Evenings and weekends are the best time to relax, so take a walk and you will feel better.",
]
PHONE: Any = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ZOOMED: Any = {"viewport": {"width": 683, "height": 384}, "device_scale_factor": 2}  # 1366 x 768 at 200 %

NARROW: Any = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
STUDY = {
    "generators": [f"model {number}" for number in range(len(EIGHT))],
    "datasets": [{"name": "lift", "dialogs": 2}],
    "hits": {"dialogs": 2},
    "checkpoints": {"per_hit": 0},
    "pay": {"bonus": "0"},
    "screening": [],
}
SCROLLED = "() => document.documentElement.scrollTop"
# WCAG's relative luminance and contrast of two colours as the browser computes them.
CONTRAST = """([one, other]) => {
  const luminance = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}"""

pytestmark = pytest.mark.once  # nothing here is about the database
on_a_phone = pytest.mark.parametrize("context", [PHONE], indirect=True, ids=["phone"])
at_200_percent = pytest.mark.parametrize("context", [ZOOMED], indirect=True, ids=["zoomed"])

OpenDialog = Callable[..., Page]


@pytest.fixture
def context(request: pytest.FixtureRequest, browser: Browser, live_server_url: str) -> Iterator[BrowserContext]:
    """A laptop with a mouse unless the test names another device."""
    context = browser.new_context(base_url=live_server_url, **getattr(request, "param", LAPTOP))
    context.set_default_timeout(15_000)
    yield context
    context.close()


@pytest.fixture
def offer(publish: Publish, write_lines: WriteFile) -> Callable[..., TurkHit]:
    """A HIT of two dialogs with eight replies each."""

    def make(**design: Any) -> TurkHit:
        replies = dict(zip(STUDY["generators"], EIGHT, strict=True))  # type: ignore[call-overload]
        turns = ["You haven't said a word since you came in.", "My manager gave the project to Martin, in the lift."]
        dialogs = [{"id": str(number), "context": [f"{number}: {turns[0]}", turns[1]]} for number in range(2)]
        lines = [{"id": str(number), "dataset": "lift", "candidates": replies} for number in range(2)]
        import_dialogs(write_lines(*dialogs, name="dialogs.jsonl"), "lift")
        import_candidates(write_lines(*lines, name="candidates.jsonl"))
        return publish(**{**STUDY, **design})

    return make


@pytest.fixture
def open_dialog(page: Page, offer: Callable[..., TurkHit], work_url: WorkUrl) -> OpenDialog:
    def opened(**design: Any) -> Page:
        return open_first_dialog(page, work_url(offer(**design)))

    return opened


# --- Keys ------------------------------------------------------------------------------------------------------------


def test_eight_replies_take_nine_keys(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    expect(card_at(page, 0)).to_be_focused()
    texts = page.locator(".card-text").all_text_contents()

    for place in range(8):
        page.keyboard.press(str(1 + place % 3))
    placed = where_cards_are(page)
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 2")
    expect(card_at(page, 0)).to_be_focused()
    assert placed == {text: placed_area(place) for place, text in enumerate(texts)}
    expect_saved(page)
    assert stored_placements()[0] == placed


def test_a_new_dialog_begins_in_sight_with_its_first_reply_focused(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    page.set_viewport_size({"width": 1280, "height": 420})
    for _ in range(8):
        page.keyboard.press("1")
    page.mouse.wheel(0, 5_000)
    wait_until_scrolled(page, 0)

    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 2")
    expect(card_at(page, 0)).to_be_focused()
    assert page.evaluate(SCROLLED) == 0
    expect(page.locator(".turn").first).to_be_in_viewport(ratio=1)


def test_enter_leads_to_what_has_no_place_and_presses_nothing_twice(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    for _ in range(3):
        page.keyboard.press("1")
    page.get_by_role("heading", level=1).click()
    card_at(page, 6).focus()

    page.keyboard.press("Enter")
    expect(card_at(page, 3)).to_be_focused()
    expect(page.locator(".moved-words")).to_contain_text("5 replies left.")
    for _ in range(5):
        page.keyboard.press("2")
    page.get_by_text("Something is wrong with this conversation").click()
    page.get_by_label("What is wrong?").press("Enter")
    expect(page.get_by_label("What is wrong?")).to_have_value("\n")
    page.get_by_role("button", name="Instructions").press("Enter")
    page.get_by_role("button", name="Close").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 1")
    page.get_by_role("button", name="Next").press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 2")
    page.keyboard.down("Enter")
    page.keyboard.down("Enter")  # a key that is held
    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 2")


@pytest.mark.parametrize("key", ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"])
def test_arrows_never_rate(open_dialog: OpenDialog, key: str) -> None:
    page = open_dialog()
    page.keyboard.press("2")
    placed = where_cards_are(page)

    for _ in range(3):
        page.keyboard.press(key)  # on a reply without a place
    card_at(page, 0).get_by_role("radio", name="Okay").focus()
    page.keyboard.press(key)  # on a radio button, where browsers choose its neighbour
    card_at(page, 1).get_by_role("radio", name="Good").focus()
    page.keyboard.press(key)

    assert where_cards_are(page) == placed
    neighbour = "Bad" if key in ("ArrowUp", "ArrowLeft") else "Okay"
    expect(card_at(page, 1).get_by_role("radio", name=neighbour)).to_be_focused()
    page.keyboard.press("Space")
    assert len(where_cards_are(page)) == 2


def test_after_a_drop_by_mouse_nothing_has_focus_and_arrows_scroll(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    page.set_viewport_size({"width": 1280, "height": 560})

    drag_by_mouse(page, card_at(page, 0), zone(page, "good"))
    placed = where_cards_are(page)
    page.keyboard.press("ArrowDown")

    wait_until_scrolled(page, 0)
    assert where_cards_are(page) == placed
    page.keyboard.press("1")
    assert where_cards_are(page) == placed


def test_backspace_takes_a_reply_out_of_its_area_and_stays_with_it(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    page.keyboard.press("1")

    move_by_key(page, card_at(page, 0), "Backspace")

    expect(zone(page, "").locator(card_at(page, 0))).to_be_focused()
    expect(card_at(page, 0).locator("input:checked")).to_have_count(0)
    expect_saved(page)
    assert stored_placements()[0] == {}


def test_what_moved_is_said_in_sight_with_undo_beside_it(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    said, undo = page.locator(".moved-words"), page.get_by_role("button", name="Undo")
    expect(said).to_be_attached()
    expect(undo).to_be_hidden()

    drag_by_mouse(page, card_at(page, 2), zone(page, "bad"))
    expect(said).to_have_text("Reply C moved to Bad. 7 replies left.")
    expect(said).to_be_in_viewport(ratio=1)
    expect(undo).to_be_in_viewport(ratio=1)
    undo.click()

    expect(said).to_have_text("Undone: reply C is back in Replies to sort. 8 replies left.")
    expect(zone(page, "").locator("[data-card]")).to_have_count(8)
    expect(undo).to_be_hidden()


# --- The buttons on a card -------------------------------------------------------------------------------------------


def test_a_card_is_a_native_radio_group_that_says_where_it_is(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    text = card_at(page, 0).locator(".card-text").inner_text()
    group = page.get_by_role("radiogroup", name=f"Reply A has no place yet: {text}", exact=True)
    expect(group).to_be_visible()
    names = [radio.get_attribute("value") for radio in group.get_by_role("radio").all()]
    assert names == ["good", "okay", "bad"]
    for digit, label in enumerate(("Good", "Okay", "Bad"), start=1):
        radio = group.get_by_role("radio", name=label, exact=True)  # without its key
        expect(radio).to_have_attribute("aria-keyshortcuts", str(digit))
        expect(radio).not_to_be_checked()

    choice(card_at(page, 0), "okay").click()

    moved = page.get_by_role("radiogroup", name=f"Reply A is in Okay: {text}", exact=True)
    expect(moved.get_by_role("radio", name="Okay", exact=True)).to_be_checked()
    expect(zone(page, "okay").locator(moved)).to_be_visible()
    expect(page.get_by_role("heading", name="Okay", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="Okay", exact=True)).to_contain_text("1 reply")


def test_a_click_on_a_button_goes_on_and_a_double_click_rates_one_reply(open_dialog: OpenDialog) -> None:
    page = open_dialog()

    choice(card_at(page, 0), "good").dblclick()

    assert list(where_cards_are(page).values()) == ["good"]
    expect(card_at(page, 1)).to_be_focused()
    page.keyboard.press("3")
    assert sorted(where_cards_are(page).values()) == ["bad", "good"]


def test_two_or_seven_areas_work_as_well(open_dialog: OpenDialog) -> None:
    areas = [{"key": f"area_{number}", "label": f"Level {number}"} for number in range(1, 8)]
    reply = {"text": "Hello.", "areas": ["area_1"]}
    checkpoints = {"per_hit": 0, "passing_areas": ["area_1"]}
    page = open_dialog(task={"areas": areas}, warm_up={"replies": [reply]}, checkpoints=checkpoints)

    page.keyboard.press("7")
    choice(card_at(page, 1), "area_4").click()

    expect(zone(page, "area_7").locator(card_at(page, 0))).to_be_attached()
    expect(zone(page, "area_4").locator(card_at(page, 1))).to_be_attached()
    assert len({mark_of(page, area["key"]) for area in areas[:6]}) == 6


def test_cards_have_letters_and_areas_have_the_digits(open_dialog: OpenDialog) -> None:
    page = open_dialog()

    assert page.locator(".card-letter").all_text_contents() == [f"Reply {letter}" for letter in "ABCDEFGH"]
    assert card_at(page, 0).locator("kbd").all_inner_texts() == ["1", "2", "3"]


def test_who_listens_hears_what_stands_above_the_first_reply(open_dialog: OpenDialog) -> None:
    page = open_dialog()

    expect(card_at(page, 0)).to_have_accessible_description(
        re.compile("^Conversation 1 of 2, with 2 turns, stands above the replies. Does each reply fit")
    )
    expect(page.get_by_role("heading", name="Conversation", exact=True)).to_be_attached()
    page.keyboard.press("1")
    expect(card_at(page, 0)).to_have_accessible_description("")
    expect(card_at(page, 1)).to_have_accessible_description("")


# --- Areas, and placed cards -----------------------------------------------------------------------------------------


def test_placed_cards_fold_to_two_lines_and_open_by_click_and_by_keys(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    texts = page.locator(".card-text").all_text_contents()
    place = texts.index(max(texts, key=len))
    long, text = card_at(page, place), card_at(page, place).locator(".card-text")
    assert lines_of(text) > 2

    drag_by_mouse(page, long, zone(page, "good"))
    assert lines_of(text) == 2
    text.click()
    assert lines_of(text) > 2
    assert page.locator("[data-zone='good'] [data-card]").count() == 1
    text.click()
    assert lines_of(text) == 2
    page.keyboard.press("Tab")
    while not long.evaluate("card => card.contains(document.activeElement)"):
        page.keyboard.press("Tab")

    assert lines_of(text) > 2


def test_areas_count_and_differ_by_shape_and_colour_with_enough_contrast(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    for place in range(5):
        page.keyboard.press(str(1 + place % 3))

    for area, count in (("good", 2), ("okay", 2), ("bad", 1)):
        expect(zone(page, area).locator(".zone-count")).to_have_text(re.compile(f"^{count} repl"))
    assert len({mark_of(page, area) for area in AREAS}) == 3
    assert len({style_of(zone(page, area), "borderTopColor") for area in AREAS}) == 3
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        paper = style_of(page.locator("html"), "backgroundColor")
        for area in AREAS:
            border, inside = (style_of(zone(page, area), name) for name in ("borderTopColor", "backgroundColor"))
            card = zone(page, area).locator(".card").first
            surface = style_of(card, "backgroundColor")
            chosen = card.locator("input:checked + .choice-face")
            pairs = [(border, paper), (border, inside), (style_of(chosen, "borderTopColor"), surface)]
            pairs += [(style_of(card.locator(".choice-face").nth(n), "borderTopColor"), surface) for n in range(3)]
            pairs += [(style_of(mark, "color"), surface) for mark in card.locator(".mark").all()]
            for one, other in pairs:
                assert page.evaluate(CONTRAST, [one, other]) >= 3, (scheme, area, one, other)


def test_in_a_low_window_all_areas_are_in_sight_while_a_card_is_dragged(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    page.set_viewport_size({"width": 1366, "height": 600})
    for place in range(8):
        page.keyboard.press(str(1 + place % 3))
        expect(card_at(page, place)).to_be_in_viewport(ratio=0.9)  # also where the areas' column scrolls
    expect(page.get_by_role("button", name="Next")).to_be_in_viewport(ratio=1)

    page.mouse.move(*middle(card_at(page, 0).locator(".card-text")))
    page.mouse.down()
    page.mouse.move(*middle(zone(page, "okay").locator(".zone-label")), steps=3)

    for area in AREAS:
        expect(zone(page, area)).to_be_in_viewport(ratio=1)
    page.mouse.move(*middle(zone(page, "bad").locator(".zone-label")), steps=3)
    page.mouse.up()
    expect(zone(page, "bad").locator(card_at(page, 0))).to_be_in_viewport(ratio=0.9)
    assert page.evaluate(SCROLLED) == 0


@at_200_percent
def test_the_area_bar_is_visible_at_200_percent(
    open_dialog: OpenDialog, check_accessibility: CheckAccessibility
) -> None:
    page = open_dialog()
    for stage in range(2):
        for area in AREAS:
            target = page.locator(f".bar-target[value='{area}']")
            expect(target).to_be_in_viewport(ratio=1)
            label = target.locator(".bar-label")
            assert label.evaluate("label => label.scrollWidth <= label.clientWidth"), "a name is cut"
        page.keyboard.press("1")
        expect(page.locator(".bar-target[value='good'] .bar-count")).to_have_text(str(stage + 1))
    expect(page.locator(".moved-words")).to_be_in_viewport(ratio=1)
    assert page.locator(".board-foot").evaluate("foot => foot.offsetHeight") < 384 / 4
    for _ in range(6):
        page.keyboard.press("2")

    page.get_by_role("button", name="Next").scroll_into_view_if_needed()
    box, foot = page.get_by_role("button", name="Next").bounding_box(), page.locator(".board-foot").bounding_box()

    assert box is not None
    assert foot is not None
    assert box["y"] + box["height"] <= foot["y"]
    check_accessibility(page)


# --- Fingers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("context", [PHONE, NARROW], indirect=True, ids=["390", "320"])
def test_a_whole_dialog_by_finger_through_the_buttons(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    sizes = [choice(card_at(page, 0), area).bounding_box() for area in AREAS]
    assert all(box and box["height"] >= 44 and box["width"] >= 44 for box in sizes)

    for place in range(8):
        choice(card_at(page, place), placed_area(place)).tap()
        expect(zone(page, placed_area(place)).locator(card_at(page, place))).to_be_attached()
    placed = where_cards_are(page)

    text = card_at(page, 0).locator(".card-text")
    text.tap()
    expect(card_at(page, 0)).to_be_focused()
    expect_saved(page)
    assert stored_placements()[0] == placed
    assert sorted(placed.values()) == sorted(placed_area(place) for place in range(8))


@on_a_phone
def test_a_finger_that_drags_sees_its_targets(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    card, target = card_at(page, 0), page.locator(".bar-target[value='okay']")
    with fingers(page) as touch:
        x, y = middle(card.locator(".card-text"))
        touch("touchStart", (x, y))
        expect(card).to_have_attribute("data-carried", "")
        to_x, to_y = middle(target)
        touch("touchMove", (x, y + 30))
        touch("touchMove", (to_x, to_y))
        expect(target).to_have_attribute("data-over", "")
        for area in AREAS:  # nothing lies over them, not even what is carried
            on_top = page.locator(f".bar-target[value='{area}']").evaluate(
                """target => {
                  const { left, top, width, height } = target.getBoundingClientRect();
                  document.querySelector(".card-carried").style.pointerEvents = "auto";
                  const isSeen = (share) => document.elementFromPoint(left + share * width, top + height / 2);
                  return [0.1, 0.5, 0.9].every((share) => target.contains(isSeen(share)));
                }"""
            )
            assert on_top, area
        touch("touchEnd")

    expect(zone(page, "okay").locator(card)).to_be_attached()
    expect_nothing_focused(card)
    expect(page.locator(".moved-words")).to_be_in_viewport(ratio=1)


@on_a_phone
def test_a_finger_that_moves_at_once_scrolls_and_drags_nothing(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    with fingers(page) as touch:
        x, y = middle(card_at(page, 2).locator(".card-text"))
        touch("touchStart", (x, y))
        for step in range(1, 9):
            touch("touchMove", (x, y - 40 * step))
        touch("touchEnd")

    wait_until_scrolled(page, 100)
    assert where_cards_are(page) == {}
    expect(page.locator(".card-carried")).to_have_count(0)


@on_a_phone
def test_dragging_by_finger_still_works_for_every_area(open_dialog: OpenDialog) -> None:
    page = open_dialog()

    for place in range(3):
        drag_by_finger(page, card_at(page, place), zone(page, placed_area(place)))

    assert sorted(where_cards_are(page).values()) == sorted(AREAS)


def test_a_drag_that_is_given_up_or_ends_nowhere_moves_nothing(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    x, y = middle(card_at(page, 0).locator(".card-text"))
    to_x, to_y = middle(zone(page, "good"))
    for end in ("Escape", "outside"):
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(to_x, to_y, steps=3)
        expect(zone(page, "good")).to_have_attribute("data-over", "")
        if end == "Escape":
            page.keyboard.press("Escape")
        else:
            page.mouse.move(640, 5, steps=3)
        page.mouse.up()
        expect(page.locator(".card-carried")).to_have_count(0)
        assert where_cards_are(page) == {}

    drag_by_mouse(page, card_at(page, 0), zone(page, "good"))
    drag_by_mouse(page, card_at(page, 0), zone(page, ""))
    assert where_cards_are(page) == {}
    expect(card_at(page, 0).locator("input:checked")).to_have_count(0)


# --- The warm-up, the frame ------------------------------------------------------------------------------------------


def test_the_warm_up_teaches_the_keys(page: Page, offer: Callable[..., TurkHit], work_url: WorkUrl) -> None:
    page.goto(work_url(offer()))
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Instructions")
    expect(page.locator(".hint-keys")).to_contain_text("Enter goes to the next reply without a place")

    page.keyboard.press("Enter")
    for key in "1233":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.get_by_text("All of them fit.")).to_be_visible()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 1")


@pytest.mark.parametrize("height", [0, 800])
def test_in_the_marketplaces_frame_a_new_dialog_begins_in_sight(
    page: Page, offer: Callable[..., TurkHit], height: int
) -> None:
    offer(crowd={"frame_height": height})
    page.set_viewport_size({"width": 1366, "height": 650})
    page.goto("/market/")
    page.get_by_role("button", name=re.compile("^Alice")).click()
    page.get_by_role("button", name="Accept & Work").click()
    work, frame = page.frame_locator(FRAME), page.locator(FRAME)
    box = frame.bounding_box()
    assert box is not None
    assert box["height"] <= 650 if height == 0 else box["height"] >= 800
    work.get_by_role("button", name="Next").click()
    work.get_by_role("button", name="Next").click()
    sort(page, work, "Conversation 1", tap_card)
    page.mouse.move(640, 400)
    page.mouse.wheel(0, 3_000)
    work.get_by_role("button", name="Next").click()

    expect(work.get_by_role("heading", level=1)).to_contain_text("Conversation 2")
    expect(work.get_by_role("heading", level=1)).to_be_in_viewport(ratio=1)
    expect(work.locator(".turn").first).to_be_in_viewport(ratio=1)


@at_200_percent
def test_in_the_marketplaces_frame_the_bar_is_visible_at_200_percent(page: Page, offer: Callable[..., TurkHit]) -> None:
    offer()
    page.goto("/market/")
    page.get_by_role("button", name=re.compile("^Alice")).click()
    page.get_by_role("button", name="Accept & Work").click()
    work = page.frame_locator(FRAME)
    work.get_by_role("button", name="Next").click()
    work.get_by_role("button", name="Next").click()

    expect(work.get_by_role("heading", level=1)).to_contain_text("Conversation 1")
    expect(work.get_by_role("heading", level=1)).to_be_in_viewport(ratio=1)
    for area in AREAS:
        expect(work.locator(f".bar-target[value='{area}']")).to_be_in_viewport(ratio=1)


def test_every_state_of_the_board_is_accessible(
    open_dialog: OpenDialog, check_accessibility: CheckAccessibility
) -> None:
    page = open_dialog()
    check_accessibility(page)
    for place in range(5):
        page.keyboard.press(str(1 + place % 3))
    check_accessibility(page)
    card_at(page, 0).locator(".card-text").click()
    check_accessibility(page)
    for place in range(5, 8):
        move_by_key(page, card_at(page, place), "2")
    check_accessibility(page)
    expect_saved(page)
    assert Answer.objects.count() == 1


# --- What is there ---------------------------------------------------------------------------------------------------


@contextmanager
def fingers(page: Page) -> Iterator[Callable[..., None]]:
    devtools = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    yield touch
    devtools.detach()


def wait_until_scrolled(page: Page, beyond: int) -> None:
    """Not wait_for_function, which our Content-Security-Policy forbids."""
    for _ in range(100):
        if page.evaluate(SCROLLED) > beyond:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"the page is not scrolled beyond {beyond} pixels")


def lines_of(text: Locator) -> int:
    return round(text.evaluate("text => text.clientHeight / parseFloat(getComputedStyle(text).lineHeight)"))


def style_of(element: Locator, name: str) -> str:
    return str(element.evaluate("(element, name) => getComputedStyle(element)[name]", name))


def mark_of(page: Page, area: str) -> str:
    return zone(page, area).locator(".zone-head .mark").inner_text()
