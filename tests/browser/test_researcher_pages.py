"""The researcher's pages in real Chromium: on a laptop in the light, on a phone in the dark."""

import re
from collections.abc import Callable

from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from generation.metrics.all_metrics import METRICS
from generation.models import Dataset, Dialog, Generator, GeneratorScore
from generation.owning import give_owner
from tests.browser.conftest import CheckAccessibility
from tests.processes import BackgroundProcess


def test_a_researcher_walks_from_log_in_to_a_dialog_with_its_candidates(
    page: Page, check_accessibility: CheckAccessibility
) -> None:
    page.goto("/")
    expect(page).to_have_title("Log in · EvalPlatform")
    check_accessibility(page)
    page.get_by_label("User name").fill("rosa")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("don't match")
    check_accessibility(page)
    page.get_by_label("Password").fill("the-usual-secret")
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Which model do people find better?")
    check_accessibility(page)
    page.get_by_role("link", name="Datasets", exact=True).click()
    expect(page.get_by_role("meter", name="parrot")).to_have_count(3)
    check_accessibility(page)
    page.get_by_role("link", name="example-empathetic").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("example-empathetic")
    check_accessibility(page)
    page.get_by_role("link", name="empathetic-001").click()

    expect(page.get_by_role("listitem").filter(has_text="Speaker 2")).to_have_count(1)
    expect(page.get_by_role("heading", level=3)).to_have_text(
        ["Human reply (gold)", "generic", "listener-large", "listener-small", "parrot"]
    )
    page.get_by_text("As the model wrote it").click()
    expect(page.get_by_text("that 's awesome , i bet")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="empathetic-002 →").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("empathetic-002")
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_title("Log in · EvalPlatform")


def test_automatic_metrics_can_be_read_on_every_device(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page, dataset = researcher_page, Dataset.objects.get(name="example-empathetic")
    for generator in Generator.objects.all():
        for column in (column for metric in METRICS for column in metric.columns):
            GeneratorScore.objects.create(
                generator=generator,
                dataset=dataset,
                metric=column.name,
                version="1",
                value=generator.pk / 7,
                candidate_count=20 + generator.pk,
                scored_count=20,
            )

    page.goto(f"/datasets/{dataset.pk}/")

    expect(page.get_by_role("table", name="Predicted labels").get_by_role("row")).to_have_count(5)
    expect(page.get_by_text("Distinct falls with their number")).to_be_visible()
    page.get_by_text("What the columns mean").first.click()
    expect(page.get_by_text("Distinct-1, different words")).to_be_visible()
    check_accessibility(page)


def test_the_search_answers_while_one_types_and_can_be_shared_as_an_address(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    page.get_by_role("link", name="example-empathetic").first.click()
    expect(page.get_by_text("20 dialogs", exact=True)).to_be_visible()

    page.get_by_label("Words in a turn").press_sequentially("bicycle")

    expect(page.get_by_text("1 dialog found")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]q=bicycle"))
    expect(page.get_by_label("Words in a turn")).to_be_focused()
    check_accessibility(page)
    page.reload()
    expect(page.get_by_text("1 dialog found")).to_be_visible()
    page.get_by_label("Words in a turn").fill("nothing has these words")
    expect(page.get_by_text("Try fewer words")).to_be_visible()
    page.get_by_label("Words in a turn").fill("")
    page.get_by_label("Emotion").select_option("lonely")
    expect(page.get_by_text("1 dialog found")).to_be_visible()


def test_long_lists_have_pages(researcher_page: Page, check_accessibility: CheckAccessibility) -> None:
    page = researcher_page
    dataset = Dialog.objects.filter(dataset__name="example-empathetic").first()
    assert dataset is not None
    dataset_id = dataset.dataset_id
    Dialog.objects.bulk_create(
        Dialog(dataset_id=dataset_id, external_id=f"extra-{n}", turns=["More rain?"], context_key=n) for n in range(30)
    )

    page.goto(f"/datasets/{dataset_id}/?q=rain")
    expect(page.get_by_text("Page 1 of 2")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Next →").click()

    expect(page.get_by_text("Page 2 of 2")).to_be_visible()
    expect(page).to_have_url(re.compile(r"q=rain&page=2"))
    check_accessibility(page)
    page.get_by_role("link", name="← Previous").click()
    expect(page.get_by_text("Page 1 of 2")).to_be_visible()


def test_the_style_check_runs_on_a_worker_and_its_answer_appears_by_itself(
    researcher_page: Page,
    start_process: Callable[..., BackgroundProcess],
    test_database_url: str,
    check_accessibility: CheckAccessibility,
) -> None:
    page = researcher_page
    give_owner(Dataset.objects.all(), User.objects.get())
    page.get_by_role("link", name="example-empathetic").first.click()
    expect(page.get_by_text("Not checked yet.")).to_be_visible()
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_text("Checking, requested")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Health", exact=True).click()
    expect(page.get_by_text("none is running")).to_be_visible()
    check_accessibility(page)
    page.go_back()
    start_process(DATABASE_URL=test_database_url)

    expect(page.get_by_text("A classifier that sees only looks")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Check again")).to_be_visible()
    check_accessibility(page)


def test_the_keyboard_alone_reaches_the_content(researcher_page: Page) -> None:
    page = researcher_page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    expect(page.get_by_role("link", name="All datasets")).to_be_focused()


def test_difficult_texts_break_nothing(researcher_page: Page, check_accessibility: CheckAccessibility) -> None:
    page = researcher_page
    dialog = Dialog.objects.get(external_id="empathetic-001")
    hard = Dialog.objects.create(
        dataset=dialog.dataset,
        external_id="hard:" + "x" * 190,
        turns=[
            "w" * 3000,
            "<img src=x onerror=alert(1)> & 'quotes'",
            "שלום עולם 👩‍👩‍👧‍👦",
            "https://example.org/" + "a/" * 300,
        ],
        gold="line\nbreak",
        context_key=0,
    )

    page.goto(f"/dialogs/{hard.pk}/")

    expect(page.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    check_accessibility(page)
    page.goto(f"/datasets/{hard.dataset_id}/?q=www")
    check_accessibility(page)


def test_a_missing_page_says_so_kindly(researcher_page: Page, check_accessibility: CheckAccessibility) -> None:
    page = researcher_page
    page.goto("/datasets/99999/")

    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")
    check_accessibility(page)
