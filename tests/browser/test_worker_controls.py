"""Attention checks and repeats on the worker's page, in real Chromium."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits.models import Answer, Assignment, HitItem
from hits.protocols import PROTOCOLS, obeys, protocol_of
from tests.browser.conftest import SMALL, CheckAccessibility, OpenPage, Publish
from tests.browser.test_worker_pairs import side
from tests.browser.test_worker_scales import look
from tests.browser.worker_moves import accept_in_marketplace, agree, expect_saved, go_on

CONTROLLED: dict[str, Any] = {
    **SMALL,
    "datasets": [{"name": "example-empathetic", "dialogs": 4}],
    "hits": {"dialogs": 4},
    "checkpoints": {"datasets": ["example-empathetic"], "per_hit": 1, "attention_checks": 1, "repeats": 1},
}
CHOICES = {"A is better": "first", "As good": "tie", "B is better": "second"}


def test_who_reads_obeys_an_attention_check_and_nothing_tells_a_repeat(open_page: OpenPage, publish: Publish) -> None:
    publish(**CONTROLLED, protocol="pairs")
    work = accept_in_marketplace(open_page())
    agree(work)
    work.get_by_role("button", name="Next").click()

    heading = work.get_by_role("heading", level=1)
    told = 0
    for position in range(6):
        expect(heading).to_have_text(f"Conversation {position + 1} of 6")
        question = work.locator("#question").inner_text()
        asked = [value for words, value in CHOICES.items() if f"“{words}”" in question]
        told += len(asked)
        assert ("only checks that you are reading" in question) == bool(asked)
        side(work, asked[0] if asked else "first").click()
        expect_saved(work)
        go_on(work)
    work.get_by_role("button", name="Submit").click()

    expect(heading).to_have_text("Thank you, your work is submitted")
    assert told == 1
    check = HitItem.objects.select_related("hit__study").get(hit=Assignment.objects.get().hit_id, told__isnull=False)
    answer = Answer.objects.get(item=check)
    assert obeys(protocol_of(check.hit.study.parsed_design), answer.value, answer.card_order, check.told or 0)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_what_an_attention_check_tells_stands_in_place_of_the_question(
    protocol: str, page: Page, publish: Publish, check_accessibility: CheckAccessibility
) -> None:
    publish(**CONTROLLED, protocol=protocol)
    check = HitItem.objects.get(hit__number=0, told__isnull=False)
    work = accept_in_marketplace(page)
    agree(work)
    expect(work.get_by_role("heading", level=1)).to_have_text("Instructions")
    Assignment.objects.update(step=f"dialog-{check.position}")  # as if all before were answered
    page.reload()

    expect(work.get_by_role("heading", level=1)).to_have_text(f"Conversation {check.position + 1} of 6")
    expect(work.locator("#question")).to_have_text(check.told_words)
    expect(work.locator(".question")).to_have_count(1)
    check_accessibility(page)
    look(page, f"attention-{protocol}")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 1500})
    look(page, f"attention-{protocol}-phone-dark")
