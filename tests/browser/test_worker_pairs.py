"""Comparing two replies in real Chromium: by mouse, finger and keys, with ties, several questions and reasons."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from hits.models import Answer, Assignment
from tests.browser.conftest import SMALL, CheckAccessibility, OpenDialog, OpenPage, Publish
from tests.browser.test_worker_scales import look
from tests.browser.worker_moves import FRAME, Place, accept_in_marketplace, agree, expect_saved, go_on, press

PAIRS: dict[str, Any] = {**SMALL, "protocol": "pairs"}
EIGHT_IN_PAIRS: dict[str, Any] = {"protocol": "pairs"}


def side(work: Place, value: str, question: str = "overall") -> Locator:
    return work.locator(f"fieldset[name='{question}'] label:has([value='{value}'])")


def stored() -> list[dict[str, Any]]:
    return [one.value for one in Answer.objects.order_by("item__position")]


def test_a_whole_hit_of_pairs_by_pointer(open_page: OpenPage, publish: Publish) -> None:
    """By mouse on SQLite, and by finger on PostgreSQL."""
    publish(**PAIRS)
    page = open_page()
    work = accept_in_marketplace(page)
    agree(work)
    side(work, "second").click()
    work.get_by_role("button", name="Validate").click()
    expect(work.locator("[data-reply='0']")).to_contain_text("Which one notices the tiredness?")
    side(work, "first").click()
    work.get_by_role("button", name="Validate").click()
    expect(work.get_by_text("All of them fit.")).to_be_visible()
    look(page, "pairs-warm-up")
    work.get_by_role("button", name="Next").click()

    for position in range(2):
        expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        expect(work.locator("[data-reply]")).to_have_count(2)
        expect(work.locator("input:checked")).to_have_count(0)  # nothing is chosen in advance
        side(work, ["first", "tie"][position]).click()
        expect_saved(work)
        go_on(work)
    work.get_by_role("button", name="Submit").click()

    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert Assignment.objects.get().submitted_at is not None
    first, second = stored()
    assert first["better"]["overall"] in (0, 1)
    assert second["better"]["overall"] == "tie"


def test_a_whole_hit_of_pairs_by_keyboard_alone(page: Page, publish: Publish) -> None:
    publish(**PAIRS)
    page.goto("/market/")
    press(page, page.get_by_role("button", name=re.compile("^Alice")))
    press(page, page.get_by_role("button", name="Accept & Work"))
    work = page.frame_locator(FRAME)
    press(page, work.get_by_role("button", name="I agree and begin"))
    press(page, work.get_by_role("button", name="Next"))

    for position, key in enumerate("20"):
        expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        expect(work.locator("fieldset input").first).to_be_focused()
        page.keyboard.press("7")  # means nothing here
        expect(work.locator("input:checked")).to_have_count(0)
        page.keyboard.press(key)
        expect(work.locator(".rated-said")).to_contain_text("You have chosen: press Next or Enter")
        page.keyboard.press("Enter")
    press(page, work.get_by_role("button", name="Submit"))

    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")


def test_several_questions_are_answered_one_after_the_other_and_a_reason_is_kept(open_dialog: OpenDialog) -> None:
    questions = [
        {"name": "empathy", "label": "Empathy", "question": "Which one understands the feelings better?"},
        {"name": "fluency", "label": "Fluency", "question": "Which one is easier to read?"},
    ]
    task = {"questions": questions, "asks_why": True, "may_reject_both": True}
    page = open_dialog(**EIGHT_IN_PAIRS, task=task)

    page.keyboard.press("1")
    expect(page.locator(".rated-said")).to_have_text("1 question left.")
    page.keyboard.press("9")
    page.get_by_label("Why?").fill("1 of them listens.")
    page.get_by_label("Why?").blur()
    expect_saved(page)

    [value] = stored()
    assert value["better"]["empathy"] in (0, 1)
    assert value["better"]["fluency"] == "both_bad"
    assert value["why"] == "1 of them listens."
    look(page, "pairs-questions")
    page.reload()
    expect(page.get_by_label("Why?")).to_have_value("1 of them listens.")


def test_without_ties_there_are_two_buttons(open_dialog: OpenDialog) -> None:
    page = open_dialog(**EIGHT_IN_PAIRS, task={"may_tie": False})

    expect(page.locator(".side")).to_have_count(2)
    page.keyboard.press("0")
    expect(page.locator("input:checked")).to_have_count(0)


@pytest.mark.parametrize("task", [{}, {"may_reject_both": True, "asks_why": True}], ids=["plain", "all"])
def test_pairs_are_accessible_and_fit_a_phone(
    open_dialog: OpenDialog, check_accessibility: CheckAccessibility, task: dict[str, Any], request: Any
) -> None:
    page = open_dialog(**EIGHT_IN_PAIRS, task=task)
    check_accessibility(page)
    page.keyboard.press("1")
    check_accessibility(page)
    for width, dark in ((1366, False), (320, True)):
        page.set_viewport_size({"width": width, "height": 768})
        page.emulate_media(color_scheme="dark" if dark else "light")
        look(page, f"pairs-{request.node.callspec.params['task'] != {}}-{width}")
    expect_saved(page)
