"""Who gets no more HITs: by the cap, or by a researcher's decision; on our page and on the marketplace."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalplatform.errors import EvalPlatformError
from hits.access import pseudonym
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Assignment, Event, Hit, Payment, Publication, Standing, Study, offering_for
from hits.publishing import Limited, block, limit_workers, unblock
from hits.syncing import sync as everything
from hits.syncing import troubles_of
from localturk import working
from localturk.clock import Clock
from localturk.models import TurkHit, WorkerAccount, WorkerBlock
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.working import Worker
from tests.pages import html_of


@pytest.fixture
def hits(example_corpus: None, market: MTurkMarket, researcher: User) -> list[Hit]:
    study = create_study({**DEMO, "crowd": {"max_hits_per_worker": 1}}, researcher)
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


def test_a_worker_whom_the_marketplace_does_not_know_stops_neither_the_others_nor_paying(
    hits: list[Hit], market: MTurkMarket, researcher_client: Client
) -> None:
    """Somebody opened our page with a made-up id, and a researcher blocked it."""
    alice, bruno = people()[:2]
    offering = offering_for(hits[0].study, "local")
    forged = {"crowd_assignment_id": "A1", "crowd_worker_id": "AMADEUP", "rotation": 0}
    Assignment.objects.create(hit=hits[1], offering=offering, opened_at=now(), held_at=now(), **forged)
    CrowdWorker(hits[0], alice).finish()
    for worker_id in ("AMADEUP", bruno.worker_id):
        block(offering, worker_id, "soft block", "Not a person.", None, now())

    synced = everything(offering, market, now)

    assert Payment.objects.exclude(paid_at=None).get().submission.assignment.crowd_worker_id == alice.worker_id
    assert (synced.limited.told, synced.limited.stopped_by) == (2, None)  # alice has reached the cap
    assert not may_accept(bruno, hits[1])
    refused = Standing.objects.exclude(refusal="").get()
    assert (refused.crowd_worker_id, refused.applied_at) == ("AMADEUP", None)
    assert f"keeping workers out or letting them in: 1 time: {refused.refusal}" in troubles_of(synced)
    monitor = html_of(researcher_client.get("/studies/demo/monitor/"))
    assert "The marketplace does not know of 1 decision about who gets no more HITs" in " ".join(monitor.split())
    worker = html_of(researcher_client.get(f"/studies/demo/workers/{pseudonym(offering.study, 'AMADEUP')}/"))
    assert "WorkerId" in worker
    unblock(offering, "AMADEUP", "Gone.", None, now())
    assert troubles_of(everything(offering, market, now)) == []


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_block_needs_a_reason(hits: list[Hit], reason: str) -> None:
    with pytest.raises(EvalPlatformError, match="reason"):
        block(offering_for(hits[0].study, "local"), "W1", "soft block", reason, None, now())


def _id(hit: Hit) -> str:
    return Publication.objects.get(hit=hit).crowd_hit_id
