"""Letting a model answer, in real Chromium with a real background process."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from generation.models import Dataset, Dialog, Generator
from generation.owning import give_owner
from tests.browser.conftest import CheckAccessibility
from tests.generation.scripted_runs import make_generator
from tests.processes import BackgroundProcess


@pytest.mark.usefixtures("scripted_kind")
def test_a_researcher_lets_a_model_answer_and_watches(
    researcher_page: Page,
    start_process: Callable[..., BackgroundProcess],
    test_database_url: str,
    check_accessibility: CheckAccessibility,
) -> None:
    page = researcher_page
    make_generator("watched", seconds=0.05, batch_size=2)
    give_owner(Generator.objects.all(), User.objects.get())
    dataset = Dataset.objects.get(name="example-empathetic")
    Dialog.objects.create(dataset=dataset, external_id="hard", turns=["be endless"], context_key=0)

    page.get_by_role("link", name="Models", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Models")
    check_accessibility(page)
    page.get_by_role("link", name="watched").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("watched")
    check_accessibility(page)
    page.get_by_label("Dataset").select_option(label="example-empathetic: 21 of 21 to answer")
    page.get_by_role("button", name="Answer them").click()
    expect(page.get_by_text("waiting for a background process")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("paused", exact=True)).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    start_process(DATABASE_URL=test_database_url)

    expect(page.get_by_text("20 of 21 dialogs answered, 1 not")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="All failures").click()
    expect(page.get_by_role("cell", name="endless", exact=True)).to_have_count(2)
    check_accessibility(page)
    page.get_by_role("link", name="hard").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("hard")
