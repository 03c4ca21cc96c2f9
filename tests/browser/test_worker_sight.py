"""What stays in sight on a worker's page, whatever is placed, dragged or told; and that words say what keys do."""

import re
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.browser.conftest import OpenDialog, OpenPage, Publish, WorkUrl
from tests.browser.worker_moves import (
    AREAS,
    FRAME,
    Place,
    begin,
    card_at,
    expect_saved,
    fingers,
    middle,
    move_by_key,
    open_first_dialog,
    tap_card,
    zone,
)

LOW: Any = {"viewport": {"width": 1366, "height": 650}}
ZOOMED_150: Any = {"viewport": {"width": 910, "height": 433}, "device_scale_factor": 1.5}  # the same at 150 %
ZOOMED_200: Any = {"viewport": {"width": 683, "height": 325}, "device_scale_factor": 2}  # and at 200 %
USUAL: Any = {"viewport": {"width": 1366, "height": 768}}
PHONE: Any = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NARROW: Any = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}


def in_windows(**windows: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("context", list(windows.values()), indirect=True, ids=list(windows))


@in_windows(low=LOW, at_150_percent=ZOOMED_150, at_200_percent=ZOOMED_200)
def test_in_a_low_frame_a_long_reply_is_dragged_with_all_targets_in_sight(page: Page, offer_eight: Publish) -> None:
    work = open_in_frame(page, offer_eight)
    for _ in range(8):
        page.keyboard.press("1")
    expect_saved(work)
    long = longest(work)
    long.focus()  # opened to be read in full
    expect(long).to_be_focused()
    long.locator(".card-letter").scroll_into_view_if_needed()

    page.mouse.move(*middle(long.locator(".card-letter")))
    page.mouse.down()
    box = page.locator(FRAME).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    expect(long).to_have_attribute("data-carried", "")

    for area in AREAS:
        expect(target(work, area)).to_be_in_viewport(ratio=0.99)
    to_x, to_y = middle(target(work, "bad"))
    page.mouse.move(to_x, to_y, steps=3)
    expect(target(work, "bad")).to_have_attribute("data-over", "")
    page.mouse.up()
    expect(zone(work, "bad").locator(long)).to_be_attached()


@in_windows(phone=PHONE, narrow=NARROW)
def test_on_a_phone_a_long_reply_is_dragged_with_all_targets_in_sight(open_dialog: OpenDialog) -> None:
    page = open_dialog()
    long = longest(page)
    tap_card(page, long, zone(page, "good"))
    text = long.locator(".card-text")
    text.scroll_into_view_if_needed()
    text.tap()
    with fingers(page) as touch:
        x, y = middle(long.locator(".card-letter"))
        touch("touchStart", (x, y))
        expect(long).to_have_attribute("data-carried", "")
        touch("touchMove", (x, y + 20))

        for area in AREAS:
            expect(target(page, area)).to_be_in_viewport(ratio=0.99)
        touch("touchMove", middle(target(page, "bad")))
        expect(target(page, "bad")).to_have_attribute("data-over", "")
        touch("touchEnd")
    expect(zone(page, "bad").locator(long)).to_be_attached()


@in_windows(usual=USUAL, low=LOW)
def test_many_replies_in_one_area_leave_the_others_in_sight(page: Page, offer_eight: Publish) -> None:
    work = open_in_frame(page, offer_eight)

    for place in range(8):
        page.keyboard.press("1" if place < 5 else "3")
        card = card_at(work, place)
        expect(card).to_be_in_viewport(ratio=0.9)  # where an area scrolls, what was moved is seen
        for area in AREAS:
            expect(zone(work, area)).to_be_in_viewport(ratio=0.99)
            expect(zone(work, area).locator(".zone-count")).to_be_in_viewport(ratio=1)

    x, y = middle(card_at(work, 7).locator(".card-letter"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 10, y)  # the reply that was open folds
    page.mouse.move(*middle(zone(work, "okay")), steps=3)
    expect(zone(work, "okay")).to_have_attribute("data-over", "")
    page.mouse.up()
    expect(zone(work, "okay").locator(card_at(work, 7))).to_be_visible()


@in_windows(usual=USUAL, low=LOW, phone=PHONE, at_200_percent=ZOOMED_200)
def test_news_of_another_tab_and_undo_stand_beside_each_other(
    open_page: OpenPage, offer_eight: Publish, work_url: WorkUrl
) -> None:
    url = work_url(offer_eight())
    first = open_first_dialog(open_page(), url)
    second = open_page()
    second.goto(url)
    expect(second.get_by_role("heading", level=1)).to_have_text("Conversation 1 of 2")
    move_by_key(first, card_at(first, 0), "1")
    expect_saved(first)
    second.evaluate("scrollTo(0, 10000)")

    move_by_key(second, card_at(second, 1), "3")

    notice, undo = second.locator(".notice"), second.get_by_role("button", name="Undo")
    expect(notice).to_contain_text("what was done in both is shown")
    said = second.locator(".moved-words")
    expect(said).to_have_text(re.compile(r"^Reply B moved to Bad\. 6 replies left\.\s?$"))
    for one in (notice.get_by_role("status"), said, undo):
        expect(one).to_be_in_viewport(ratio=1)
        assert is_on_top(one)
    undo.click()
    expect(said).to_contain_text("Undone: reply B is back in Replies to sort. 7 replies left.")
    expect(zone(second, "good").locator(card_at(second, 0))).to_be_attached()  # what the other tab moved stays
    expect(undo).to_be_hidden()
    notice.get_by_role("button", name="OK").click()
    expect(notice.get_by_role("status")).to_be_empty()
    expect(notice.get_by_role("button")).to_be_hidden()


def test_what_another_tab_has_moved_since_is_not_undone_here(
    open_page: OpenPage, offer_eight: Publish, work_url: WorkUrl
) -> None:
    url = work_url(offer_eight())
    first = open_first_dialog(open_page(), url)
    move_by_key(first, card_at(first, 0), "1")
    expect_saved(first)
    second = open_page()
    second.goto(url)
    move_by_key(second, card_at(second, 0), "2")
    expect_saved(second)

    move_by_key(first, card_at(first, 1), "3")
    expect(zone(first, "okay").locator(card_at(first, 0))).to_be_attached()
    undo = first.get_by_role("button", name="Undo")
    undo.click()

    expect(zone(first, "").locator(card_at(first, 1))).to_be_attached()
    expect(undo).to_be_hidden()
    expect(zone(first, "okay").locator(card_at(first, 0))).to_be_attached()


def test_the_words_of_the_warm_up_say_what_enter_does_next(page: Page, publish: Publish, work_url: WorkUrl) -> None:
    page.goto(work_url(publish()))
    begin(page)
    said, result = page.locator(".moved-words"), page.locator(".validate .message")
    validate, heading = page.get_by_role("button", name="Validate"), page.get_by_role("heading", level=1)
    expect(page.get_by_text("Enter goes on; in this warm-up it validates first.")).to_be_visible()
    validate.click()
    expect(result).to_contain_text(re.compile(r"or go on with Next\.$"))  # Enter looks for a reply without a place
    page.keyboard.press("Enter")
    expect(card_at(page, 0)).to_be_focused()

    for _ in range(4):
        page.keyboard.press("3")
    expect(said).to_contain_text("All are placed: press Validate or Enter.")
    page.keyboard.press("Enter")
    expect(result).to_contain_text(re.compile(r"or go on with Next or Enter\.$"))
    expect(said).to_contain_text("All are placed: press Next or Enter.")
    move_by_key(page, card_at(page, 0), "1")
    expect(said).to_contain_text("All are placed: press Validate or Enter.")
    expect(result).to_be_empty()
    validate.focus()
    page.keyboard.press("Enter")
    expect(result).to_contain_text(re.compile(r"go on with Next\.$"))  # here, Enter validates again
    page.keyboard.press("Enter")
    expect(heading).to_have_text("Instructions")
    move_by_key(page, card_at(page, 0), "2")
    validate.click()  # by mouse: then Enter goes on
    expect(result).to_contain_text(re.compile(r"go on with Next or Enter\.$"))
    page.keyboard.press("Enter")

    expect(heading).to_contain_text("Conversation 1")


def test_enter_goes_on_as_the_words_say_after_bonus_validate_was_clicked(
    page: Page, publish: Publish, work_url: WorkUrl
) -> None:
    open_first_dialog(page, work_url(publish()))
    heading, bonus = page.get_by_role("heading", level=1), page.get_by_role("button", name="Bonus Validate")
    position, is_clicked = 1, False
    while not is_clicked:
        expect(heading).to_contain_text(f"Conversation {position} of")
        for _ in range(page.locator("[data-card]").count()):
            page.keyboard.press("1")
        expect(page.locator(".moved-words")).to_contain_text("All are placed: press Next or Enter")
        if is_clicked := bonus.count() == 1:
            bonus.click()
            expect(page.get_by_text("The bonus point is yours if it stays like this.")).to_be_visible()
        page.keyboard.press("Enter")
        position += 1

    expect(heading).to_contain_text(f"Conversation {position} of")


def open_in_frame(page: Page, offer: Publish) -> FrameLocator:
    offer()
    page.goto("/market/")
    page.get_by_role("button", name=re.compile("^Alice")).click()
    page.get_by_role("button", name="Accept & Work").click()
    work = page.frame_locator(FRAME)
    begin(work)
    work.get_by_role("button", name="Next").click()
    expect(work.get_by_role("heading", level=1)).to_contain_text("Conversation 1")
    return work


def longest(work: Place) -> Locator:
    return work.locator("[data-card]", has_text="I like lifts.")


def target(work: Place, area: str) -> Locator:
    """Where a card can be dropped: the area's name at the lower edge where there is one, else the area."""
    in_bar = work.locator(f".bar-target[value='{area}']")
    return in_bar if in_bar.is_visible() else zone(work, area)


def is_on_top(element: Locator) -> bool:
    return bool(
        element.evaluate(
            """element => {
              const { left, top, width, height } = element.getBoundingClientRect();
              const found = document.elementFromPoint(left + width / 2, top + height / 2);
              return element.contains(found);
            }"""
        )
    )
