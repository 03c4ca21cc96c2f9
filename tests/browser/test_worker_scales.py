"""Rating replies on scales in real Chromium: by mouse, finger and keys, side by side, one at a time, and by sliders."""

import os
import re
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from hits.models import Answer, Assignment
from tests.browser.conftest import SMALL, CheckAccessibility, OpenDialog, OpenPage, Publish, WorkUrl
from tests.browser.worker_moves import (
    FRAME,
    Place,
    accept_in_marketplace,
    agree,
    expect_saved,
    go_on,
    press,
)

LIKERT: dict[str, Any] = {**SMALL, "protocol": "likert"}
EIGHT_ON_SCALES: dict[str, Any] = {"protocol": "likert", "analysis": {"outcome": "mean score"}}
PICTURES = os.environ.get("PICTURES", "")  # a folder for pictures, to look at


def look(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


def scale(work: Place, place: int, criterion: str) -> Locator:
    return work.locator(f"[data-reply='{place}'] [data-criterion='{criterion}']")


def point(work: Place, place: int, criterion: str, value: str) -> Locator:
    return scale(work, place, criterion).locator(f"label:has([value='{value}'])")


def stored() -> dict[int, Any]:
    return {one.item.position: one.value["ratings"] for one in Answer.objects.select_related("item")}


def replies_of(work: Place) -> int:
    return work.locator("[data-reply]").count()


# --- Whole HITs ------------------------------------------------------------------------------------------------------


def test_a_whole_hit_on_scales_by_pointer_with_a_reload(open_page: OpenPage, publish: Publish) -> None:
    """By mouse on SQLite, and by finger on PostgreSQL."""
    publish(**LIKERT)
    page = open_page()
    work = accept_in_marketplace(page)
    agree(work)
    look(page, "warm-up")
    for place, value in enumerate(["5", "3", "5"]):
        for criterion in ("empathy", "relevance", "fluency"):
            point(work, place, criterion, value).click()
    work.get_by_role("button", name="Validate").click()
    expect(work.get_by_text("2 of 3 replies fit so far")).to_be_visible()
    expect(work.locator("[data-reply='2']")).to_contain_text("Did anyone get new shelves?")
    assert (
        len({one["x"] for one in map(Locator.bounding_box, work.locator("[data-reply='2'] .scale").all()) if one}) == 1
    )
    look(page, "warm-up-explained")
    work.get_by_role("button", name="Next").click()

    for position in range(2):
        expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        expect(work.locator("input:checked")).to_have_count(0)  # nothing is chosen in advance
        rate_all(work)
        expect(work.locator(".rated-said")).to_contain_text("All are rated: press Next or Enter")
        expect_saved(work)
        if position == 0:
            page.reload()
            expect(work.locator("[data-reply][data-done]")).to_have_count(replies_of(work))
        go_on(work)
    work.get_by_role("button", name="Submit").click()

    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert Assignment.objects.get().submitted_at is not None
    for ratings in stored().values():
        assert set(ratings) == {"empathy", "relevance", "fluency"}
        assert sorted(ratings["empathy"].values()) == sorted(str(1 + n % 5) for n in range(len(ratings["empathy"])))
    moves = Answer.objects.order_by("item__position")[0].moves
    assert [choice for _, _, choice in moves][:3] == ["1_empathy", "1_relevance", "1_fluency"]


def rate_all(work: Place) -> None:
    for place in range(replies_of(work)):
        for criterion in ("empathy", "relevance", "fluency"):
            point(work, place, criterion, str(1 + place % 5)).click()


def test_a_whole_hit_on_scales_by_keyboard_alone(page: Page, publish: Publish) -> None:
    publish(**LIKERT)
    page.goto("/market/")
    press(page, page.get_by_role("button", name=re.compile("^Alice")))
    press(page, page.get_by_role("button", name="Accept & Work"))
    work = page.frame_locator(FRAME)
    press(page, work.get_by_role("button", name="I agree and begin"))
    press(page, work.get_by_role("button", name="Next"))

    for position in range(2):
        expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        expect(work.locator("[data-reply='0'] input").first).to_be_focused()
        rate_by_digits(page, work)
        if work.get_by_role("button", name="Bonus Validate").count():
            press(page, work.get_by_role("button", name="Bonus Validate"))
            expect(work.get_by_text(re.compile("The bonus point is yours if|Not yet"))).to_be_visible()
        press(page, work.get_by_role("button", name="Next"))
    press(page, work.get_by_role("button", name="Submit"))

    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")


def rate_by_digits(page: Page, work: FrameLocator) -> None:
    """A digit rates and goes on, so a reply with three criteria takes three keys."""
    for place in range(replies_of(work)):
        for _ in range(3):
            page.keyboard.press(str(1 + place % 5))
    expect(work.locator(".rated-said")).to_contain_text("All are rated")


# --- Keys ------------------------------------------------------------------------------------------------------------


def test_enter_goes_on_where_all_is_rated_and_else_to_what_is_missing(open_dialog: OpenDialog) -> None:
    page = open_dialog(**EIGHT_ON_SCALES)
    expect(page.locator("[data-reply='0'] input").first).to_be_focused()
    for _ in range(3 * 8 - 1):
        page.keyboard.press("4")
    page.get_by_role("heading", level=1).click()

    page.keyboard.press("Enter")
    expect(page.locator("[data-reply='7'] [data-criterion] input").last).to_be_visible()
    expect(page.locator(".rated-said")).to_have_text("1 reply left.")
    page.keyboard.press("2")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 2")


def test_keys_that_mean_no_point_rate_nothing(open_dialog: OpenDialog) -> None:
    page = open_dialog(**EIGHT_ON_SCALES)

    for key in ("6", "0", "-", "x", "Control+1"):
        page.keyboard.press(key)

    expect(page.locator("input:checked")).to_have_count(0)


def test_ten_and_eleven_points_have_keys_too(open_dialog: OpenDialog) -> None:
    asked = [{"name": "overall", "question": "How good is it?", "points": 11}]
    page = open_dialog(**EIGHT_ON_SCALES, task={"criteria": asked})

    for key in ("9", "0", "-"):
        page.keyboard.press(key)
    for place, value in enumerate(("9", "10", "11")):
        expect(scale(page, place, "overall").locator("input:checked")).to_have_value(value)
    expect_saved(page)
    page.set_viewport_size({"width": 320, "height": 640})
    look(page, "eleven-320")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


# --- Layouts ---------------------------------------------------------------------------------------------------------


def test_one_reply_at_a_time_by_keys_and_back(open_dialog: OpenDialog) -> None:
    page = open_dialog(**EIGHT_ON_SCALES, task={"layout": "one by one"})
    expect(page.locator("[data-reply]:visible")).to_have_count(1)
    expect(page.get_by_text("Reply A (1 of 8)")).to_be_visible()
    look(page, "one-by-one")

    for _ in range(3):
        page.keyboard.press("3")
    expect(page.get_by_text("Reply B (2 of 8)")).to_be_visible()
    page.get_by_role("button", name="← Reply A").click()
    expect(page.locator("[data-reply='0'] input:checked").first).to_be_visible()
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.get_by_text("7 replies are not rated on everything yet.")).to_be_visible()


