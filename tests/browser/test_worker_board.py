"""Sorting replies in real Chromium by keys and by the buttons on cards, and what screen readers hear of it."""

import re

import pytest
from playwright.sync_api import Page, expect

from hits.models import Answer
from tests.browser.conftest import CheckAccessibility, OpenDialog, Publish, WorkUrl
from tests.browser.worker_moves import (
    begin,
    card_at,
    choice,
    expect_saved,
    move_by_key,
    placed_area,
    scrolled,
    stored_placements,
    wait_until_scrolled,
    where_cards_are,
    zone,
)

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
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    wait_until_scrolled(page, 0)

    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 2")
    expect(card_at(page, 0)).to_be_focused()
    assert scrolled(page) == 0
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


def test_backspace_takes_a_reply_out_of_its_area_and_stays_with_it(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    page.keyboard.press("1")

    move_by_key(page, card_at(page, 0), "Backspace")

    expect(zone(page, "").locator(card_at(page, 0))).to_be_focused()
    expect(card_at(page, 0).locator("input:checked")).to_have_count(0)
    expect_saved(page)
    assert stored_placements()[0] == {}


def test_the_warm_up_teaches_the_keys(page: Page, offer_eight: Publish, work_url: WorkUrl) -> None:
    page.goto(work_url(offer_eight()))
    begin(page)
    expect(page.locator(".hint-keys")).to_contain_text("Enter goes to the next reply without a place")

    page.keyboard.press("Enter")
    for key in "1233":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.get_by_text("All of them fit.")).to_be_visible()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 1")


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


@pytest.mark.parametrize("number_of_areas", [2, 7])
def test_two_or_seven_areas_work_as_well(open_dialog: OpenDialog, number_of_areas: int) -> None:
    areas = [{"key": f"area_{number}", "label": f"Level {number}"} for number in range(1, number_of_areas + 1)]
    reply = {"text": "Hello.", "areas": ["area_1"]}
    checkpoints = {"per_hit": 0, "passing_areas": ["area_1"]}
    page = open_dialog(task={"areas": areas}, warm_up={"replies": [reply]}, checkpoints=checkpoints)

    page.keyboard.press(str(number_of_areas))
    page.keyboard.press(str(number_of_areas + 1))  # no area's
    choice(card_at(page, 1), "area_2").click()

    expect(zone(page, f"area_{number_of_areas}").locator(card_at(page, 0))).to_be_attached()
    expect(zone(page, "area_2").locator(card_at(page, 1))).to_be_attached()
    assert zone(page, "").locator("[data-card]").count() == 6
    marks = page.locator(".zone-head .mark").all_inner_texts()
    assert len(set(marks)) == min(number_of_areas, 6)


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
