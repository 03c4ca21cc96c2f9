"""Results in real Chromium: waited for, read, doubted, looked into; shared, and asked for by a program."""

import re

from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from hits.designing import create_study
from tests import snapshots
from tests.browser.conftest import CheckAccessibility
from tests.conftest import DEMO
from tests.hits.computed import compute, rate_and_screen


def open_folds(page: Page) -> None:
    closed = page.locator("details.fold:not([open]) > summary")
    while closed.count():
        closed.first.click()


def test_a_researcher_reads_the_results_of_a_study(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    study = create_study(DEMO, User.objects.get())
    snapshots.build(study)
    study.refresh_from_db()
    rate_and_screen(study)
    page.goto("/studies/demo/")
    page.get_by_role("link", name="Results", exact=True).click()
    expect(page.get_by_text("Computing the results: no background process runs.")).to_be_visible()

    # The page follows by itself, once a worker is done.
    compute(study)
    expect(page.locator("[data-answer]")).to_contain_text("listener-large ")
    expect(page.get_by_role("row", name=re.compile("^1 listener-large"))).to_be_visible()
    check_accessibility(page)

    # A link of the table of contents opens its fold, by keyboard too; the table of contents stays in sight.
    contents = page.get_by_role("navigation", name="On this page")
    if not contents.get_by_role("link", name="Which model is better").is_visible():
        contents.get_by_text("On this page").click()
    contents.get_by_role("link", name="Which model is better").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#comparisons")).to_have_attribute("open", "")
    expect(contents).to_be_in_viewport()
    page.locator("#comparisons details summary").first.click()
    expect(page.get_by_role("rowheader", name=re.compile("listener-large and parrot")).first).to_be_visible()
    open_folds(page)
    check_accessibility(page)

    page.goto("/studies/demo/results/#screening")
    expect(page.locator("#screening")).to_have_attribute("open", "")
    page.get_by_role("link", name="no rule").click()
    expect(page.get_by_text("Shown as if the screening were")).to_be_visible()
    page.locator("#dialogs > summary").click()
    page.get_by_role("link", name="Look at these dialogs").click()
    expect(page.get_by_text(re.compile("Page 1 of"))).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name=re.compile("^W-")).first.click()
    expect(page.get_by_role("heading", name="Dialog 10")).to_be_visible()


def test_the_answer_and_the_ranked_table_are_on_the_first_screen(researcher_page: Page) -> None:
    page = researcher_page
    study = create_study(DEMO, User.objects.get())
    snapshots.build(study)
    study.refresh_from_db()
    rate_and_screen(study)
    compute(study)

    # Three models on a laptop, the first two on a phone.
    for width, height, rows in ((1366, 768, 3), (390, 844, 2)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto("/studies/demo/results/")
        expect(page.locator(".answer-first")).to_be_in_viewport(ratio=1)
        for number in range(rows):
            expect(page.locator(".leaderboard tbody tr").nth(number)).to_be_in_viewport(ratio=1)

    for width in (768, 800, 900, 1000):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_researcher_makes_a_token_and_reads_about_the_api(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    page.get_by_role("link", name="rosa").click()
    page.get_by_label("What it is for").fill("notebook")
    page.get_by_role("button", name="Make it").click()
    token = page.get_by_label("The new token").inner_text()
    check_accessibility(page)
    answer = page.request.get("/api/studies/", headers={"Authorization": f"Token {token}"})
    assert answer.json() == {"next": None, "previous": None, "results": []}

    page.get_by_role("link", name="API", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("API")
    for summary in page.get_by_text("Fields of the answer").all():
        summary.click()
    expect(page.get_by_text("excluded_by")).to_be_visible()
    check_accessibility(page)
