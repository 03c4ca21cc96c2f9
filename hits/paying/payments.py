"""Pay rewards and bonuses, each once: a line in the ledger before the call, its outcome after it.

In: submissions that the marketplace confirms. Out: one Payment row for each reward and bonus, paid. Guaranteed: each is
paid exactly once, whatever is killed, repeated or run twice at once, also after the token's 24 hours and on a database
that was restored to an earlier state: the intent is saved first, and before money moves we look whether it has moved.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from hits.access import pseudonym
from hits.budgeting import (
    IN_FLIGHT,
    beyond_cap,
    bonus_mark,
    dues,
    empty_submissions,
    submissions_without_dues,
    waiting_for_decision,
)
from hits.crowds import Market, Met, carry_out, crowd_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Offering, Payment, Study, Submission
from hits.models.design import StudyDesign
from hits.paying.found_payments import FOUND, BonusKey, bonuses_noted_as_found, key_of, mark_in

Kind = Payment.Kind
Status = Submission.Status
OnProgress = Callable[[int, int], None]

OUR_CALL = "our call"
ANSWER_LOST = (
    "It was asked for once, and no answer came; asking again might pay twice. It is not on the marketplace's list yet: "
    "look there, and if it is still missing after a day, pay it there by hand, and the next sync finds it."
)


@dataclass
class Paid(Met):
    rewards: int = 0
    bonuses: int = 0
    found: int = 0  # on the marketplace already: approved by itself, or by a run that was killed
    cents: int = 0  # with fees


def pay(
    offering: Offering,
    market: Market,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda done, total: None,
) -> Paid:
    """Pays what is due, rewards first. What is refused for want of money stops the run; the next one goes on."""
    record_dues(offering, now())
    result = Paid()
    owed = _owed(offering)
    done = 0

    def save(job: _Job, outcomes: list[_Outcome]) -> None:
        nonlocal done
        _save_outcomes(job.payments, outcomes, now(), result)
        done += len(job.payments)

    threads = crowd_of(offering).abilities.calls_at_once
    for jobs in _jobs(offering, market, owed, now):
        for _ in carry_out(jobs, lambda job: job.call(), save, result, threads):
            on_progress(done, len(owed))
        if result.stopped_by:
            break
    return result


@dataclass
class _Job:
    """Payments that are dealt with together, in a thread that talks to the marketplace only."""

    payments: Sequence[Payment]
    call: Callable[[], "list[_Outcome]"]


def _jobs(
    offering: Offering, market: Market, owed: Sequence[Payment], now: Callable[[], datetime]
) -> Iterator[list[_Job]]:
    """Each reward by itself, then the bonuses HIT by HIT: one question tells which of a HIT's were paid before.

    What is yielded together is called together. Where asking twice would pay twice, each HIT's bonuses come alone, and
    are claimed just before: a run that is killed leaves no doubt about the others.
    """
    noted = bonuses_noted_as_found(offering)
    by_hit: dict[str, list[Payment]] = {}
    for payment in owed:
        if payment.kind != Kind.REWARD:
            by_hit.setdefault(payment.submission.crowd_hit_id, []).append(payment)
    rewards = [_Job([one], partial(_approve, market, one)) for one in owed if one.kind == Kind.REWARD]
    if crowd_of(offering).abilities.is_bonus_repeatable:
        yield rewards + [
            _Job(ones, partial(_send_bonuses, market, hit, ones, noted, {one.pk for one in ones}))
            for hit, ones in by_hit.items()
        ]
        return
    yield rewards
    for hit, ones in by_hit.items():
        yield [_Job(ones, partial(_send_bonuses, market, hit, ones, noted, _claim(ones, now())))]


def _claim(payments: Iterable[Payment], now: datetime) -> set[int]:
    """Which of them nobody has asked for yet, by a note that is saved before this run does."""
    return {one.pk for one in payments if Payment.objects.filter(pk=one.pk, sending_at=None).update(sending_at=now)}


# --- What is due -----------------------------------------------------------------------------------------------------


@transaction.atomic
def record_dues(offering: Offering, now: datetime) -> None:
    """Saves the intents: a reward for each submission that may be approved, and the bonus that was won with it.

    What waits for a person is not approved here. Where the marketplace has paid the reward for it all the same, that
    is noted, and no bonus follows.
    """
    # Two runs at once must not both fill a worker's last place.
    Study.objects.select_for_update().get(pk=offering.study_id)
    design = offering.study.parsed_design
    waiting, beyond = waiting_for_decision(offering), beyond_cap(offering)
    open_ones = [one for one in submissions_without_dues(offering) if one.pk not in waiting]
    due = [one for one in open_ones if _is_due(design, one, now)]
    _save_dues([payment for one in due for payment in dues(offering, one, now, one.pk in beyond)])


@transaction.atomic
def approve_by_hand(submissions: Iterable[Submission], now: datetime, by: User | None = None) -> int:
    """As a researcher asked for in the pages; the next run pays. Of one study. What was decided before stays so, and so
    does what somebody rejects in this moment."""
    locked = Submission.objects.select_for_update(of=("self",)).filter(pk__in=[one.pk for one in submissions]).waiting()
    locked = locked.exclude(rejecting_at__gt=now - IN_FLIGHT).select_related("assignment__hit__study")
    waiting = list(locked.order_by("pk"))
    decided = Payment.objects.filter(submission__in=waiting, kind=Kind.REWARD).values_list("submission", flat=True)
    new = [one for one in waiting if one.pk not in set(decided)]
    if not new:
        return 0
    offering, study = new[0].assignment.offering, new[0].assignment.hit.study
    _save_dues([due for one in new for due in dues(offering, one, now)])
    Submission.objects.filter(pk__in=[one.pk for one in new]).update(decided_at=now)
    which = _whose(new[0]) if len(new) == 1 else f"{len(new):,} assignments"
    Event.objects.create(study=study, at=now, actor=by, text=f"approved {which} by hand")
    return len(new)


def reject(submission: Submission, reason: str, market: Market, by: User | None, now: datetime) -> None:
    """By hand only, with a reason that the worker reads. Nothing else here ever rejects."""
    _check_can_reject(submission.assignment.offering)
    _check_reason(reason)
    with transaction.atomic():
        this = Submission.objects.select_for_update().get(pk=submission.pk)
        if Payment.objects.paid().filter(submission=this, kind=Kind.REWARD).exists():
            raise EvalPlatformError("This assignment was paid already; what is paid can't be taken back.")
        Submission.objects.filter(pk=this.pk).update(rejecting_at=now)
    _reject_there(submission, reason, market, by, now)


def reject_empty(submission: Submission, reason: str, market: Market, by: User | None, now: datetime) -> bool:
    """Only if it is as empty and undecided as when somebody looked, or else it is left alone: looked at anew, and held,
    just before the call. From then on nobody approves it, and no answers come back to it, before the call's end."""
    assignment = submission.assignment
    _check_can_reject(assignment.offering)
    _check_reason(reason)
    with transaction.atomic():
        Submission.objects.select_for_update().get(pk=submission.pk)
        still = empty_submissions(assignment.offering).filter(pk=submission.pk)
        if not still.exists():
            return False
        Submission.objects.filter(pk=submission.pk).update(rejecting_at=now)
    _reject_there(submission, reason, market, by, now)
    return True


