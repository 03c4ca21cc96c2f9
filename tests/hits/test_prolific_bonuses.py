"""Bonuses on Prolific, which pays a list again whenever it is asked: ordered once, whatever happens in between."""

import copy
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import pytest

from hits.crowds import BonusToPay, open_crowd
from hits.crowds.prolific.money_lock import money_lock
from hits.crowds.prolific.prolific_market import ProlificMarket
from hits.models import BonusList, Offering, Payment, Submission
from hits.monitoring import payment_state
from hits.paying.bulk_payments import ASKED_ELSEWHERE
from hits.syncing import sync
from localprolific import misbehaving
from localprolific.behaviour import set_behaviour
from localprolific.models import BonusOrder, PaidBonus, WalletEntry, Workspace
from localprolific.panel_clock import Clock
from tests.hits.crowd import now
from tests.hits.prolific_people import Rater
from tests.hits.prolific_study import bonus_of, drafted, ledger, no_faults, offering, sync_now

__all__ = ["drafted", "no_faults", "offering"]

LATE = {"publishing_seconds": 0.0, "bulk_approval_seconds": 0.0, "bonus_payment_seconds": 600.0}


class Killed(BaseException):
    """Stands for SIGKILL: nothing of ours may catch it."""


class KilledMarket(ProlificMarket):
    """A market in whose process ends just before or just after one of its calls."""

    step = ""
    is_after = False

    @classmethod
    def of(cls, offering: Offering, step: str, is_after: bool) -> "KilledMarket":
        market = copy.copy(open_crowd(offering))
        assert isinstance(market, ProlificMarket)
        market.__class__ = cls
        assert isinstance(market, KilledMarket)
        market.step, market.is_after = step, is_after
        return market

    def _around(self, step: str, act: Callable[[], None]) -> None:
        if self.step == step and not self.is_after:
            raise Killed
        act()
        if self.step == step:
            raise Killed

    def note_asking(self, bonuses: Sequence[BonusToPay]) -> None:
        self._around("note", lambda: ProlificMarket.note_asking(self, bonuses))

    def pay_bonus_list(self, list_id: str) -> None:
        self._around("pay", lambda: ProlificMarket.pay_bonus_list(self, list_id))


def paid_bonuses() -> int:
    return PaidBonus.objects.count()


def days_later() -> datetime:
    return now() + timedelta(days=2)


@pytest.mark.parametrize(
    ("step", "is_after", "needs_person"),
    [("note", False, False), ("note", True, True), ("pay", False, True), ("pay", True, False)],
    ids=["before its note", "before its claim", "before the order", "before the answer"],
)
def test_a_run_that_is_killed_between_two_steps_pays_nothing_twice(
    offering: Offering, step: str, is_after: bool, needs_person: bool
) -> None:
    rater = Rater(offering)
    rater.finish()

    with suppress(Killed):
        sync(offering, KilledMarket.of(offering, step, is_after), now)
    for _ in range(3):
        sync_now(offering)

    assert paid_bonuses() == (0 if needs_person else 1)
    assert bonus_of(offering).paid_at is None if needs_person else bonus_of(offering).paid_by == "our call"


def test_who_is_in_doubt_for_a_day_is_shown_to_a_person_who_pays_by_hand(offering: Offering) -> None:
    rater = Rater(offering)
    rater.finish()
    with suppress(Killed):
        sync(offering, KilledMarket.of(offering, "pay", is_after=False), now)

    sync_now(offering)
    soon = bonus_of(offering).refusal
    sync(offering, open_crowd(offering), days_later)
    later = bonus_of(offering).refusal
    pay_by_hand(rater, 10)
    sync_now(offering)

    assert bonus_of(offering).bonus_list is not None
    assert f"list {BonusList.objects.get().crowd_list_id}" in soon
    assert "the answer was lost" in soon
    assert "pay it there by hand" not in soon
    assert "pay it there by hand" in later
    assert bonus_of(offering).paid_at is not None
    assert (paid_bonuses(), rater.paid_cents) == (1, [150, 10])


