"""Approves and rejects work because a person decided so. No rule ever rejects."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from hits.budgeting import IN_FLIGHT, dues, empty_submissions
from hits.crowds import IN_THIS_THREAD, Market, Met, carry_out
from hits.errors import MarketRefused
from hits.models import Event, Offering, Payment, Submission
from hits.paying.due_payments import save_dues
from hits.paying.reasons import check_rejection, name_assignment

Kind = Payment.Kind
Status = Submission.Status


@transaction.atomic
def approve_by_hand(submissions: Iterable[Submission], now: datetime, by: User | None = None) -> int:
    """Approve submissions of one study, as a researcher asked, and return how many; the next run pays them.

    Submissions that were decided before stay as they are, and so do those that somebody is rejecting at this moment.
    """
    locked = Submission.objects.select_for_update(of=("self",)).filter(pk__in=[one.pk for one in submissions]).waiting()
    locked = locked.exclude(rejecting_at__gt=now - IN_FLIGHT).select_related("assignment__hit__study")
    waiting = list(locked.order_by("pk"))
    decided = Payment.objects.filter(submission__in=waiting, kind=Kind.REWARD).values_list("submission", flat=True)
    new = [one for one in waiting if one.pk not in set(decided)]
    if not new:
        return 0
    offering, study = new[0].assignment.offering, new[0].assignment.hit.study
    save_dues([due for one in new for due in dues(offering, one, now)])
    Submission.objects.filter(pk__in=[one.pk for one in new]).update(decided_at=now)
    which = name_assignment(new[0]) if len(new) == 1 else f"{len(new):,} assignments"
    Event.objects.create(study=study, at=now, actor=by, text=f"approved {which} by hand")
    return len(new)


def reject(
    submission: Submission, reason: str, market: Market, by: User | None, now: datetime, category: str = ""
) -> None:
    """Reject a submission because a person decided so, with a reason that the worker reads. `category` is one of the
    crowd's (`Abilities.rejection`), if it has any."""
    check_rejection(submission.assignment.offering, reason, category)
    with transaction.atomic():
        this = Submission.objects.select_for_update().get(pk=submission.pk)
        if Payment.objects.paid().filter(submission=this, kind=Kind.REWARD).exists():
            raise EvalPlatformError("This assignment was paid already; a payment can't be taken back.")
        Submission.objects.filter(pk=this.pk).update(rejecting_at=now)
    try:
        market.reject(submission.assignment.crowd_assignment_id, reason.strip(), category)
    except MarketRefused as refused:
        _give_up_rejecting(submission, refused)
        raise
    _save_rejection(submission, reason, by, now)


@dataclass
class Rejected(Met):
    """How many submissions a run rejected."""

    count: int = 0


def reject_empty(
    offering: Offering,
    submissions: Iterable[Submission],
    reason: str,
    market: Market,
    by: User | None,
    now: datetime,
    category: str = "",
) -> Rejected:
    """Reject submissions that came without answers, and leave alone those that have answers or a decision by now.

    We check that, and hold the submission, just before its call. Until the call ends, nobody can approve it and no
    answers can be restored to it.
    """
    check_rejection(offering, reason, category)
    result = Rejected()

    def hold_and_reject(submission: Submission) -> bool:
        with transaction.atomic():
            Submission.objects.select_for_update().get(pk=submission.pk)
            if not empty_submissions(offering).filter(pk=submission.pk).exists():
                return False
            Submission.objects.filter(pk=submission.pk).update(rejecting_at=now)
        market.reject(submission.assignment.crowd_assignment_id, reason.strip(), category)
        return True

    def save(submission: Submission, is_rejected: bool) -> None:
        if is_rejected:
            _save_rejection(submission, reason, by, now)
            result.count += 1

    for _ in carry_out(submissions, hold_and_reject, save, result, IN_THIS_THREAD, _give_up_rejecting):
        pass
    return result


def _give_up_rejecting(submission: Submission, _: MarketRefused) -> None:
    Submission.objects.filter(pk=submission.pk).update(rejecting_at=None)


@transaction.atomic
def _save_rejection(submission: Submission, reason: str, by: User | None, now: datetime) -> None:
    rejected = Submission.objects.filter(pk=submission.pk)
    rejected.update(status=Status.REJECTED, decided_at=now, rejecting_at=None)
    Payment.objects.owed().filter(submission=submission).update(
        cancelled_at=now, refusal=f"rejected by hand: {reason.strip()}"
    )
    study = submission.assignment.hit.study
    text = f"rejected {name_assignment(submission)}: {reason.strip()}"
    Event.objects.create(study=study, at=now, actor=by, text=text)
