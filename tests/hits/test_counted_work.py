"""Which work fills a place and counts towards a worker's limit: one rule, in SQL and in Django's own queries."""

from datetime import timedelta
from itertools import product

import pytest
from django.utils import timezone

from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.models import Assignment, Hit, Offering, Study, offering_for
from hits.serving.statements import confirmed_of_hits, work_of_worker
from tests.hits.working import Worker, publish

LIMIT = timedelta(minutes=60)


@pytest.fixture
def hit(demo_study: Study) -> Hit:
    publish(demo_study)
    return demo_study.hits.get(number=0)


@pytest.fixture
def offering(hit: Hit) -> Offering:
    return offering_for(hit.study, "local")


def counts(hit: Hit, offering: Offering, worker_id: str = "WORKER1") -> tuple[int, int, int]:
    """How much of a worker's confirmed work counts: by rows, by HIT and by worker."""
    held_after = timezone.now() - LIMIT
    rows = Assignment.objects.confirmed().in_hand_or_handed_in(held_after).filter(crowd_worker_id=worker_id)
    of_worker = [counts for _, counts in work_of_worker(offering, worker_id, "", held_after) if counts]
    return rows.count(), len(confirmed_of_hits(offering, [hit.pk], held_after)), len(of_worker)


def test_work_that_a_worker_holds_again_after_its_time_counts_again(
    hit: Hit, offering: Offering, market: MTurkMarket
) -> None:
    worker = Worker(hit).open()
    long_ago = timezone.now() - LIMIT - timedelta(minutes=10)
    Assignment.objects.update(held_at=long_ago, confirmed_at=long_ago)
    collect(offering, market, timezone.now())
    assert (worker.assignment.ended_as, counts(hit, offering)) == ("given up", (0, 0, 0))

    worker.open(**{"held-again": "1"})

    assert (worker.assignment.ended_as, worker.assignment.ended_at) == ("", None)
    assert counts(hit, offering) == (1, 1, 1)
    assert worker.submit().status_code == 200
    assert counts(hit, offering) == (1, 1, 1)


def test_rows_and_statements_count_the_same_work_in_every_state(hit: Hit, offering: Offering) -> None:
    now = timezone.now()
    states = list(product((None, now), (None, now), (now, now - 2 * LIMIT), ("", *Assignment.Ending.values)))
    for number, (submitted_at, taken_over_at, held_at, ended_as) in enumerate(states):
        Assignment.objects.create(
            hit=hit,
            offering=offering,
            crowd_assignment_id=f"A{number}",
            crowd_worker_id=f"W{number}",
            rotation=0,
            opened_at=held_at,
            held_at=held_at,
            confirmed_at=now,
            submitted_at=submitted_at,
            taken_over_at=taken_over_at,
            ended_as=ended_as,
        )

    held_after = now - LIMIT
    rows = set(Assignment.objects.in_hand_or_handed_in(held_after).values_list("crowd_worker_id", flat=True))
    of_workers = {
        f"W{n}" for n in range(len(states)) if any(c for _, c in work_of_worker(offering, f"W{n}", "", held_after))
    }

    expected = {
        f"W{number}"
        for number, (submitted_at, taken_over_at, held_at, ended_as) in enumerate(states)
        if not ended_as and (submitted_at or (not taken_over_at and held_at == now))
    }
    assert rows == of_workers == expected
    assert len(confirmed_of_hits(offering, [hit.pk], held_after)) == len(expected) == 5
