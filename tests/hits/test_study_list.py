"""Tells what lists of studies say: how far each is, wherever it is offered."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hits.crowds.mturk.client import MTurkMarket
from hits.designing import copy_study
from hits.models import Offering, Study, offering_for
from hits.monitoring import listed_studies
from hits.syncing import sync
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.pages import html_of


@pytest.fixture(autouse=True)
def worked(demo_study: Study, market: MTurkMarket) -> None:
    """Two did a HIT, and a third one has just begun."""
    publish(demo_study, market)
    for who in (0, 1):
        CrowdWorker(demo_study.hits.get(number=0), people()[who]).finish("good")
    CrowdWorker(demo_study.hits.get(number=1), people()[2])
    sync(offering_for(demo_study, "local"), market, now)


def test_each_offering_of_a_study_has_its_own_line(demo_study: Study, researcher_client: Client) -> None:
    Offering.objects.create(study=demo_study, crowd="link", environment="open")  # asked about, never published
    [listed] = listed_studies([demo_study])

    [there] = listed.offered
    assert (there.marketplace, there.submitted, there.published, there.open_hits) == ("local", 2, 24, 6)
    for address in ("/", "/studies/"):
        page = " ".join(html_of(researcher_client.get(address)).split())
        assert "2 of 24 assignments, on offer" in page
        assert "/studies/demo/results/?market=local" in page


def test_drafts_are_said_to_be_designed(demo_study: Study, researcher_client: Client) -> None:
    copy_study(demo_study, "another", demo_study.owner)

    assert "being designed" in html_of(researcher_client.get("/studies/"))


def test_more_studies_take_no_more_queries(demo_study: Study) -> None:
    with CaptureQueriesContext(connection) as few:
        listed_studies(Study.objects.all())
    for number in range(5):
        offering_for(copy_study(demo_study, f"copy-{number}", demo_study.owner), "local")
    with CaptureQueriesContext(connection) as many:
        assert len(listed_studies(Study.objects.all())) == 6

    assert len(many) == len(few)
