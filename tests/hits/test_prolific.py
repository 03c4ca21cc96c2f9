"""A study on Prolific, from its draft to paid bonuses, against the Prolific that runs here."""

import io
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from hits.batching import build_hits
from hits.crowds import open_crowd
from hits.designing import create_study
from hits.models import Offering, Payment, offering_for
from hits.syncing import Synced, sync
from localprolific import misbehaving
from localprolific.behaviour import set_behaviour
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.prolific_people import Rater, study_there

PARTICIPANTS = {"name": "prolific", "countries": [], "min_approved": 0, "min_approval_percent": 0}
POUNDS = {"currency": "GBP", "reward": "1.50", "bonus": "0.10", "expected_minutes": 10}


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    misbehaving.clear_process_faults()


@pytest.fixture
def drafted(example_corpus: None, researcher: User, transactional_db: None) -> Offering:
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=0, bonus_payment_seconds=0)
    study = create_study({**DEMO, "crowd": PARTICIPANTS, "pay": POUNDS})
    study.owner = researcher
    study.save()
    build_hits(study)
    study.refresh_from_db()
    return offering_for(study, "prolific.local")


@pytest.fixture
def offering(drafted: Offering) -> Offering:
    run("publish_hits", "--hits", "2")
    return drafted


def run(command: str, *words: str) -> str:
    out = io.StringIO()
    call_command(command, "demo", "--crowd", "prolific", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def sync_now(offering: Offering) -> Synced:
    return sync(offering, open_crowd(offering), now)


def ledger(offering: Offering) -> list[tuple[str, int, str]]:
    rows = Payment.objects.filter(submission__assignment__offering=offering).order_by("kind", "pk")
    return list(rows.values_list("kind", "cents", "paid_by"))


def test_a_study_is_published_worked_on_and_paid(offering: Offering) -> None:
    there = study_there(offering)
    rater = Rater(offering)
    rater.finish()

    first = sync_now(offering)
    second = sync_now(offering)

    assert (there.status, there.total_available_places, there.reward_cents) == ("ACTIVE", 8, 150)
    assert first.collected.new == 1
    assert ledger(offering) == [("bonus", 10, "our call"), ("reward", 150, "our call")]
    assert rater.paid_cents == [150, 10]
    assert second.paid.bonuses + first.paid.bonuses + first.found_bonuses + second.found_bonuses == 1
