"""What a worker does on the page, by mouse, finger and keys, and what is there then, also in the database."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from playwright.sync_api import FrameLocator, Locator, Page, expect

from generation.models import Candidate
from hits.models import Answer

AREAS = ["good", "okay", "bad"]
FRAME = "iframe[title='The task of this HIT']"

Place = Page | FrameLocator


class MoveCard(Protocol):
    def __call__(self, page: Page, card: Locator, area: Locator) -> None: ...


# --- What a worker does ----------------------------------------------------------------------------------------------


def accept_in_marketplace(page: Page) -> FrameLocator:
    page.goto("/market/")
    page.get_by_role("button", name=re.compile("^Alice")).click()
    page.get_by_role("button", name="Accept & Work").click()
    # High enough to see a card and an area at once.
    width = page.viewport_size["width"] if page.viewport_size else 1280
    page.set_viewport_size({"width": width, "height": 1100})
    return page.frame_locator(FRAME)


def open_first_dialog(page: Page, url: str) -> Page:
    page.goto(url)
    agree(page)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Conversation 1 of "))
    expect_saved(page)
    return page


def agree(work: Place) -> None:
    work.get_by_role("button", name="I agree and begin").click()


def begin(work: Place) -> None:
    """From the first page to the instructions."""
    agree(work)
    expect(work.get_by_role("heading", level=1)).to_have_text("Instructions")


def sort(page: Page, work: Place, heading: str, move: MoveCard, is_saved: bool = True) -> dict[str, str]:
    """Puts every card that is not placed yet into an area, and tells what is where then, by the cards' texts."""
    expect(work.get_by_role("heading", level=1)).to_contain_text(heading)
    for place in range(work.locator("[data-card]").count()):
        if work.locator(f"[data-zone=''] [data-card='{place}']").count():
            move(page, card_at(work, place), zone(work, placed_area(place)))
    if is_saved:
        expect_saved(work)
    return where_cards_are(work)


def placed_area(place: int) -> str:
    return AREAS[place % len(AREAS)]


def go_on(work: Place) -> None:
    heading = work.get_by_role("heading", level=1).inner_text()
    work.get_by_role("button", name="Next").click()
    expect(work.get_by_role("heading", level=1)).not_to_have_text(heading)


def drag_by_mouse(page: Page, card: Locator, area: Locator) -> None:
    (from_x, from_y), (to_x, to_y) = middle(card), middle(area)
    page.mouse.move(from_x, from_y)
    page.mouse.down()
    page.mouse.move(from_x + 10, from_y)
    page.mouse.move(to_x, to_y, steps=3)
    expect(area).to_have_attribute("data-over", "")
    page.mouse.up()
    expect(area.locator(card)).to_be_visible()
    expect_nothing_focused(card)


def drag_by_finger(page: Page, card: Locator, area: Locator) -> None:
    """To the area's name at the lower edge."""
    with fingers(page) as touch:
        from_x, from_y = middle(card.locator(".card-text"))
        touch("touchStart", (from_x, from_y))
        expect(card).to_have_attribute("data-carried", "")
        target = area.locator("xpath=../..").locator(f".bar-target[value='{area.get_attribute('data-zone')}']")
        to_x, to_y = middle(target)
        touch("touchMove", (from_x, from_y + 20))
        touch("touchMove", (to_x, to_y))
        expect(target).to_have_attribute("data-over", "")
        touch("touchEnd")
    expect(area.locator(card)).to_be_visible()
    expect_nothing_focused(card)


@contextmanager
def fingers(page: Page) -> Iterator[Callable[..., None]]:
    devtools = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    yield touch
    devtools.detach()


def tap_card(page: Page, card: Locator, area: Locator) -> None:
    """The area's button on the card: no dragging."""
    choice(card, area.get_attribute("data-zone") or "").click()
    expect(area.locator(card)).to_be_visible()


def move_by_digit(page: Page, card: Locator, area: Locator) -> None:
    move_by_key(page, card, str(1 + AREAS.index(area.get_attribute("data-zone") or "")))


def move_by_key(page: Page, card: Locator, key: str) -> None:
    card.focus()
    page.keyboard.press(key)


def press(page: Page, control: Locator, backwards: bool = False) -> None:
    go_to(page, control, backwards)
    page.keyboard.press("Enter")


def go_to(page: Page, control: Locator, backwards: bool = False) -> None:
    """With the tab key only."""
    control.wait_for()
    for _ in range(60):
        if control.evaluate("element => element === document.activeElement && document.hasFocus()"):
            return
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
    raise AssertionError(f"{control} can't be reached by the tab key")


# --- What is there ---------------------------------------------------------------------------------------------------


def card_at(work: Place, place: int) -> Locator:
    return work.locator(f"[data-card='{place}']")


def choice(card: Locator, area: str) -> Locator:
    return card.locator(f"label:has([value='{area}'])")


def zone(work: Place, area: str) -> Locator:
    return work.locator(f"[data-zone='{area}']")


def expect_nothing_focused(element: Locator) -> None:
    assert element.evaluate("() => document.activeElement === document.body")


def expect_saved(work: Place) -> None:
    expect(work.locator(".saved")).to_have_text("Saved")


def expect_offline(work: Place) -> None:
    words = "Offline: kept in this browser, sent when the connection is back"
    expect(work.locator(".saved")).to_have_text(words)


def where_cards_are(work: Place) -> dict[str, str]:
    """The area of every card that has one, by the card's text."""
    found: dict[str, str] = {}
    for area in AREAS:
        found |= dict.fromkeys(zone(work, area).locator(".card-text").all_text_contents(), area)
    return found


def stored_placements() -> dict[int, dict[str, str]]:
    """The same from the database, by the dialogs' positions."""
    stored = {}
    candidates = Candidate.objects.in_bulk()
    for answer in Answer.objects.select_related("item__dialog", "item__hit__study").order_by("item__position"):
        design = answer.item.hit.study.parsed_design
        texts = [
            design.shown(candidates[card.candidates[0]].display_text if card.candidates else gold)
            for gold in [answer.item.dialog.display_gold]
            for card in answer.item.cards
        ]
        stored[answer.item.position] = {texts[int(card)]: area for card, area in answer.value["areas"].items()}
    return stored


def middle(element: Locator) -> tuple[float, float]:
    element.scroll_into_view_if_needed()
    box = element.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def wait_until_scrolled(page: Page, beyond: int) -> None:
    """Not wait_for_function, which our Content-Security-Policy forbids."""
    for _ in range(100):
        if scrolled(page) > beyond:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"the page is not scrolled beyond {beyond} pixels")


def scrolled(page: Page) -> float:
    return float(page.evaluate("document.documentElement.scrollTop"))
