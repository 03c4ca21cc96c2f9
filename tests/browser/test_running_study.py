"""A running study's pages in real Chromium: watched, looked into, decided on."""

import re
from datetime import timedelta

from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from hits.access import pseudonym
from hits.crowds.mturk.crowd import connect
from hits.designing import create_study, read_study_file
from hits.models import Publication, Study, offering_for
from hits.tasks import screen_work_of_offering, sync_hits_of_offering
from tests import snapshots
from tests.browser.conftest import CheckAccessibility
from tests.conftest import ROOT
from tests.hits.crowd import CrowdWorker, people, publish

DEMO = read_study_file(ROOT / "examples" / "demo.toml")


def work(study: Study, who: int, area: str) -> str:
    """As which pseudonym."""
    account = people()[who]
    worker = CrowdWorker(study.hits.get(number=0), account)
    worker.win_all_bonuses()
    worker.finish(area)
    worker.took(timedelta(minutes=10))
    return pseudonym(study, account.worker_id)


def test_a_researcher_watches_a_study_and_looks_into_a_workers_answers(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    study = create_study({**DEMO, "pay": {"approval": "by hand", "budget": "100.00"}}, User.objects.get())
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, connect())
    name = work(study, 0, "good")
    work(study, 1, "bad")
    page.goto("/studies/demo/")
    page.get_by_role("link", name="Monitor", exact=True).click()

    # The numbers follow by themselves, once a worker has done what was asked for.
    page.get_by_role("button", name="Sync now").click()
    expect(page.get_by_text("Requested.")).to_be_visible()
    sync_hits_of_offering(offering_for(study, "local").pk)
    screen_work_of_offering(offering_for(study, "local").pk)
    expect(page.get_by_text("10.0 minutes")).to_be_visible(timeout=15_000)
    expect(page.get_by_role("img", name=re.compile("^2 submissions from"))).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("left out: same answer"))).to_be_visible(timeout=15_000)
    page.get_by_role("link", name="A top-up").click()
    page.get_by_role("button", name="Show what it costs").click()
    expect(page.get_by_role("button", name="Confirm the top-up of $1.96")).to_be_visible()
    check_accessibility(page)

    page.get_by_role("link", name="Workers", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Workers")
    check_accessibility(page)
    page.get_by_role("link", name=name).click()
    page.get_by_label("Why (for whoever looks at it later)").fill("All the same.")
    page.get_by_role("button", name="Block softly").click()
    expect(page.get_by_role("button", name="Unblock")).to_be_visible()
    page.get_by_role("button", name="Show the worker's id").click()
    expect(page.get_by_text(people()[0].worker_id)).to_be_visible()
    check_accessibility(page)

    page.get_by_role("link", name="Assignments", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Assignments")
    check_accessibility(page)
    page.get_by_role("link", name=re.compile("^HIT 1")).first.click()
    expect(page.get_by_role("heading", name="Dialog 10")).to_be_visible()
    page.get_by_text("Reject it instead").click()
    expect(page.get_by_label("The reason, which the worker reads")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("1 assignment is approved")).to_be_visible()

    page.get_by_role("link", name="Ledger", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ledger")
    check_accessibility(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert ",reward," in download.value.path().read_text()
    page.get_by_role("link", name="Events", exact=True).click()
    expect(page.get_by_text(f"soft block of {name}: All the same.")).to_be_visible()
    check_accessibility(page)


def test_a_researcher_decides_about_empty_work_and_puts_a_deleted_hit_up_again(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page, market = researcher_page, connect()
    study = create_study({**DEMO, "pay": {"budget": "100.00"}}, User.objects.get())
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market)
    for account in people()[:2]:
        CrowdWorker(study.hits.get(number=0), account).hand_in({})
    deleted = Publication.objects.get(hit__number=1).crowd_hit_id
    market.expire_hit(deleted)
    market._client.delete_hit(HITId=deleted)
    sync_hits_of_offering(offering_for(study, "local").pk)
    page.goto("/studies/demo/monitor/")

    expect(page.get_by_text("2 submissions wait for your decision")).to_be_visible()
    expect(page.get_by_text("1 HIT was deleted on the marketplace").first).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Decide").click()
    expect(page.get_by_role("heading", name="Waiting for your decision")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name=re.compile("^HIT 1")).first.click()
    expect(page.get_by_text("If nobody decides, the marketplace approves and pays it on")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("1 assignment is approved")).to_be_visible()

    page.goto("/studies/demo/monitor/")
    expect(page.get_by_text("1 submission waits for your decision")).to_be_visible()
    page.get_by_role("button", name="Put 1 deleted HIT up again").click()
    expect(page.get_by_text("They are put up again in the background.")).to_be_visible()