def test_can_t_say_is_an_answer_and_no_rating(open_dialog: OpenDialog) -> None:
    page = open_dialog(**EIGHT_ON_SCALES, task={"may_skip": True})
    first = page.locator("[data-reply='0'] fieldset").first

    page.keyboard.press("x")
    expect(first.get_by_label("Can’t say")).to_be_checked()
    first.locator("label:has([value='2'])").click()
    expect(first.get_by_label("Can’t say")).not_to_be_checked()
    first.get_by_text("Can’t say").click()
    expect_saved(page)

    [ratings] = stored().values()
    assert [list(said.values()) for said in ratings.values()] == [["cant_say"]]
    look(page, "cant-say")


def test_a_slider_shows_nothing_before_it_is_answered(open_dialog: OpenDialog) -> None:
    asked = [{"name": "overall", "question": "How good is it?", "words": ["0: bad", "50: fair", "100: perfect"]}]
    page = open_dialog(**EIGHT_ON_SCALES, task={"criteria": asked, "answer_by": "slider"})
    sliders = page.get_by_role("slider")
    expect(sliders.first).to_be_focused()
    expect(sliders.first).to_have_attribute("aria-valuetext", "not answered yet")
    look(page, "slider")

    page.keyboard.press("Space")  # where it stands
    expect(sliders.first).to_have_attribute("aria-valuetext", "50")
    page.keyboard.press("Enter")
    expect(sliders.nth(1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(sliders.nth(1)).to_have_attribute("aria-valuetext", "51")
    sliders.nth(2).click()  # its middle, which changes nothing in the browser's eyes
    expect(sliders.nth(2)).to_have_attribute("aria-valuetext", "50")
    expect(page.locator(".rated-said")).to_have_text("5 replies left.")
    expect_saved(page)

    [ratings] = stored().values()
    assert sorted(ratings["overall"].values()) == ["50", "50", "51"]
    look(page, "slider-answered")


# --- All that people may meet ----------------------------------------------------------------------------------------

ALL_WORDS = ["1: unacceptable", "2: poor", "3: moderate", "4: good", "5: excellent"]


@pytest.mark.parametrize(
    "task",
    [
        {},
        {"layout": "one by one", "may_skip": True},
        {"criteria": [{"name": "overall", "question": "How good is it?", "words": ALL_WORDS}]},
        {
            "criteria": [{"name": "overall", "question": "How good is it?", "words": ["0: bad", "100: perfect"]}],
            "answer_by": "slider",
            "may_skip": True,
        },
    ],
    ids=["grid", "one-by-one", "words", "slider"],
)
def test_scales_are_accessible_and_fit_a_phone(
    open_dialog: OpenDialog, check_accessibility: CheckAccessibility, task: dict[str, Any], request: Any
) -> None:
    page = open_dialog(**EIGHT_ON_SCALES, task=task)
    check_accessibility(page)
    for _ in range(4):
        page.keyboard.press("2")
    check_accessibility(page)
    name = request.node.callspec.id
    for width, dark in ((1366, False), (390, True), (320, False)):
        page.set_viewport_size({"width": width, "height": 768})
        page.emulate_media(color_scheme="dark" if dark else "light")
        look(page, f"{name}-{width}")
    expect_saved(page)


def test_the_order_of_criteria_changes_between_workers_and_follows_their_rotation(
    page: Page, offer_eight: Publish, work_url: WorkUrl
) -> None:
    from tests.browser.worker_moves import open_first_dialog

    open_first_dialog(page, work_url(offer_eight(**EIGHT_ON_SCALES)))

    names = page.locator("[data-reply='0'] fieldset").evaluate_all("all => all.map((one) => one.dataset.criterion)")
    rotation = Assignment.objects.get().rotation % 3
    listed = ["empathy", "relevance", "fluency"]
    assert names == listed[rotation:] + listed[:rotation]
