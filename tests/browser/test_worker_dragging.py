"""Moving replies by mouse and by finger in real Chromium: what has the focus, what is said, what stays in sight."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenDialog
from tests.browser.worker_moves import (
    AREAS,
    card_at,
    choice,
    drag_by_finger,
    drag_by_mouse,
    expect_nothing_focused,
    expect_saved,
    fingers,
    middle,
    placed_area,
    scrolled,
    stored_placements,
    wait_until_scrolled,
    where_cards_are,
    zone,
)

PHONE: Any = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NARROW: Any = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}

on_a_phone = pytest.mark.parametrize("context", [PHONE], indirect=True, ids=["phone"])


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


def test_in_a_low_window_all_areas_are_in_sight_while_a_card_is_dragged(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    page.set_viewport_size({"width": 1366, "height": 600})
    for place in range(8):
        page.keyboard.press(str(1 + place % 3))
        expect(card_at(page, place)).to_be_in_viewport(ratio=0.9)  # also where the areas' column scrolls
    expect(page.get_by_role("button", name="Next")).to_be_in_viewport(ratio=1)

    # A short one: the order is drawn anew each time, and a long reply opens when it is pressed.
    short = page.locator("[data-card]", has_text="That must be hard.")
    page.mouse.move(*middle(short.locator(".card-text")))
    page.mouse.down()
    page.mouse.move(*middle(zone(page, "okay").locator(".zone-label")), steps=3)

    for area in AREAS:
        expect(zone(page, area)).to_be_in_viewport(ratio=1)
    page.mouse.move(*middle(zone(page, "bad").locator(".zone-label")), steps=3)
    page.mouse.up()
    expect(zone(page, "bad").locator(short)).to_be_in_viewport(ratio=0.9)
    assert scrolled(page) == 0


def test_a_card_dropped_where_it_was_comes_into_sight(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    page.set_viewport_size({"width": 1366, "height": 600})
    for place in range(8):
        page.keyboard.press(str(1 + place % 3))
        expect(zone(page, placed_area(place)).locator(card_at(page, place))).to_be_visible()
    drag_by_mouse(page, card_at(page, 5), zone(page, "good"))  # nothing is open to be read then
    cards = zone(page, "good").locator(".zone-cards")
    card = cards.locator("[data-card]").first
    cards.evaluate("box => { box.scrollTop = 15 }")
    expect(card).not_to_be_in_viewport(ratio=0.9)

    box = card.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] - 10)
    page.mouse.down()
    page.mouse.move(*middle(zone(page, "good").locator(".zone-label")), steps=3)
    expect(card).to_have_attribute("data-carried", "")
    page.mouse.up()

    expect(card).to_be_in_viewport(ratio=0.9)


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
