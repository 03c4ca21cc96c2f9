"""Someone who knows a worker's ids and has a token of their page from before it was handed in: they read nothing of the
work, and what they send is not taken for it."""

import json
from typing import Any

import pytest
from django.utils import timezone

from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.models import Assignment, BonusCheck, Hit, Rating, Study, Submission, offering_for
from tests.attacks.test_forged_visits import ELSEWHERE, MTurkWorker, on_mturk
from tests.hits import crowd
from tests.hits.crowd import CrowdWorker, people
from tests.hits.working import Worker

LATER = "Your bonus points are counted when the marketplace has confirmed your work."


@pytest.fixture
def hit(demo_study: Study, market: MTurkMarket) -> Hit:
    crowd.publish(demo_study, market, 1)
    return demo_study.hits.get(number=0)


def test_a_token_of_before_reads_nothing_of_what_was_handed_in(example_corpus: None) -> None:
    alice = MTurkWorker(on_mturk()[0], "ALICE", "REAL").open()
    spy = MTurkWorker(alice.hit, "ALICE", "REAL", ELSEWHERE).open()
    position = alice.checkpoint()
    alice.check(position, alice.all_in(position, "okay"))
    code = alice.submit(alice.open().everything(), "My name is Alice").json()["code"]
    Assignment.objects.update(confirmed_at=timezone.now())

    nothing = spy.submit([]).json()
    invented = spy.submit(spy.everything("bad"), "Mine").json()

    bare = {"assignmentId": "REAL", "completionCode": code}
    assert (nothing["fields"], nothing["points"]) == (bare, LATER)
    copy = json.loads(invented["fields"]["answers"])
    assert (invented["points"], copy["feedback"]) == (LATER, "Mine")
    assert [one["areas"] for one in copy["dialogs"]] == [one["areas"] for one in spy.everything("bad")]
    assert not any(one["checks"] for one in copy["dialogs"])
    assert spy.save(0, {}).json()["code"] == "already-submitted"


def test_rubbish_that_a_spy_submits_first_is_not_taken_for_the_worker_s_answers(hit: Hit, market: MTurkMarket) -> None:
    alice = CrowdWorker(hit, people()[0])
    position = alice.checkpoint()
    alice.check(position, alice.all_in(position, "good"))
    spy = _same_ids(alice)
    assert spy.submit(spy.everything("bad"), "Ha!").status_code == 200

    told = alice.submit(alice.everything("good"), "Thanks").json()
    alice.hand_in(told["fields"])  # which only the worker can: it takes being signed in on the marketplace
    collect(offering_for(hit.study, "local"), market, crowd.now())

    assert told["points"] == LATER  # not those of the rubbish
    assert set(Rating.objects.values_list("value", flat=True)) == {"good"}
    assert alice.assignment.feedback == "Thanks"
    assert Submission.objects.get().problem == ""
    assert BonusCheck.objects.count() == 1


def test_rubbish_that_a_spy_submits_afterwards_changes_nothing(hit: Hit, market: MTurkMarket) -> None:
    alice = CrowdWorker(hit, people()[0])
    spy = _same_ids(alice)
    told = alice.submit(alice.everything("good")).json()
    spy.submit(spy.everything("bad"))

    # Even if only the completion code gets through.
    alice.hand_in({name: told["fields"][name] for name in ("assignmentId", "completionCode")})
    collect(offering_for(hit.study, "local"), market, crowd.now())

    assert set(Rating.objects.values_list("value", flat=True)) == {"good"}
    assert not Submission.objects.get().is_rebuilt


def test_who_has_given_a_hit_back_can_t_submit_it(hit: Hit) -> None:
    worker = CrowdWorker(hit, people()[0])
    worker.give_back()

    refused: Any = worker.submit()

    assert (refused.status_code, refused.json()["code"]) == (403, "not-held")
    assert worker.assignment.submitted_at is None


def _same_ids(worker: CrowdWorker) -> Worker:
    return Worker(worker.hit, worker.worker_id, worker.assignment_id).open(hitId=worker.crowd_hit_id)
