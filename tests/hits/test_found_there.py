"""What somebody did on the marketplace by hand is seen at the next sync, in the ledger as found, and not paid again."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from hits.crowds.mturk.client import MTurkMarket
from hits.models import Hit, Payment, Publication, Study, Submission, offering_for
from hits.monitoring import payments_of, sum_ledger
from hits.paying import approve_by_hand, reject
from hits.syncing import Synced, sync, unsettled_offerings
from localturk.models import BonusPayment, LedgerEntry, TurkAssignment
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.pages import html_of


@pytest.fixture
def hit(demo_study: Study, market: MTurkMarket) -> Hit:
    publish(demo_study, market)
    return demo_study.hits.get(number=0)


def settle(hit: Hit, market: MTurkMarket, **more: Any) -> Synced:
    hit.study.refresh_from_db()
    return sync(offering_for(hit.study, "local"), market, now, **more)


def lines() -> list[tuple[str, int, str]]:
    return list(Payment.objects.order_by("pk").values_list("kind", "cents", "paid_by"))


def is_even() -> bool:
    there = sum(one.amount_cents + one.fee_cents for one in LedgerEntry.objects.all())
    return there == Payment.objects.paid().cents()


def set_approval(study: Study, approval: str) -> None:
    Study.objects.filter(pk=study.pk).update(design={**study.design, "pay": {"approval": approval}})
    study.refresh_from_db()


def override(market: MTurkMarket, assignment_id: str) -> None:
    market._client.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)


@pytest.mark.parametrize("was_in_ledger", [False, True])
def test_a_rejection_that_is_overridden_there_is_found_paid_and_its_bonus_follows(
    hit: Hit, market: MTurkMarket, was_in_ledger: bool
) -> None:
    set_approval(hit.study, "by hand")
    worker = CrowdWorker(hit, people()[0])
    worker.win_all_bonuses()
    worker.finish()
    settle(hit, market)
    submission = Submission.objects.get()
    if was_in_ledger:
        approve_by_hand([submission], now())
    reject(submission, "A mistake, soon put right.", market, None, now())
    Publication.objects.update(closed_at=now())
    assert unsettled_offerings() == [(offering_for(hit.study, "local"))]  # for 30 days, a rejection may be taken back
    override(market, worker.assignment_id)

    settle(hit, market)
    again = settle(hit, market)

    assert lines() == [("reward", 40, "found there"), ("bonus", 10, "our call")]
    assert is_even()
    assert (again.paid.rewards, again.paid.bonuses) == (0, 0)
    assert TurkAssignment.objects.get().status == Submission.objects.get().status == "Approved"
    texts = hit.study.events.values_list("text", flat=True)
    assert any("was overridden on the marketplace" in text for text in texts)


def test_an_approval_made_there_is_found(hit: Hit, market: MTurkMarket, researcher_client: Client) -> None:
    worker = CrowdWorker(hit, people()[0]).finish()
    market.approve(worker.assignment_id)

    settle(hit, market)

    assert lines() == [("reward", 40, "found there")]
    assert is_even()
    page = html_of(researcher_client.get("/studies/demo/ledger/?state=found"))
    assert "1 line<" in page
    assert "found there" in page


def test_bonuses_given_there_are_found_once_and_count_as_spent(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0]).finish()
    settle(hit, market)
    market.send_bonus(worker.worker_id, worker.assignment_id, 50, "Thanks for your letter.", "one")
    market.send_bonus(worker.worker_id, worker.assignment_id, 50, "And for the second.", "two")

    first, again = settle(hit, market), settle(hit, market)

    assert (first.found_bonuses, again.found_bonuses) == (2, 0)
    assert lines() == [("reward", 40, "our call"), ("extra", 50, "found there"), ("extra", 50, "found there")]
    assert is_even()
    assert [(one.kind, one.paid_cents) for one in sum_ledger(offering_for(hit.study, "local"))][1] == ("extra", 120)
    assert payments_of(offering_for(hit.study, "local"), "found").count() == 2


@pytest.mark.parametrize("is_looked_for", [True, False])
def test_a_bonus_that_we_owe_and_somebody_has_given_is_not_paid_again(
    hit: Hit, market: MTurkMarket, is_looked_for: bool
) -> None:
    set_approval(hit.study, "by hand")
    worker = CrowdWorker(hit, people()[0])
    worker.win_all_bonuses()
    worker.finish()
    settle(hit, market)
    market.send_bonus(worker.worker_id, worker.assignment_id, 10, "You have won.", "by-hand")
    if is_looked_for:
        settle(hit, market)
    approve_by_hand(Submission.objects.all(), now())

    settle(hit, market, is_asked_for=is_looked_for)

    assert BonusPayment.objects.count() == 1
    assert sorted(lines()) == [("bonus", 10, "found there"), ("reward", 40, "our call")]
    assert is_even()
    assert settle(hit, market).found_bonuses == 0


def test_an_owed_bonus_that_is_given_by_hand_meanwhile_settles_the_debt(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0])
    worker.win_all_bonuses()
    worker.finish()
    settle(hit, market)
    market.send_bonus(worker.worker_id, worker.assignment_id, 10, "You have won.", "by-hand")
    BonusPayment.objects.earliest("pk").delete()  # as if our own had never been sent
    LedgerEntry.objects.filter(kind="Bonus").earliest("pk").delete()
    Payment.objects.filter(kind="bonus").update(paid_at=None, paid_by="", refusal="no funds")

    settle(hit, market)

    assert BonusPayment.objects.count() == 1
    assert lines() == [("reward", 40, "our call"), ("bonus", 10, "found there")]


def test_a_line_that_was_lost_with_the_database_comes_back_by_its_mark(hit: Hit, market: MTurkMarket) -> None:
    CrowdWorker(hit, people()[0]).finish()
    settle(hit, market)
    submission = Submission.objects.get()
    market.send_bonus(
        submission.assignment.crowd_worker_id,
        submission.assignment.crowd_assignment_id,
        25,
        "A top-up. [top-up]",
        "top-up-lost",
    )

    settle(hit, market)

    assert lines()[1] == ("top-up", 25, "found there")
    assert is_even()


def test_the_clock_looks_at_all_bonuses_once_an_hour(hit: Hit, market: MTurkMarket) -> None:
    worker = CrowdWorker(hit, people()[0]).finish()
    settle(hit, market, is_asked_for=False)
    market.send_bonus(worker.worker_id, worker.assignment_id, 50, "Thanks.", "one")

    assert settle(hit, market, is_asked_for=False).found_bonuses == 0
    later = sync(offering_for(hit.study, "local"), market, lambda: now() + timedelta(minutes=61), is_asked_for=False)

    assert later.found_bonuses == 1
