"""Pays each reward and bonus once.

In: submissions that the marketplace confirms. Out: one paid Payment row for each reward and bonus. Guaranteed: each is
paid exactly once, even if a run is killed, repeated or run twice at once, after the token's 24 hours, and on a database
that was restored to an earlier state: we save the intent first, and check whether money has moved before we move it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import cast

from django.db import transaction

from hits.budgeting import bonus_mark
from hits.crowds import BulkMarket, Market, MarketBonus, carry_out, crowd_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Offering, Payment, Submission
from hits.paying.bulk_payments import pay_in_bulk
from hits.paying.due_payments import record_dues
from hits.paying.found_payments import FOUND_ON_MARKET, BonusKey, bonuses_noted_as_found, given_by_hand, our_mark_in
from hits.paying.paid import ELSEWHERE, OUR_CALL, Paid

Kind = Payment.Kind
Status = Submission.Status
OnProgress = Callable[[int, int], None]

ANSWER_LOST = (
    "We asked for this payment once and got no answer; asking again might pay twice. It is not on the marketplace's "
    "list yet. Look there; if it is still missing after a day, pay it there by hand, and the next sync will find it."
)


def pay(
    offering: Offering,
    market: Market,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda done, total: None,
) -> Paid:
    """Pay what is due, rewards first. The run stops when the account runs out of money; the next run continues."""
    record_dues(offering, now())
    result = Paid()
    if not crowd_of(offering).abilities.pays_workers:
        result.is_by_crowd = False
        _list_as_due_elsewhere(offering, now(), result)
        return result
    owed = _owed_payments(offering)
    if crowd_of(offering).abilities.bonuses_per_list:
        pay_in_bulk(offering, cast(BulkMarket, market), owed, now, result)
        on_progress(len(owed), len(owed))
        return result
    done = 0

    def save(job: _Job, outcomes: list[_Outcome]) -> None:
        nonlocal done
        _save_outcomes(job.payments, outcomes, now(), result)
        done += len(job.payments)

    threads = crowd_of(offering).abilities.calls_at_once
    for jobs in _plan_jobs(offering, market, owed, now):
        for _ in carry_out(jobs, lambda job: job.call(), save, result, threads):
            on_progress(done, len(owed))
        if result.stopped_by:
            break
    return result


def _owed_payments(offering: Offering) -> list[Payment]:
    of_study = Payment.objects.filter(submission__assignment__offering=offering)
    return list(of_study.owed().select_related("submission__assignment__hit__study").order_by("pk"))


@transaction.atomic
def _list_as_due_elsewhere(offering: Offering, now: datetime, result: Paid) -> None:
    """Settle our side where no money goes through the crowd: approved, and on the list of what is due."""
    owed = Payment.objects.filter(submission__assignment__offering=offering).owed()
    due = list(owed.select_for_update(of=("self",)).order_by("pk"))
    Submission.objects.filter(pk__in=[one.submission_id for one in due]).waiting().update(status=Status.APPROVED)
    Payment.objects.filter(pk__in=[one.pk for one in due]).update(paid_at=now, paid_by=ELSEWHERE, refusal="")
    result.due_elsewhere, result.due_cents = len(due), sum(one.cents for one in due)


@dataclass
class _Job:
    """Payments that one thread handles together. The thread talks to the marketplace only, never to the database."""

    payments: Sequence[Payment]
    call: Callable[[], "list[_Outcome]"]


def _plan_jobs(
    offering: Offering, market: Market, owed: Sequence[Payment], now: Callable[[], datetime]
) -> Iterator[list[_Job]]:
    """Yield a job for each reward, then one for each HIT's bonuses: a single call lists those that were paid before.

    Jobs that are yielded together run at once. Where asking twice would pay twice, or where our own bonuses can't be
    told from others (then the ledger must be read after the list), each HIT's bonuses come alone and
    are claimed just before, so that a run that is killed leaves only that one HIT in doubt. We list first and claim
    then: if the list can't be had, nothing is claimed, and earlier claims stay.
    """
    noted = bonuses_noted_as_found(offering)
    by_hit: dict[str, list[Payment]] = {}
    for payment in owed:
        if payment.kind != Kind.REWARD:
            by_hit.setdefault(payment.submission.crowd_hit_id, []).append(payment)
    rewards = [_Job([one], partial(_approve, market, one)) for one in owed if one.kind == Kind.REWARD]
    abilities = crowd_of(offering).abilities
    if abilities.is_bonus_repeatable and abilities.stores_reasons:
        yield rewards + [
            _Job(ones, partial(_list_and_send_bonuses, offering, market, hit, ones, noted))
            for hit, ones in by_hit.items()
        ]
        return
    yield rewards
    for hit, ones in by_hit.items():
        try:
            paid = list(market.list_bonuses_of_hit(hit))
        except (MarketRefused, MarketUnavailable) as error:
            yield [_Job(ones, partial(_fail_all, ones, error))]
        else:
            by_hand, may_send = given_by_hand(offering, paid, noted), _claim_payments(ones, now())
            if abilities.is_bonus_repeatable:
                may_send = {one.pk for one in ones}
            yield [_Job(ones, partial(_send_bonuses, market, paid, by_hand, ones, may_send))]


def _claim_payments(payments: Iterable[Payment], now: datetime) -> set[int]:
    """Claim the payments that no run has asked for yet, and return their ids. The claim is saved before the call."""
    free = Payment.objects.filter(sending_at=None, paid_at=None)
    return {one.pk for one in payments if free.filter(pk=one.pk).update(sending_at=now)}


# --- The marketplace's side, in threads ------------------------------------------------------------------------------


@dataclass
class _Outcome:
    paid_by: str = ""
    paid_at: datetime | None = None  # if the marketplace says when
    status: str = ""  # the submission's status, if we learned it
    error: MarketRefused | MarketUnavailable | None = None
    was_refused: bool = False  # this run claimed and asked for it, and the answer was no: it was surely not paid


def _approve(market: Market, payment: Payment) -> list[_Outcome]:
    """Approve one assignment. Approvals have no token, so if one is refused, we look at the assignment's status."""
    assignment_id = payment.submission.assignment.crowd_assignment_id
    if payment.submission.status == Status.APPROVED:
        return [_Outcome(FOUND_ON_MARKET, status=Status.APPROVED)]
    try:
        market.approve(assignment_id)
    except MarketRefused as refused:
        try:
            status = market.get_assignment(assignment_id).status
        except (MarketRefused, MarketUnavailable):
            return [_Outcome(error=refused)]
        if status == Status.APPROVED:
            return [_Outcome(FOUND_ON_MARKET, status=status)]
        return [_Outcome(status=status, error=refused)]
    except MarketUnavailable as unavailable:
        return [_Outcome(error=unavailable)]
    return [_Outcome(OUR_CALL, status=Status.APPROVED)]


