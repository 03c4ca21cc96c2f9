"""Change the state of HITs and assignments: approve, reject, give back, and whatever is due by time.

In: a HIT that was changed, or the time. Out: true counters, status and held money. Guaranteed: changes that are due by
time (abandoned, approved automatically, expired) happen once, when something is next read, and are dated when they were
due. Every change of a HIT goes through `refresh`, under the lock of its row.
"""

from collections.abc import Callable
from datetime import datetime

from django.db import connection, transaction

from localturk import funds
from localturk.models import LedgerEntry, TurkAssignment, TurkHit

Status = TurkAssignment.Status
ANYTHING_DUE = """
    SELECT 1 WHERE EXISTS (SELECT 1 FROM localturk_turkassignment WHERE status = 'Accepted' AND deadline_at <= %s)
    OR EXISTS (SELECT 1 FROM localturk_turkassignment WHERE status = 'Submitted' AND auto_approval_at <= %s)
    OR EXISTS (SELECT 1 FROM localturk_turkhit WHERE status = 'Assignable' AND expires_at <= %s)
"""


def settle(now: datetime) -> None:
    """Make all changes that are due by time. If none is, which is nearly always so, this costs one look at three
    indexes."""
    if not _is_anything_due(now):
        return
    late = TurkAssignment.objects.filter(status=Status.ACCEPTED, deadline_at__lte=now)
    unjudged = TurkAssignment.objects.filter(status=Status.SUBMITTED, auto_approval_at__lte=now)
    over = TurkHit.objects.assignable().filter(expires_at__lte=now)
    for pk, hit_pk in list(late.values_list("pk", "hit_id")):
        _settle_assignment(hit_pk, pk, Status.ACCEPTED, _abandon, now)
    for pk, hit_pk in list(unjudged.values_list("pk", "hit_id")):
        _settle_assignment(hit_pk, pk, Status.SUBMITTED, _approve_automatically, now)
    for hit_pk in list(over.values_list("pk", flat=True)):
        with transaction.atomic():
            refresh(lock_hit(hit_pk), now)


def _is_anything_due(now: datetime) -> bool:
    # The SQL is written by hand, because every call to the marketplace begins with it, and the ORM would take longer
    # than the database.
    with connection.cursor() as cursor:
        cursor.execute(ANYTHING_DUE, [connection.ops.adapt_datetimefield_value(now)] * 3)
        return cursor.fetchone() is not None


def lock_hit(pk: int) -> TurkHit:
    """Lock a HIT for the rest of the transaction. Everyone locks the HIT first and then its assignment, so that nobody
    deadlocks."""
    return TurkHit.objects.select_for_update(of=("self",)).select_related("hit_type").get(pk=pk)


def refresh(hit: TurkHit, now: datetime) -> None:
    """Update status and held money from the counters, and save the HIT."""
    hit.status = _find_status(hit, now)
    hit.is_reviewing = hit.status == TurkHit.Status.REVIEWING
    to_hold = _count_assignments_to_hold(hit, now)
    if to_hold > hit.held_count:
        funds.hold((to_hold - hit.held_count) * funds.cost_cents(hit))
    elif to_hold < hit.held_count:
        funds.release((hit.held_count - to_hold) * funds.cost_cents(hit))
    hit.held_count = to_hold
    hit.save()


def _find_status(hit: TurkHit, now: datetime) -> TurkHit.Status:
    if hit.status == TurkHit.Status.DISPOSED:
        return TurkHit.Status.DISPOSED
    if hit.available_count and hit.expires_at > now:
        return TurkHit.Status.ASSIGNABLE
    if hit.pending_count:
        return TurkHit.Status.UNASSIGNABLE
    return TurkHit.Status.REVIEWING if hit.is_reviewing else TurkHit.Status.REVIEWABLE


def _count_assignments_to_hold(hit: TurkHit, now: datetime) -> int:
    if hit.status == TurkHit.Status.DISPOSED:
        return 0
    return hit.pending_count + hit.submitted_count + (hit.available_count if hit.expires_at > now else 0)


def approve(hit: TurkHit, assignment: TurkAssignment, now: datetime, settled_at: datetime | None = None) -> None:
    """Approve a submitted assignment, and pay it with the money that was held for it. `settled_at` is the date of an
    automatic approval."""
    paid_at = settled_at or now
    funds.pay_held(funds.cost_cents(hit))
    hit.held_count -= 1
    hit.submitted_count -= 1
    hit.completed_count += 1
    _record_approval(hit, assignment, paid_at)
    refresh(hit, now)


def approve_rejected(hit: TurkHit, assignment: TurkAssignment, now: datetime) -> None:
    """Approve a rejected assignment. No money is held for it any more, so funds may be insufficient."""
    funds.pay(funds.cost_cents(hit))
    assignment.rejected_at = None
    _record_approval(hit, assignment, now)


def reject(hit: TurkHit, assignment: TurkAssignment, now: datetime) -> None:
    hit.submitted_count -= 1
    hit.completed_count += 1
    assignment.status = Status.REJECTED
    assignment.rejected_at = now
    assignment.save()
    refresh(hit, now)


def give_back(hit: TurkHit, assignment: TurkAssignment, status: str, given_back_at: datetime, now: datetime) -> None:
    hit.pending_count -= 1
    assignment.status = status
    assignment.given_back_at = given_back_at
    assignment.save()
    refresh(hit, now)


def _record_approval(hit: TurkHit, assignment: TurkAssignment, paid_at: datetime) -> None:
    assignment.status = Status.APPROVED
    assignment.approved_at = paid_at
    assignment.save()
    reward_cents = hit.hit_type.reward_cents
    LedgerEntry.objects.create(
        kind=LedgerEntry.Kind.REWARD,
        assignment=assignment,
        worker_id=assignment.worker_id,
        amount_cents=reward_cents,
        fee_cents=funds.cost_cents(hit) - reward_cents,
        paid_at=paid_at,
    )


def _settle_assignment(
    hit_pk: int, pk: int, status: str, act: Callable[[TurkHit, TurkAssignment, datetime], None], now: datetime
) -> None:
    with transaction.atomic():
        hit = lock_hit(hit_pk)
        # Another process may have made the change meanwhile.
        if assignment := TurkAssignment.objects.filter(pk=pk, status=status).first():
            act(hit, assignment, now)


def _abandon(hit: TurkHit, assignment: TurkAssignment, now: datetime) -> None:
    give_back(hit, assignment, Status.ABANDONED, assignment.deadline_at, now)


def _approve_automatically(hit: TurkHit, assignment: TurkAssignment, now: datetime) -> None:
    approve(hit, assignment, now, settled_at=assignment.auto_approval_at)
