"""Who gets no more HITs: by the cap, or by a researcher's decision; on our page and on the marketplace."""

import pytest

from evalplatform.errors import EvalPlatformError
from hits.access import pseudonym
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Event, Hit, Publication, Standing, Study, offering_for
from hits.publishing import Limited, block, limit_workers, unblock
from localturk import working
from localturk.clock import Clock
from localturk.models import TurkHit, WorkerAccount, WorkerBlock
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.working import Worker


@pytest.fixture
def hits(example_corpus: None, market: MTurkMarket) -> list[Hit]:
    study = create_study({**DEMO, "crowd": {"max_hits_per_worker": 1}})
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market)
    return list(study.hits.all())


def sync(study: Study, market: MTurkMarket) -> Limited:
    collect(offering_for(study, "local"), market, now())
    return limit_workers(offering_for(study, "local"), market, now())


def may_accept(account: WorkerAccount, hit: Hit) -> bool:
    crowd_hit_id = Publication.objects.get(hit=hit).crowd_hit_id
    turk_hit = TurkHit.objects.get(hit_id=crowd_hit_id)
    return working.can_accept(account, turk_hit, Clock().now()) is None


def test_who_has_done_enough_sees_no_more_within_one_sync(hits: list[Hit], market: MTurkMarket) -> None:
    alice, bruno = people()[:2]
    CrowdWorker(hits[0], alice).finish()
    assert may_accept(alice, hits[1])
    accepted = working.accept(alice, TurkHit.objects.get(hit_id=_id(hits[1])), Clock().now())

    assert sync(hits[0].study, market) == Limited(capped=1, told=1)

    assert not may_accept(alice, hits[2])
    assert may_accept(bruno, hits[2])
    assert (
        Worker(hits[1], alice.worker_id, accepted.assignment_id).visit(hitId=_id(hits[1])).context["code"]
        == "limit-reached"
    )
    assert sync(hits[0].study, market) == Limited()


def test_a_soft_block_keeps_a_worker_away_and_can_be_lifted(hits: list[Hit], market: MTurkMarket) -> None:
    alice, study = people()[0], hits[0].study
    accepted = working.accept(alice, TurkHit.objects.get(hit_id=_id(hits[1])), Clock().now())
    block(offering_for(study, "local"), alice.worker_id, "soft block", "Answers at random.", None, now())
    visited = Worker(hits[1], alice.worker_id, accepted.assignment_id).visit(hitId=_id(hits[1]))
    assert visited.context["code"] == "stopped"
    sync(study, market)
    assert not may_accept(alice, hits[0])

    unblock(offering_for(study, "local"), alice.worker_id, "A misunderstanding.", None, now())
    sync(study, market)

    assert may_accept(alice, hits[0])
    assert not WorkerBlock.objects.exists()
    name = pseudonym(study, alice.worker_id)
    assert [event.text for event in Event.objects.order_by("pk")] == [
        f"soft block of {name}: Answers at random.",
        f"unblocked {name}: A misunderstanding.",
    ]


def test_a_hard_block_is_made_only_when_asked_for(hits: list[Hit], market: MTurkMarket) -> None:
    alice, study = people()[0], hits[0].study
    block(offering_for(study, "local"), alice.worker_id, "hard block", "Threatens us.", None, now())
    block(offering_for(study, "local"), alice.worker_id, "hard block", "Threatens us.", None, now())

    sync(study, market)

    assert WorkerBlock.objects.get().worker == alice
    unblock(offering_for(study, "local"), alice.worker_id, "Has apologised.", None, now())
    sync(study, market)
    assert not WorkerBlock.objects.exists()


def test_a_run_that_was_killed_after_its_call_tells_again_without_harm(hits: list[Hit], market: MTurkMarket) -> None:
    alice, study = people()[0], hits[0].study
    block(offering_for(study, "local"), alice.worker_id, "soft block", "Answers at random.", None, now())
    sync(study, market)
    Standing.objects.update(applied_at=None)

    assert sync(study, market).told == 1
    assert not may_accept(alice, hits[0])


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_block_needs_a_reason(hits: list[Hit], reason: str) -> None:
    with pytest.raises(EvalPlatformError, match="reason"):
        block(offering_for(hits[0].study, "local"), "W1", "soft block", reason, None, now())


def _id(hit: Hit) -> str:
    return Publication.objects.get(hit=hit).crowd_hit_id