def _list_and_send_bonuses(
    offering: Offering, market: Market, crowd_hit_id: str, payments: Sequence[Payment], noted: Collection[BonusKey]
) -> list[_Outcome]:
    try:
        paid = list(market.list_bonuses_of_hit(crowd_hit_id))
    except (MarketRefused, MarketUnavailable) as error:
        return _fail_all(payments, error)
    by_hand = given_by_hand(offering, paid, noted)
    return _send_bonuses(market, paid, by_hand, payments, {one.pk for one in payments})


def _fail_all(payments: Sequence[Payment], error: MarketRefused | MarketUnavailable) -> list[_Outcome]:
    return [_Outcome(error=error) for _ in payments]


def _send_bonuses(
    market: Market,
    paid: Sequence[MarketBonus],
    by_hand: Sequence[MarketBonus],
    payments: Sequence[Payment],
    may_send: Collection[int],
) -> list[_Outcome]:
    """Send the bonuses of one HIT that were not paid yet: neither by us (with our mark) nor by hand (same amount).

    A bonus that is not in `may_send` was asked for before; we look for it in the list, and never ask for it again.
    """
    ours = {(one.crowd_assignment_id, our_mark_in(one.reason)) for one in paid}
    left = list(by_hand)
    outcomes = []
    for payment in payments:
        assignment_id = payment.submission.assignment.crowd_assignment_id
        same = (one for one in left if (one.crowd_assignment_id, one.cents) == (assignment_id, payment.cents))
        given = next(same, None)
        if (assignment_id, bonus_mark(payment.kind)) in ours:
            outcomes.append(_Outcome(FOUND_ON_MARKET))
        elif given is not None:
            left.remove(given)
            outcomes.append(_Outcome(FOUND_ON_MARKET, paid_at=given.granted_at))
        elif payment.pk in may_send:
            outcomes.append(_send_bonus(market, payment))
        else:
            outcomes.append(_Outcome())
    return outcomes


def _send_bonus(market: Market, payment: Payment) -> _Outcome:
    who = payment.submission.assignment
    try:
        market.send_bonus(who.crowd_worker_id, who.crowd_assignment_id, payment.cents, payment.reason, payment.token)
    except (MarketRefused, MarketUnavailable) as error:
        # This may also be a token that another run used a moment ago; the next run will find that bonus on the list.
        return _Outcome(error=error, was_refused=isinstance(error, MarketRefused))
    return _Outcome(OUR_CALL)


# --- Outcomes --------------------------------------------------------------------------------------------------------


def _save_outcomes(payments: Sequence[Payment], outcomes: Sequence[_Outcome], now: datetime, result: Paid) -> None:
    for payment, outcome in zip(payments, outcomes, strict=True):
        this = Payment.objects.filter(pk=payment.pk, paid_at=None)
        if outcome.status:
            Submission.objects.filter(pk=payment.submission_id).update(status=outcome.status)
        if outcome.paid_by:
            this.update(paid_at=outcome.paid_at or now, paid_by=outcome.paid_by, refusal="")
            result.count(payment, outcome.paid_by == FOUND_ON_MARKET)
        elif outcome.status in Submission.EARNS_NOTHING:
            this.update(cancelled_at=now, refusal=f"{outcome.status.lower()} on the marketplace")
        elif outcome.error is None:
            this.update(refusal=ANSWER_LOST)
        else:
            # We give up our own claim if we were refused, and the next run may ask again. No other claim is touched:
            # its answer may be lost, or another run may be sending it now.
            this.update(refusal=str(outcome.error), **({"sending_at": None} if outcome.was_refused else {}))
            result.note(outcome.error)
