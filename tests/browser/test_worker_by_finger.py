"""Whole HITs on a phone with a finger alone, on scales and in pairs. Areas have theirs in test_worker_dragging."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from hits.models import Answer, Assignment
from tests.browser.conftest import SMALL, OpenPage, Publish
from tests.browser.test_worker_dragging import on_a_phone
from tests.browser.test_worker_pairs import side
from tests.browser.test_worker_scales import point, replies_of
from tests.browser.worker_moves import FRAME, Place, expect_saved

LARGE_ENOUGH = 44  # pixels for a finger: WCAG 2.5.5


def choices_on_scales(work: Place) -> list[Locator]:
    criteria = ("empathy", "relevance", "fluency")
    return [point(work, place, criterion, "4") for place in range(replies_of(work)) for criterion in criteria]


def choice_of_a_pair(work: Place) -> list[Locator]:
    return [side(work, "tie")]


@on_a_phone
@pytest.mark.parametrize(
    ("protocol", "choices"), [("likert", choices_on_scales), ("pairs", choice_of_a_pair)], ids=["scales", "pairs"]
)
def test_a_whole_hit_by_finger_alone(open_page: OpenPage, publish: Publish, protocol: str, choices: Any) -> None:
    publish(**SMALL, protocol=protocol)
    page = open_page()
    page.goto("/market/")
    page.get_by_role("button", name=re.compile("^Alice")).tap()
    page.get_by_role("button", name="Accept & Work").tap()
    work = page.frame_locator(FRAME)
    work.get_by_role("button", name="I agree and begin").tap()
    work.get_by_role("button", name="Next").tap()

    for position in range(2):
        expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {position + 1} of 2")
        for choice in choices(work):
            box = choice.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= LARGE_ENOUGH
            choice.tap()
        expect(work.locator(".rated-said")).to_contain_text("press Next")
        expect_saved(work)
        work.get_by_role("button", name="Next", exact=True).tap()
    work.get_by_role("button", name="Submit").tap()

    expect(work.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert Assignment.objects.get().submitted_at is not None
    assert Answer.objects.count() == 2
