"""What a board shows in real Chromium: folded cards, areas that differ, 200 % zoom, the marketplace's frame."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import CheckAccessibility, OpenDialog, Publish
from tests.browser.worker_moves import (
    AREAS,
    FRAME,
    begin,
    card_at,
    drag_by_mouse,
    sort,
    tap_card,
    zone,
)

ZOOMED: Any = {"viewport": {"width": 683, "height": 384}, "device_scale_factor": 2}  # 1366 x 768 at 200 %
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

at_200_percent = pytest.mark.parametrize("context", [ZOOMED], indirect=True, ids=["zoomed"])


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
    assert len(set(page.locator(".zone-head .mark").all_inner_texts())) == 3
    assert len({style_of(zone(page, area), "borderTopColor") for area in AREAS}) == 3
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
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


@pytest.mark.parametrize("height", [0, 800])
def test_in_the_marketplaces_frame_a_new_dialog_begins_in_sight(page: Page, offer_eight: Publish, height: int) -> None:
    offer_eight(crowd={"frame_height": height})
    page.set_viewport_size({"width": 1366, "height": 650})
    page.goto("/market/")
    page.get_by_role("button", name=re.compile("^Alice")).click()
    page.get_by_role("button", name="Accept & Work").click()
    work, frame = page.frame_locator(FRAME), page.locator(FRAME)
    box = frame.bounding_box()
    assert box is not None
    assert box["height"] <= 650 if height == 0 else box["height"] >= 800
    begin(work)
    work.get_by_role("button", name="Next").click()
    sort(page, work, "Conversation 1", tap_card)
    work.get_by_role("button", name="Next").click()

    expect(work.get_by_role("heading", level=1)).to_contain_text("Conversation 2")
    expect(work.get_by_role("heading", level=1)).to_be_in_viewport(ratio=1)
    expect(work.locator(".turn").first).to_be_in_viewport(ratio=1)


@at_200_percent
def test_in_the_marketplaces_frame_the_bar_is_visible_at_200_percent(page: Page, offer_eight: Publish) -> None:
    offer_eight()
    page.goto("/market/")
    page.get_by_role("button", name=re.compile("^Alice")).click()
    page.get_by_role("button", name="Accept & Work").click()
    work = page.frame_locator(FRAME)
    begin(work)
    work.get_by_role("button", name="Next").click()

    expect(work.get_by_role("heading", level=1)).to_contain_text("Conversation 1")
    expect(work.get_by_role("heading", level=1)).to_be_in_viewport(ratio=1)
    for area in AREAS:
        expect(work.locator(f".bar-target[value='{area}']")).to_be_in_viewport(ratio=1)


def lines_of(text: Locator) -> int:
    return int(text.evaluate("text => Math.round(text.clientHeight / parseFloat(getComputedStyle(text).lineHeight))"))


def style_of(element: Locator, name: str) -> str:
    return str(element.evaluate("(element, name) => getComputedStyle(element)[name]", name))
