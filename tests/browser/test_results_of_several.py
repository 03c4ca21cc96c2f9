"""The results page of several offerings in Chromium: how one gets there, and that everybody can read it."""

from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from hits.analysing import compute_results, find_pool
from hits.designing import create_study
from hits.models import offering_for
from tests import snapshots
from tests.browser.conftest import CheckAccessibility
from tests.conftest import DEMO
from tests.hits.offered_twice import MAIN, PEOPLE, offer_twice


def test_a_researcher_goes_from_one_offering_to_all_together(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    study = create_study(DEMO, User.objects.get())
    snapshots.build(study)
    study.refresh_from_db()
    offer_twice(study)
    compute_results(offering_for(study, MAIN), timezone.now)
    compute_results(find_pool(study, PEOPLE), timezone.now)

    researcher_page.goto(f"/studies/demo/results/?market={MAIN}")
    researcher_page.get_by_role("link", name="Together: people").click()

    expect(researcher_page.locator("[data-together]")).to_contain_text(
        "Put together here: link.live, prolific.production"
    )
    researcher_page.get_by_role("heading", name="By offering").click()
    expect(researcher_page.get_by_text("What each offering brought")).to_be_visible()
    expect(researcher_page.locator("[data-answer]")).to_contain_text("All 2 offerings together, which is exploratory: ")
    check_accessibility(researcher_page)
