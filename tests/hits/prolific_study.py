"""A study on the local Prolific, as tests of it need it: fixtures, and what they ask most."""

import io
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from hits.crowds import open_crowd
from hits.designing import create_study
from hits.models import Offering, Payment, offering_for
from hits.syncing import Synced, sync
from localprolific import misbehaving
from localprolific.behaviour import set_behaviour
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import now

PARTICIPANTS = {"name": "prolific", "countries": [], "min_approved": 0, "min_approval_percent": 0}
POUNDS = {"currency": "GBP", "reward": "1.50", "bonus": "0.10", "expected_minutes": 10}


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    misbehaving.clear_process_faults()


@pytest.fixture
def drafted(example_corpus: None, researcher: User, transactional_db: None) -> Offering:
    """A study whose HITs are built. Prolific does at once what it promises for later."""
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=0, bonus_payment_seconds=0)
    study = create_study({**DEMO, "crowd": PARTICIPANTS, "pay": POUNDS})
    study.owner = researcher
    study.save()
    snapshots.build(study)
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
    """Kind, cents and by what it was paid, of each line."""
    rows = Payment.objects.filter(submission__assignment__offering=offering).order_by("kind", "pk")
    return list(rows.values_list("kind", "cents", "paid_by"))


def bonus_of(offering: Offering) -> Payment:
    return Payment.objects.select_related("bonus_list").get(submission__assignment__offering=offering, kind="bonus")
