"""What the marketplace confirms becomes submissions and ratings, completely and once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from hits.collecting import Collected, collect
from hits.crowds.mturk.client import MTurkMarket
from hits.models import Answer, Assignment, BonusCheck, Hit, Rating, Study, Submission, offering_for
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.working import Worker

Ending = Assignment.Ending


@pytest.fixture
def hit(demo_study: Study, market: MTurkMarket) -> Hit:
    publish(demo_study, market)
    return demo_study.hits.get(number=0)


def run(hit: Hit, market: MTurkMarket, hours_later: float = 0) -> Collected:
    return collect(offering_for(hit.study, "local"), market, now() + timedelta(hours=hours_later))


def test_a_confirmed_submission_becomes_a_rating_for_each_reply(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0]).finish("bad")

    assert run(hit, market).new == 1

    submission = Submission.objects.get()
    assert (submission.assignment, submission.status, submission.problem) == (worker.assignment, "Submitted", "")
    ratings = Rating.objects.select_related("item")
    assert {rating.value for rating in ratings} == {"bad"}
    by_item = Counter(rating.item.position for rating in ratings)
    assert by_item == {item.position: 4 + item.is_checkpoint for item in hit.items.all()}
    assert ratings.filter(candidate=None).count() == 3


def test_a_card_of_several_models_counts_for_each_of_them(demo_study: Study, market: MTurkMarket) -> None:
    publish(demo_study, market)
    hit = demo_study.hits.get(items__dialog__external_id="emotional-017")
    CrowdWorker(hit, people()[0]).finish()

    run(hit, market)

    merged = Rating.objects.filter(item__dialog__external_id="emotional-017")
    assert merged.values("candidate").distinct().count() == 4
    assert merged.values("card").distinct().count() == 3


def test_again_or_twice_at_once_changes_nothing(hit: Hit, market: MTurkMarket) -> None:
    for account in people()[:3]:
        CrowdWorker(hit, account).finish()

    def run_in_thread(_: int) -> int:
        try:
            return run(hit, market).new
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        assert sum(threads.map(run_in_thread, range(2))) == 3

    assert run(hit, market) == Collected()
    assert Rating.objects.count() == 3 * 43


def test_a_page_visit_without_a_confirmed_submission_never_counts(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0])
    worker.submit()
    forger = Worker(hit, "FORGER", "GUESSED")
    forger.visit(hitId=worker.crowd_hit_id)

    assert run(hit, market).new == 0
    assert run(hit, market, hours_later=2).ended == 1
    endings = dict(Assignment.objects.values_list("crowd_worker_id", "ended_as"))
    assert endings == {worker.worker_id: Ending.UNCONFIRMED}  # the forger was refused: the marketplace was asked
    assert Rating.objects.count() == 0


def test_a_late_confirmation_undoes_the_ending(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0])
    fields = worker.submit().json()["fields"]
    run(hit, market, hours_later=2)

    worker.hand_in(fields)

    assert run(hit, market).new == 1
    assert worker.assignment.ended_as == ""


def test_answers_that_we_lost_come_back_from_the_marketplace(hit: Hit, market: MTurkMarket) -> None:
    CrowdWorker(hit, people()[0]).finish("good")
    worker = CrowdWorker(hit, people()[1])
    worker.save(2, {"0": "bad"}, active_ms=4321, moves=[[17, 0, "bad"]])
    worker.open()
    worker.win_all_bonuses()
    worker.finish("okay")
    before = _everything_about(worker)
    Answer.objects.all().delete()
    BonusCheck.objects.all().delete()
    Assignment.objects.all().delete()

    collected = run(hit, market)

    assert (collected.new, collected.rebuilt, collected.without_answers) == (2, 2, 0)
    assert _everything_about(worker) == before
    assert Rating.objects.filter(submission__assignment=worker.assignment, value="okay").count() == 43


def test_a_form_of_before_a_restore_counts_in_its_own_order_though_the_page_was_opened_again(
    hit: Hit, market: MTurkMarket
) -> None:
    CrowdWorker(hit, people()[0])
    worker = CrowdWorker(hit, people()[1])
    position = worker.checkpoint()
    worker.check(position, {**worker.all_in(position, "bad"), "0": "good"})
    dialogs = worker.open().everything("bad")
    for dialog in dialogs:
        dialog["areas"]["0"] = "good"
    fields = worker.submit(dialogs).json()["fields"]
    before = _everything_about(worker)
    for table in (BonusCheck, Answer, Assignment):
        table.objects.all().delete()

    worker.open()  # the first to come now, so that its cards stand in another order
    worker.check(position, worker.all_in(position, "okay"))
    assert worker.assignment.rotation != before[0]
    worker.hand_in(fields)
    assert run(hit, market).rebuilt == 1

    rotation, answers, checks = _everything_about(worker)
    assert [rotation, answers] == before[:2]
    assert checks[0] == before[2][0]  # the check that was made after the restore stays, too
    assert len(checks) == 2


def _everything_about(worker: CrowdWorker) -> list[Any]:
    fields = ("item", "card_order", "value", "active_ms", "hidden_ms", "moves", "problem")
    answers = Answer.objects.filter(assignment=worker.assignment).order_by("item").values_list(*fields)
    checks = BonusCheck.objects.filter(assignment=worker.assignment).order_by("item", "attempt")
    return [
        worker.assignment.rotation,
        list(answers),
        list(checks.values_list("item", "attempt", "value", "is_passed")),
    ]


def test_a_copy_that_is_not_ours_is_not_believed(hit: Hit, market: MTurkMarket) -> None:
    first = CrowdWorker(hit, people()[0])
    stolen = first.submit(first.everything("good")).json()["fields"]
    forger = CrowdWorker(hit, people()[1])
    forger.hand_in(stolen)

    collected = run(hit, market)

    assert (collected.new, collected.without_answers) == (1, 1)
    assert "can't take for this worker's" in Submission.objects.get().problem
    assert Rating.objects.count() == 0


def test_what_could_not_be_read_under_another_key_comes_back_with_the_old_one(
    hit: Hit, market: MTurkMarket, settings: Settings
) -> None:
    worker = CrowdWorker(hit, people()[0]).finish("okay")
    empty = CrowdWorker(hit, people()[1])
    empty.hand_in({"answers": "none", "signature": "none"})
    for table in (Answer, BonusCheck, Assignment):  # as after a restore
        table.objects.all().delete()
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another machine's, which made one of its own when it started"

    lost = run(hit, market)
    still_lost = run(hit, market)
    settings.SECRET_KEY_FALLBACKS = [old]
    found = run(hit, market)
    again = run(hit, market)

    assert [(one.new, one.rebuilt) for one in (lost, still_lost, found, again)] == [(2, 0), (0, 0), (0, 1), (0, 0)]
    submission = Submission.objects.get(assignment=worker.assignment)
    assert (submission.problem, submission.is_rebuilt) == ("", True)
    assert worker.assignment.submitted_at is not None
    assert Rating.objects.filter(submission=submission).count() == Rating.objects.count() == 43
    assert "can't take for this worker's" in Submission.objects.get(assignment=empty.assignment).problem


def test_an_assignment_that_changed_hands_counts_for_who_handed_it_in(hit: Hit, market: MTurkMarket) -> None:
    first = CrowdWorker(hit, people()[0])
    first.save(0, first.all_in(0, "good"))
    first.give_back()
    second = CrowdWorker(hit, people()[1]).finish("bad")
    assert first.assignment_id == second.assignment_id

    run(hit, market)

    assert Submission.objects.get().assignment == second.assignment
    assert first.assignment.ended_as == Ending.TAKEN_OVER
    assert set(Rating.objects.values_list("value", flat=True)) == {"bad"}


def test_an_approval_that_happened_elsewhere_is_heard_of(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0]).finish()
    run(hit, market)
    market.approve(worker.assignment_id)

    assert run(hit, market).changed == 1
    assert Submission.objects.get().status == "Approved"
