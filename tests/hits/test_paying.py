"""Each reward and bonus exactly once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from evalplatform.errors import EvalPlatformError
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Hit, Payment, Study, Submission, offering_for
from hits.paying import Paid, approve_by_hand, pay, reject
from hits.paying.due_payments import record_dues
from hits.screening import screen
from localturk.clock import Clock
from localturk.models import Account, BonusPayment, TurkAssignment
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish


@pytest.fixture
def hit(demo_study: Study, market: MTurkMarket) -> Hit:
    publish(demo_study, market)
    return demo_study.hits.get(number=0)


def settle(study: Study, market: MTurkMarket) -> Paid:
    collect(offering_for(study, "local"), market, now())
    return pay(offering_for(study, "local"), market, now)


def on_the_marketplace() -> tuple[int, int]:
    approved = TurkAssignment.objects.filter(status="Approved").count()
    return approved, BonusPayment.objects.count()


def test_the_reward_is_paid_once_and_the_bonus_to_who_won_it(hit: Hit, market: MTurkMarket) -> None:
    winner = CrowdWorker(hit, people()[0])
    winner.win_all_bonuses()
    winner.finish()
    CrowdWorker(hit, people()[1]).finish()

    first, again = settle(hit.study, market), settle(hit.study, market)

    assert (first.rewards, first.bonuses, first.cents) == (2, 1, 2 * 48 + 12)
    assert again == Paid()
    assert on_the_marketplace() == (2, 1)
    assert BonusPayment.objects.get().assignment.assignment_id == winner.assignment_id
    assert Payment.objects.paid().cents() == 108


def test_what_a_killed_run_has_paid_is_found_even_after_the_tokens_life(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0])
    worker.win_all_bonuses()
    worker.finish()
    settle(hit.study, market)
    # As if the run had been killed between its calls and its notes.
    Payment.objects.update(paid_at=None, paid_by="")
    Submission.objects.update(status="Submitted")
    Clock().advance(timedelta(hours=25))

    again = pay(offering_for(hit.study, "local"), market, now)

    assert (again.rewards, again.bonuses, again.found) == (1, 1, 2)
    assert on_the_marketplace() == (1, 1)


def test_a_restored_database_pays_nothing_twice(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0])
    worker.win_all_bonuses()
    worker.finish()
    settle(hit.study, market)
    Payment.objects.all().delete()
    Submission.objects.get().ratings.all().delete()
    Submission.objects.all().delete()
    Clock().advance(timedelta(hours=25))

    again = settle(hit.study, market)

    assert (again.found, on_the_marketplace()) == (2, (1, 1))


def test_two_runs_at_once_pay_once(hit: Hit, market: MTurkMarket) -> None:
    for account in people()[:4]:
        worker = CrowdWorker(hit, account)
        worker.win_all_bonuses()
        worker.finish()
    collect(offering_for(hit.study, "local"), market, now())

    def run(_: int) -> None:
        try:
            pay(offering_for(hit.study, "local"), market, now)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(run, range(2)))
    pay(offering_for(hit.study, "local"), market, now)

    assert on_the_marketplace() == (4, 4)
    assert Payment.objects.owed().count() == 0


def test_too_little_money_stops_and_goes_on_later(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0])
    worker.win_all_bonuses()
    worker.finish()
    Account.objects.update(balance_cents=Account.objects.get().held_cents)

    short = settle(hit.study, market)

    assert short.rewards == 1
    assert "InsufficientFunds" in str(short.stopped_by)
    assert Payment.objects.owed().get().kind == "bonus"
    Account.objects.update(balance_cents=100_000)
    assert settle(hit.study, market).bonuses == 1


@pytest.mark.parametrize(
    ("approval", "hours", "rewards"), [("after a delay", 23, 0), ("after a delay", 25, 1), ("by hand", 25, 0)]
)
def test_approval_waits_as_the_study_says(
    example_corpus: None, market: MTurkMarket, approval: str, hours: int, rewards: int
) -> None:
    study = create_study({**DEMO, "pay": {"approval": approval}})
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market)
    CrowdWorker(study.hits.all()[0], people()[0]).finish()
    collect(offering_for(study, "local"), market, now())

    paid = pay(offering_for(study, "local"), market, lambda: now() + timedelta(hours=hours))

    assert paid.rewards == rewards
    if approval == "by hand":
        approve_by_hand(Submission.objects.all(), now())
        assert pay(offering_for(study, "local"), market, now).rewards == 1


def test_what_was_rejected_elsewhere_is_not_paid(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0]).finish()
    collect(offering_for(hit.study, "local"), market, now())
    market.reject(worker.assignment_id, "A mistake, soon put right.")

    paid = pay(offering_for(hit.study, "local"), market, now)

    assert (paid.rewards, on_the_marketplace()) == (0, (0, 0))
    assert Payment.objects.get().cancelled_at is not None


def test_rejecting_is_by_hand_with_a_reason_that_the_worker_reads(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0]).finish()
    CrowdWorker(hit, people()[1]).finish()
    collect(offering_for(hit.study, "local"), market, now())
    record_dues(offering_for(hit.study, "local"), now())
    submission = Submission.objects.get(assignment__crowd_assignment_id=worker.assignment_id)

    with pytest.raises(EvalPlatformError, match="Write a reason"):
        reject(submission, "  ", market, None, now())
    reject(submission, "All dialogs were left empty.", market, None, now())
    paid = pay(offering_for(hit.study, "local"), market, now)

    rejected = TurkAssignment.objects.get(assignment_id=worker.assignment_id)
    assert (rejected.status, rejected.requester_feedback) == ("Rejected", "All dialogs were left empty.")
    assert (paid.rewards, on_the_marketplace()) == (1, (1, 0))
    submission.refresh_from_db()
    assert (submission.status, submission.payments.get().paid_at) == ("Rejected", None)
    text = hit.study.events.get().text
    assert text.startswith("rejected the assignment of W-")
    assert text.endswith("on HIT 1: All dialogs were left empty.")


def test_what_is_approved_can_not_be_rejected_any_more(hit: Hit, market: MTurkMarket) -> None:
    CrowdWorker(hit, people()[0]).finish()
    settle(hit.study, market)

    with pytest.raises(EvalPlatformError, match="paid already"):
        reject(Submission.objects.get(), "Too late.", market, None, now())
    # Also when our own note of it was lost: the marketplace says no.
    Payment.objects.update(paid_at=None)
    with pytest.raises(EvalPlatformError, match="refused"):
        reject(Submission.objects.get(), "Too late.", market, None, now())
    assert Payment.objects.get().cancelled_at is None


def test_screening_leaves_out_and_pays_all_the_same(hit: Hit, market: MTurkMarket) -> None:
    CrowdWorker(hit, people()[0]).finish()
    collect(offering_for(hit.study, "local"), market, now())

    screened = screen(offering_for(hit.study, "local"), now())

    assert screened.run.exclusions.exists()
    assert settle(hit.study, market).rewards == 1
    assert not TurkAssignment.objects.filter(status="Rejected").exists()
