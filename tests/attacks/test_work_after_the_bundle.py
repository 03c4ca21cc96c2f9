"""A worker who has read the bundle knows the card orders: no more are asked for without a person's word."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from hits.budgeting import AFTER_THE_ORDERS, reveal_secret, waiting_for_decision
from hits.crowds import open_crowd
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Assignment, Offering, OpenLink, Study, Submission, offering_for
from hits.paying import approve_by_hand, reject
from hits.publishing import stop_study
from hits.syncing import sync, unsettled_offerings
from localturk.models import TurkHit
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.test_links import Visitor, collected, link, offering
from tests.pages import html_of

__all__ = ["link", "offering"]


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


def test_work_in_hand_when_the_orders_became_public_waits_for_a_person_and_wins_no_bonus(
    offering: Offering, link: OpenLink
) -> None:
    """By a link, whoever has lost the place may hand in for ever; from the bundle, they know the human replies."""
    late = Visitor(link).agree()
    Assignment.objects.update(held_at=now() - timedelta(days=1))
    Visitor(link).agree().submit()
    stop_study(offering, open_crowd(offering), now)
    collected(offering)
    assert reveal_secret(offering.study, now())

    late.submit()  # now with the orders at hand
    collected(offering)

    done = Submission.objects.get(assignment=Assignment.objects.earliest("pk"))
    assert waiting_for_decision(offering) == {done.pk: AFTER_THE_ORDERS}
    assert not done.ratings.exists()
    assert not done.payments.exists()
    approve_by_hand([done], now())
    collected(offering)
    assert list(done.payments.values_list("kind", flat=True)) == ["reward"]
