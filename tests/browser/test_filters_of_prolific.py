"""Choosing Prolific's filters in real Chromium: by mouse, by keys alone, and without JavaScript."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from hits.designing import create_study
from hits.models import Study
from localprolific import misbehaving
from tests.browser.conftest import LAPTOP, CheckAccessibility
from tests.conftest import DEMO
from tests.hits.prolific_study import PARTICIPANTS, POUNDS, no_faults

__all__ = ["no_faults"]

PICTURES = os.environ.get("PICTURES_OF_FILTERS", "")


@pytest.fixture
def draft(researcher_page: Page) -> Study:
    return create_study({**DEMO, "crowd": PARTICIPANTS, "pay": POUNDS}, User.objects.get())


def filters_of(draft: Study) -> list[dict[str, Any]]:
    draft.refresh_from_db()
    return list(draft.design["crowd"].get("options", {}).get("filters", []))


def picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def test_filters_are_chosen_from_prolifics_list(
    draft: Study, researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    page.goto("/studies/demo/edit/crowd/")
    expect(page.get_by_text("Nobody has asked Prolific yet")).to_be_visible()
    check_accessibility(page)
    picture(page, "1-unasked")

    page.get_by_role("button", name="Ask Prolific").click()
    page.get_by_label("Find a filter").fill("country")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.get_by_role("button", name="Add Current country of residence")).to_be_visible()
    check_accessibility(page)
    picture(page, "2-found")
    page.get_by_role("button", name="Add Current country of residence").click()
    page.get_by_label("Find among these choices").fill("united")
    expect(page.get_by_label("Germany")).to_be_hidden()
    page.get_by_label("United Kingdom").check()
    page.get_by_label("United States").check()
    page.get_by_label("Find a filter").fill("age")
    page.get_by_role("button", name="Find", exact=True).click()
    page.get_by_role("button", name="Add Age").click()
    expect(page.get_by_label("At least (from 18 to 100)")).to_be_focused()
    page.get_by_label("At least (from 18 to 100)").fill("18")
    check_accessibility(page)
    picture(page, "3-chosen")
    page.get_by_role("button", name="Save and go on").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Plan and cost")
    assert filters_of(draft) == [
        {"filter_id": "current-country-of-residence", "selected_values": ["0", "1"]},
        {"filter_id": "age", "selected_range": {"lower": 18}},
    ]
    page.goto("/studies/demo/edit/crowd/")
    expect(page.get_by_text("2 of 40: United Kingdom, United States")).to_be_visible()
    picture(page, "4-saved")
    page.get_by_role("button", name="Remove Age").click()
    expect(page.get_by_role("button", name="Remove Age")).to_have_count(0)
    assert len(filters_of(draft)) == 2  # until the form is saved


def test_filters_are_chosen_by_keys_alone(draft: Study, researcher_page: Page) -> None:
    page = researcher_page
    page.goto("/studies/demo/edit/crowd/")
    page.locator("#filters-ask").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="filters are listed now")).to_have_count(1)

    page.locator("#filters-sought").focus()
    page.keyboard.type("student")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="1 found.")).to_have_count(1)
    expect(page.locator("#filters-sought")).to_be_focused()
    page.keyboard.press("Tab")  # Find
    page.keyboard.press("Tab")  # Add
    page.keyboard.press("Enter")
    expect(page.get_by_label("Yes", exact=True)).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_label("Yes", exact=True)).to_be_checked()
    page.get_by_label("HITs a worker may do at most").press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Plan and cost")
    assert filters_of(draft) == [{"filter_id": "student-status", "selected_values": ["0"]}]


def test_a_prolific_that_does_not_answer_leaves_typed_ids(
    draft: Study, researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    misbehaving.add_fault("fail-before", operation="list_filters")
    page = researcher_page
    page.goto("/studies/demo/edit/crowd/")

    page.get_by_role("button", name="Ask Prolific").click()
    expect(page.get_by_text("could not be asked")).to_be_visible()
    check_accessibility(page)
    picture(page, "5-away")
    page.get_by_label("Id of the filter").fill("sex")
    page.get_by_label("Values, separated by commas").fill("1")
    page.get_by_role("button", name="Save and go on").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Plan and cost")
    assert filters_of(draft) == [{"filter_id": "sex", "selected_values": ["1"]}]


@pytest.mark.parametrize("context", [{**LAPTOP, "java_script_enabled": False}], indirect=True)
def test_filters_are_chosen_without_javascript(draft: Study, researcher_page: Page) -> None:
    page = researcher_page
    page.goto("/studies/demo/edit/crowd/")
    page.get_by_label("HITs a worker may do at most").fill("3")

    page.get_by_role("button", name="Ask Prolific").click()
    expect(page.get_by_label("HITs a worker may do at most")).to_have_value("3")
    page.get_by_label("Find a filter").fill("handed")
    page.get_by_role("button", name="Find", exact=True).click()
    page.get_by_role("button", name="Add Handedness").click()
    page.get_by_label("Left-handed").check()
    page.get_by_role("button", name="Save and go on").click()

    assert filters_of(draft) == [{"filter_id": "handedness", "selected_values": ["0"]}]
    assert draft.design["crowd"]["max_hits_per_worker"] == 3
