"""Marking the best and the worst reply in real Chromium: by mouse, finger and keys."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from hits.models import Answer, Assignment
from tests.browser.conftest import SMALL, CheckAccessibility, OpenDialog, OpenPage, Publish
from tests.browser.test_worker_scales import look
from tests.browser.worker_moves import FRAME, Place, accept_in_marketplace, agree, expect_saved, go_on, press

BEST_WORST: dict[str, Any] = {**SMALL, "protocol": "best-worst"}


def mark(work: Place, name: str, place: int) -> Locator:
    return work.locator(f"[data-reply='{place}'] label:has([name='{name}'])")


def marked(work: Place) -> list[str]:
    """What is marked, in the order of the page."""
    chosen = work.locator("input:checked")
    return [str(chosen.nth(number).get_attribute("aria-label")) for number in range(chosen.count())]


def test_a_whole_hit_of_best_and_worst_by_pointer(open_page: OpenPage, publish: Publish) -> None:
    """By mouse on SQLite, and by finger on PostgreSQL."""
    publish(**BEST_WORST)
    page = open_page()
    work = accept_in_marketplace(page)
    agree(work)
    mark(work, "best", 2).click()
    mark(work, "worst", 0).click()
    work.get_by_role("button", name="Validate").click()
    expect(work.locator("[data-reply='2']")).to_contain_text("Did anyone get new shelves?")
    mark(work, "best", 0).click()
    expect(work.locator("input:checked")).to_have_count(1)  # it can't be the worst any more
    expect(work.locator(".rated-said")).to_have_text("Now mark the worst.")
    mark(work, "worst", 2).click()
    work.get_by_role("button", name="Validate").click()
    expect(work.get_by_text("All of them fit.")).to_be_visible()
    look(page, "best-worst-warm-up")
    work.get_by_role("button", name="Next").click()

    for position in range(2):
        expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        expect(work.locator("input:checked")).to_have_count(0)  # nothing is chosen in advance
        last = work.locator("[data-reply]").count() - 1
        mark(work, "best", last).click()
        mark(work, "worst", 0).click()
        expect_saved(work)
        go_on(work)
    work.get_by_role("button", name="Submit").click()

    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert Assignment.objects.get().submitted_at is not None
    for answer in Answer.objects.all():
        marks = answer.value["marked"]
        assert [answer.card_order.index(marks[name]) for name in ("best", "worst")] == [len(answer.card_order) - 1, 0]


def test_a_whole_hit_of_best_and_worst_by_keyboard_alone(page: Page, publish: Publish) -> None:
    publish(**BEST_WORST)
    page.goto("/market/")
    press(page, page.get_by_role("button", name=re.compile("^Alice")))
    press(page, page.get_by_role("button", name="Accept & Work"))
    work = page.frame_locator(FRAME)
    press(page, work.get_by_role("button", name="I agree and begin"))
    press(page, work.get_by_role("button", name="Next"))

    for position, (best, worst) in enumerate([("2", "1"), ("1", "3")]):
        expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        expect(work.locator("[name='best']").first).to_be_focused()
        page.keyboard.press("9")  # means nothing here
        expect(work.locator("input:checked")).to_have_count(0)
        page.keyboard.press(best)
        page.keyboard.press(worst)
        expect(work.locator(".rated-said")).to_contain_text("Both are marked: press Next or Enter")
        page.keyboard.press("Enter")
    press(page, work.get_by_role("button", name="Submit"))

    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")


def test_keys_and_arrows_change_a_mark_and_the_other_one_is_asked_for_again(open_dialog: OpenDialog) -> None:
    page = open_dialog(protocol="best-worst")

    page.keyboard.press("1")
    page.keyboard.press("2")
    assert marked(page) == ["Best: reply A", "Worst: reply B"]
    page.keyboard.press("b")
    page.keyboard.press("ArrowDown")
    assert marked(page) == ["Best: reply B"]
    expect(page.locator(".rated-said")).to_have_text("Now mark the worst.")
    page.keyboard.press("w")
    page.keyboard.press("3")
    expect_saved(page)
    page.reload()

    expect(page.locator("input:checked")).to_have_count(2)
    assert marked(page) == ["Best: reply B", "Worst: reply C"]


@pytest.mark.parametrize("width", [1366, 320])
def test_best_and_worst_are_accessible_and_fit_a_phone(
    open_dialog: OpenDialog, check_accessibility: CheckAccessibility, width: int
) -> None:
    page = open_dialog(protocol="best-worst")
    page.set_viewport_size({"width": width, "height": 768})
    page.emulate_media(color_scheme="dark" if width == 320 else "light")
    check_accessibility(page)
    page.keyboard.press("1")
    page.keyboard.press("2")
    check_accessibility(page)
    expect_saved(page)
    look(page, f"best-worst-{width}")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
