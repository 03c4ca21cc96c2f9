"""The worker's own page in a frame of the researcher's pages: it can only be looked at, and says nothing to anyone."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import FrameLocator, Page, Request, expect

from hits.batching import build_hits
from hits.crowds.mturk.crowd import connect
from hits.designing import create_study
from hits.models import Answer, Assignment
from tests.browser.conftest import PHONE, CheckAccessibility
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, people, publish

pytestmark = pytest.mark.once  # on PostgreSQL, Django's client asks for these pages

NOTHING_SCROLLS_WITHIN = """() => [...document.querySelectorAll("iframe[data-shown]")].every((frame) => {
  const inner = frame.contentDocument.scrollingElement;
  return inner.scrollHeight <= inner.clientHeight && inner.scrollWidth <= inner.clientWidth;
})"""


def frame_of(page: Page, dialog: int) -> FrameLocator:
    return page.frame_locator(f"iframe[title='Dialog {dialog} on the worker\\'s page']")


def expect_one_scroll_bar(page: Page) -> None:
    page.wait_for_function(NOTHING_SCROLLS_WITHIN)


def test_a_hit_is_shown_by_the_worker_s_page_which_takes_nothing_and_sends_nothing(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    build_hits(create_study(DEMO, User.objects.get()))
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    page.goto("/studies/demo/hits/1/")
    first = frame_of(page, 1)

    expect(first.get_by_role("heading", level=1)).to_have_text("Conversation 1 of 10")
    expect(page.locator("iframe[data-shown]")).to_have_count(10)
    expect_one_scroll_bar(page)
    first.locator("[data-card='0'] .card-text").click()
    page.keyboard.press("1")
    box = first.locator("[data-card='0']").bounding_box()
    target = first.locator("[data-zone='bad']").bounding_box()
    assert box is not None
    assert target is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(target["x"] + 20, target["y"] + 20, steps=4)
    page.mouse.up()

    expect(first.locator("[data-zone=''] [data-card]")).to_have_count(first.locator("[data-card]").count())
    expect(first.locator("input:enabled, button:enabled, textarea:enabled")).to_have_count(0)
    assert [one.url for one in asked if one.method != "GET" or "/work/" in one.url] == []
    assert (Assignment.objects.count(), Answer.objects.count()) == (0, 0)
    check_accessibility(page)
    page.set_viewport_size(PHONE["viewport"])
    expect_one_scroll_bar(page)


def test_answered_work_stands_where_its_worker_put_it_with_the_models_beside_the_frame(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    study = create_study(DEMO, User.objects.get())
    build_hits(study)
    study.refresh_from_db()
    publish(study, connect())
    worker = CrowdWorker(study.hits.get(number=0), people()[0])
    worker.win_all_bonuses()
    worker.open()
    worker.save(0, {**worker.all_in(0, "okay"), "0": "bad"}, problem="It <b>stops</b> in the middle.")
    before = Answer.objects.count(), worker.assignment.step
    page.goto(f"/studies/demo/assignments/{worker.assignment.pk}/")
    first, checkpoint = frame_of(page, 1), frame_of(page, worker.checkpoint() + 1)

    expect(first.locator("[data-zone='bad'] [data-card]")).to_have_count(1)
    expect(first.locator("[data-zone='okay'] [data-card]")).to_have_count(first.locator("[data-card]").count() - 1)
    expect(first.get_by_label("What is wrong?")).to_have_value("It <b>stops</b> in the middle.")
    expect(checkpoint.get_by_text("The bonus point is yours if it stays like this.")).to_be_visible()
    expect_one_scroll_bar(page)
    writers = page.get_by_role("list", name="Who wrote which reply").first
    expect(writers.get_by_role("listitem").first).to_have_text(re.compile(r"A\s*\S+: Bad"))
    for name in DEMO["generators"]:
        expect(writers.get_by_text(name)).to_be_visible()
        assert name not in first.locator("#hit").inner_text()
    check_accessibility(page)
    worker.assignment.refresh_from_db()
    assert (Answer.objects.count(), worker.assignment.step) == before