def _check_can_reject(offering: Offering) -> None:
    if not crowd_of(offering).abilities.can_reject:
        raise EvalPlatformError(
            f"Work on {offering.place} can't be rejected. Approve it; screening leaves it out of the results."
        )


def _check_reason(reason: str) -> None:
    if not reason.strip():
        raise EvalPlatformError("Write a reason: the worker reads it, and it is the least that we owe them.")


def _reject_there(submission: Submission, reason: str, market: Market, by: User | None, now: datetime) -> None:
    this = Submission.objects.filter(pk=submission.pk)
    try:
        market.reject(submission.assignment.crowd_assignment_id, reason.strip())
    except MarketRefused:
        this.update(rejecting_at=None)
        raise
    with transaction.atomic():
        this.update(status=Status.REJECTED, decided_at=now, rejecting_at=None)
        Payment.objects.owed().filter(submission=submission).update(
            cancelled_at=now, refusal=f"rejected by hand: {reason.strip()}"
        )
        study = submission.assignment.hit.study
        text = f"rejected {_whose(submission)}: {reason.strip()}"
        Event.objects.create(study=study, at=now, actor=by, text=text)


def _save_dues(payments: Sequence[Payment]) -> None:
    """A bonus of the same amount that somebody gave on the marketplace before is that bonus, and no second one."""
    if not payments:
        return
    of_study = Payment.objects.filter(submission__assignment__hit__study=payments[0].submission.assignment.hit.study_id)
    extras = {(one.submission_id, one.cents): one.pk for one in of_study.filter(kind=Kind.EXTRA)}
    given = {(one.submission_id, one.cents) for one in payments if one.kind == Kind.BONUS} & set(extras)
    Payment.objects.filter(pk__in=[extras[key] for key in given]).update(kind=Kind.BONUS)
    new = [one for one in payments if one.kind != Kind.BONUS or (one.submission_id, one.cents) not in given]
    Payment.objects.bulk_create(new, ignore_conflicts=True)


def _whose(submission: Submission) -> str:
    assignment = submission.assignment
    worker = pseudonym(assignment.hit.study, assignment.crowd_worker_id)
    return f"the assignment of {worker} on HIT {assignment.hit.shown_number}"


