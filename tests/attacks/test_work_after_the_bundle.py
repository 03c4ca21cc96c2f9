"""A worker who has read the bundle knows the card orders: no more are asked for without a person's word."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from hits.budgeting import reveal_secret
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Study, Submission, offering_for
from hits.paying import reject
from hits.syncing import sync, unsettled_offerings
from localturk.models import TurkHit
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.pages import html_of


@pytest.fixture
def revealed(example_corpus: None, market: MTurkMarket) -> Study:
    """It replaces at each sync. Its one HIT is done, its orders are public, and then an assignment is rejected."""
    study = create_study({**DEMO, "hits": {"replacements": "at each sync"}, "pay": {"approval": "by hand"}})
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market, 1)
    for one in people()[:4]:
        CrowdWorker(study.hits.get(number=0), one).finish()
    sync(offering_for(study, "local"), market, now)
    assert reveal_secret(study, now())
    reject(Submission.objects.earliest("pk"), "It was empty.", market, None, now())
    return study


def test_no_sync_brings_workers_to_a_study_whose_orders_are_public_and_says_so_once(
    revealed: Study, market: MTurkMarket, admin_client: Client
) -> None:
    for _ in range(3):
        assert sync(offering_for(revealed, "local"), market, now).replaced is None

    assert TurkHit.objects.get().max_assignments == 4
    assert revealed.events.filter(text__startswith="syncs no longer request replacements").count() == 1
    page = html_of(admin_client.get("/studies/demo/monitor/"))
    assert "Syncs don't request replacements any more, since the card orders are public" in page
    assert "syncs no longer request replacements" in page
    Submission.objects.filter(status="Submitted").update(status="Approved")
    Submission.objects.filter(status="Rejected").update(submitted_at="2026-01-01T00:00Z")
    assert unsettled_offerings() == []  # no sync by the clock comes back for what it may not do


def test_a_person_brings_them_who_says_that_it_is_meant(revealed: Study, market: MTurkMarket) -> None:
    for command in ("replace_assignments", "put_up_again"):
        with pytest.raises(CommandError, match="add --orders-are-public"):
            call_command(command, "demo", stdout=StringIO())
    assert TurkHit.objects.get().max_assignments == 4

    call_command("replace_assignments", "demo", "--orders-are-public", stdout=StringIO())

    assert TurkHit.objects.get().max_assignments == 5