def pay_by_hand(rater: Rater, cents: int) -> None:
    """As on Prolific's own pages: with a list that nobody here knows."""
    from localprolific.models import BonusLine
    from localprolific.models import BonusList as ListThere

    made = ListThere.objects.create(list_id=f"hand{cents}", study=rater.there.study, created_at=Clock().now())
    line = BonusLine.objects.create(bonus_list=made, submission=rater.there, amount_cents=cents)
    order = BonusOrder.objects.create(bonus_list=made, ordered_at=Clock().now(), held_cents=0)
    paid = {"paid_at": Clock().now(), "visible_at": Clock().now()}
    PaidBonus.objects.create(order=order, line=line, submission=rater.there, amount_cents=cents, **paid)
    WalletEntry.objects.create(
        kind="Bonus",
        workspace=rater.there.study.workspace,
        submission=rater.there,
        amount_cents=cents,
        fee_cents=0,
        paid_at=Clock().now(),
    )


@pytest.mark.parametrize("fault", ["drop-after", "fail-after"])
def test_an_order_whose_answer_was_lost_is_never_repeated(offering: Offering, fault: str) -> None:
    rater = Rater(offering)
    rater.finish()
    misbehaving.add_process_fault(fault, operation="pay_bonus_payments", times_left=1)

    for _ in range(3):
        sync_now(offering)

    assert BonusOrder.objects.count() == 1
    assert ledger(offering) == [("bonus", 10, "our call"), ("reward", 150, "our call")]
    assert rater.paid_cents == [150, 10]


@pytest.mark.parametrize("fault", ["throttle", "fail-before"])
def test_an_order_that_never_acted(offering: Offering, fault: str) -> None:
    """429 says that nothing was done, and the next sync orders. 500 says nothing, so a person decides."""
    Rater(offering).finish()
    misbehaving.add_process_fault(fault, operation="pay_bonus_payments", times_left=1)

    for _ in range(3):
        sync_now(offering)

    assert paid_bonuses() == (1 if fault == "throttle" else 0)
    assert (bonus_of(offering).sending_at is None) is False
    assert BonusList.objects.exclude(refused_at=None).count() == (1 if fault == "throttle" else 0)


def test_a_bonus_that_is_visible_only_minutes_later_is_ordered_once(offering: Offering) -> None:
    set_behaviour(**LATE)
    rater = Rater(offering)
    rater.finish()

    for _ in range(3):
        sync_now(offering)
    waiting = bonus_of(offering)
    Clock().advance(timedelta(minutes=11))
    sync_now(offering)

    assert payment_state(waiting) == "ordered"
    assert waiting.paid_at is None
    assert (BonusOrder.objects.count(), rater.paid_cents) == (1, [150, 10])
    assert bonus_of(offering).paid_by == "our call"


@pytest.mark.parametrize("lost", ["the order", "the whole ledger"])
def test_a_database_that_was_restored_orders_nothing_again(offering: Offering, lost: str) -> None:
    set_behaviour(**LATE)
    rater = Rater(offering)
    rater.finish()
    sync_now(offering)
    if lost == "the order":
        Payment.objects.update(sending_at=None, bonus_list=None, refusal="")
    else:
        Payment.objects.all().delete()
    BonusList.objects.all().delete()

    for _ in range(3):
        sync_now(offering)
    waiting = bonus_of(offering)
    Clock().advance(timedelta(minutes=11))
    sync_now(offering)

    assert waiting.refusal == ASKED_ELSEWHERE
    assert (BonusOrder.objects.count(), rater.paid_cents) == (1, [150, 10])
    assert bonus_of(offering).paid_at is not None


def test_each_hit_of_a_participant_has_a_bonus_of_its_own(offering: Offering) -> None:
    """The notes at Prolific name participants, who may do several HITs."""
    set_behaviour(**LATE)
    first = Rater(offering)
    first.finish()
    sync_now(offering)
    second = Rater(offering, who=first.who)
    second.finish()
    for _ in range(2):
        sync_now(offering)
    Clock().advance(timedelta(minutes=11))
    sync_now(offering)

    assert (first.paid_cents, second.paid_cents) == ([150, 10], [150, 10])


