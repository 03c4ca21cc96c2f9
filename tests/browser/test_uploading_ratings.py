"""Ratings from elsewhere in real Chromium: uploaded, mapped, waited for and read, on a laptop and on a phone."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect
from pytest_django import Settings

from hits.models import RatingsUpload
from hits.tasks import analyse_ratings_upload
from tests.browser.conftest import PHONE, CheckAccessibility
from tests.browser.test_reading_results import open_folds

LINES = ["conv_id;who;system;fluency;empathy"] + [
    f"conversation {item};w{worker};{model};{1 + (item * worker) % 5};{1 + (item + worker + (model == 'ours')) % 5}"
    for item in range(12)
    for worker in range(4)
    for model in ("ours", "theirs")
]


def test_a_file_that_is_too_large_is_told_before_it_is_sent(
    researcher_page: Page, tmp_path: Path, settings: Settings
) -> None:
    settings.VAR_DIR, settings.UPLOAD_MB = tmp_path, 1
    (tmp_path / "large.csv").write_bytes(b"a,b\n" * 300_000)
    page = researcher_page
    page.get_by_role("link", name="Ratings", exact=True).click()

    page.get_by_label("The file").set_input_files(tmp_path / "large.csv")
    expect(page.get_by_role("alert")).to_contain_text("at most 1 MB")
    page.get_by_role("button", name="Upload it").click()
    expect(page.get_by_role("alert")).to_be_visible()

    # Without the script the server says so, on the same page.
    page.locator("#file").evaluate("input => input.form.submit()")
    expect(page.locator("#file-problem")).to_contain_text("at most 1 MB")


def test_a_researcher_analyses_a_file_of_another_tool(
    researcher_page: Page, check_accessibility: CheckAccessibility, tmp_path: Path, settings: Settings
) -> None:
    settings.VAR_DIR = tmp_path
    (tmp_path / "theirs.csv").write_text("\n".join(LINES))
    page = researcher_page
    page.get_by_role("link", name="Ratings", exact=True).click()
    check_accessibility(page)
    page.get_by_label("The file").set_input_files(tmp_path / "theirs.csv")
    page.get_by_role("button", name="Upload it").click()

    expect(page.get_by_label("Column of the item")).to_have_value("conv_id")
    expect(page.get_by_label("Column of the rater")).to_have_value("")
    check_accessibility(page)
    page.get_by_label("Or a pattern").fill("no_{worker}")
    page.get_by_role("button", name="Compute the results").click()
    expect(page.get_by_text("No column is named as")).to_be_visible()
    check_accessibility(page)
    page.get_by_label("Or a pattern").fill("")
    page.get_by_label("fluency", exact=True).check()
    page.get_by_label("empathy", exact=True).check()
    page.get_by_label("Column of the rater").select_option("who")
    page.get_by_role("button", name="Compute the results").click()
    expect(page.get_by_text("Computing the results: no background process runs.")).to_be_visible()

    # The page follows by itself, once a background process is done.
    analyse_ratings_upload(RatingsUpload.objects.get().pk)
    expect(page.get_by_role("heading", name="Fluency: Which model is better")).to_be_visible()
    page.get_by_role("navigation", name="Criterion").get_by_role("link", name="Empathy").click()
    expect(page.get_by_role("heading", name="Empathy: Which model is better")).to_be_visible()
    open_folds(page)
    expect(page.get_by_role("img", name=re.compile("How replies were rated")).first).to_be_visible()
    check_accessibility(page)
    page.set_viewport_size(PHONE["viewport"])
    page.emulate_media(color_scheme="dark")
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile(r"Download the bundle \(")).click()
    assert download.value.suggested_filename.endswith(".zip")

    page.get_by_role("button", name="Delete the file and its results").click()
    expect(page.get_by_text("theirs.csv and its results are deleted.")).to_be_visible()