def _is_due(design: StudyDesign, submission: Submission, now: datetime) -> bool:
    if submission.status == Status.APPROVED or design.pay.approval == "at once":
        return True
    delay = timedelta(hours=design.pay.approval_delay_hours)
    return design.pay.approval == "after a delay" and submission.submitted_at + delay <= now


def _owed(offering: Offering) -> list[Payment]:
    of_study = Payment.objects.filter(submission__assignment__offering=offering)
    return list(of_study.owed().select_related("submission__assignment__hit__study").order_by("pk"))


# --- The marketplace's side, in threads ------------------------------------------------------------------------------


@dataclass
class _Outcome:
    paid_by: str = ""
    paid_at: datetime | None = None  # where the marketplace tells it
    status: str = ""  # the submission's, where we learned it
    error: MarketRefused | MarketUnavailable | None = None
    is_lost: bool = False  # it was asked for, and nobody knows yet what came of it


def _approve(market: Market, payment: Payment) -> list[_Outcome]:
    """There is no token for an approval. So: if it is refused, look at what the assignment's state is."""
    assignment_id = payment.submission.assignment.crowd_assignment_id
    if payment.submission.status == Status.APPROVED:
        return [_Outcome(FOUND, status=Status.APPROVED)]
    try:
        market.approve(assignment_id)
    except MarketRefused as refused:
        try:
            status = market.get_assignment(assignment_id).status
        except (MarketRefused, MarketUnavailable):
            return [_Outcome(error=refused)]
        if status == Status.APPROVED:
            return [_Outcome(FOUND, status=status)]
        return [_Outcome(status=status, error=refused)]
    except MarketUnavailable as unavailable:
        return [_Outcome(error=unavailable)]
    return [_Outcome(OUR_CALL, status=Status.APPROVED)]


def _send_bonuses(
    market: Market,
    crowd_hit_id: str,
    payments: Sequence[Payment],
    noted: Collection[BonusKey],
    may_send: Collection[int],
) -> list[_Outcome]:
    """Sends what is neither there with our mark, nor was given by somebody's hand, of the same amount. What we may not
    send was asked for before: it is looked for, and never asked for again."""
    try:
        paid = list(market.list_bonuses_of_hit(crowd_hit_id))
    except (MarketRefused, MarketUnavailable) as error:
        return [_Outcome(error=error) for _ in payments]
    ours = {(one.crowd_assignment_id, mark_in(one.reason)) for one in paid}
    by_hand = {key_of(one): one for one in paid if not mark_in(one.reason) and key_of(one) not in noted}
    outcomes = []
    for payment in payments:
        assignment_id = payment.submission.assignment.crowd_assignment_id
        given = next((key for key in by_hand if key[:2] == (assignment_id, payment.cents)), None)
        if (assignment_id, bonus_mark(payment.kind)) in ours:
            outcomes.append(_Outcome(FOUND))
        elif given is not None:
            outcomes.append(_Outcome(FOUND, paid_at=by_hand.pop(given).granted_at))
        elif payment.pk in may_send:
            outcomes.append(_send_bonus(market, payment))
        else:
            outcomes.append(_Outcome(is_lost=True))
    return outcomes


def _send_bonus(market: Market, payment: Payment) -> _Outcome:
    who = payment.submission.assignment
    try:
        market.send_bonus(who.crowd_worker_id, who.crowd_assignment_id, payment.cents, payment.reason, payment.token)
    except (MarketRefused, MarketUnavailable) as error:
        # Also a token that another run used a moment ago: the next run will find that bonus on the list.
        return _Outcome(error=error, is_lost=isinstance(error, MarketUnavailable))
    return _Outcome(OUR_CALL)


# --- Outcomes --------------------------------------------------------------------------------------------------------


def _save_outcomes(payments: Sequence[Payment], outcomes: Sequence[_Outcome], now: datetime, result: Paid) -> None:
    for payment, outcome in zip(payments, outcomes, strict=True):
        this = Payment.objects.filter(pk=payment.pk, paid_at=None)
        if outcome.status:
            Submission.objects.filter(pk=payment.submission_id).update(status=outcome.status)
        if outcome.paid_by:
            this.update(paid_at=outcome.paid_at or now, paid_by=outcome.paid_by, refusal="")
            _count(payment, outcome, result)
        elif outcome.status == Status.REJECTED:
            this.update(cancelled_at=now, refusal="rejected on the marketplace")
        elif outcome.error is None:
            this.update(refusal=ANSWER_LOST)
        else:
            # Claimed, and surely not paid: the next run may ask for it.
            this.update(refusal=str(outcome.error), **({} if outcome.is_lost else {"sending_at": None}))
            result.note(outcome.error)


def _count(payment: Payment, outcome: _Outcome, result: Paid) -> None:
    if payment.kind == Kind.REWARD:
        result.rewards += 1
    else:
        result.bonuses += 1
    result.found += outcome.paid_by == FOUND
    result.cents += payment.cents + payment.fee_cents