def test_an_empty_wallet_is_no_doubt(offering: Offering) -> None:
    Rater(offering).finish()
    workspace = Workspace.objects.get()
    Workspace.objects.update(balance_cents=workspace.held_cents)

    poor = sync_now(offering)
    Workspace.objects.update(balance_cents=10_000_00)
    sync_now(offering)

    assert "free on Prolific" in str(poor.paid.stopped_by)
    assert paid_bonuses() == 1


def test_a_list_that_is_refused_for_one_line_pays_the_others(offering: Offering) -> None:
    good, bad = Rater(offering, "good"), Rater(offering, "bad")
    good.finish()
    bad.finish()
    sync(offering, KilledMarket.of(offering, "nothing", True), now)  # all is well
    top_ups(offering)
    bad.there.__class__.objects.filter(pk=bad.there.pk).update(status="ACTIVE")  # no bonus for who is still at work

    synced = sync_now(offering)
    sync_now(offering)

    assert any("can't get a bonus" in words for words in synced.paid.refused)
    assert good.paid_cents == [150, 10, 20]
    assert bad.paid_cents == [150, 10]


def top_ups(offering: Offering) -> None:
    for submission in Submission.objects.filter(assignment__offering=offering):
        Payment.objects.create(submission=submission, kind="top-up", cents=20, fee_cents=1, intended_at=now())


@pytest.mark.parametrize("fault", ["fail-after", "drop-after", "fail-before", "throttle"])
def test_approvals_that_act_and_answer_500_are_asked_again(offering: Offering, fault: str) -> None:
    rater = Rater(offering)
    rater.finish()
    misbehaving.add_process_fault(fault, operation="approve_in_bulk", times_left=2)

    sync_now(offering)

    assert rater.paid_cents[:1] == [150]
    assert Payment.objects.get(kind="reward").paid_by == "our call"


def test_an_approval_that_happens_later_is_noted_when_it_has_happened(offering: Offering) -> None:
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=600, bonus_payment_seconds=0)
    rater = Rater(offering)
    rater.finish()

    sync_now(offering)
    waiting = Payment.objects.get(kind="reward")
    before = rater.paid_cents
    Clock().advance(timedelta(minutes=11))
    sync_now(offering)

    assert before == []  # no bonus goes out before the approval: Prolific may refuse it then
    assert payment_state(waiting) == "ordered"
    assert Payment.objects.get(kind="reward").paid_by == "our call"
    assert rater.paid_cents == [150, 10]


def test_two_syncs_at_once_pay_one_after_the_other(offering: Offering) -> None:
    raters = [Rater(offering, name) for name in ("Ada", "Ben", "Cora")]
    for one in raters:
        one.finish()
    free, done = threading.Event(), threading.Event()

    def hold_the_lock() -> None:
        with money_lock():
            free.set()
            done.wait(20)

    other = threading.Thread(target=hold_the_lock)
    other.start()
    free.wait(20)
    with pytest.raises(Exception, match="is paying on Prolific"), money_lock(wait_seconds=0):
        pass
    done.set()
    other.join()
    for _ in range(2):
        sync_now(offering)

    assert [one.paid_cents for one in raters] == [[150, 10]] * 3
    assert BonusOrder.objects.count() == 1  # one list for all


def test_a_bonus_given_there_by_hand_settles_what_we_owe(offering: Offering) -> None:
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=600, bonus_payment_seconds=0)
    rater = Rater(offering)
    rater.finish()
    pay_by_hand(rater, 10)
    pay_by_hand(rater, 33)

    for _ in range(3):
        sync_now(offering)

    assert sorted(ledger(offering)) == [("bonus", 10, "found there"), ("extra", 33, "found there"), ("reward", 150, "")]
    assert paid_bonuses() == 2
