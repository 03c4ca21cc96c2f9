"""Let a worker accept, return and submit assignments. The pages and a simulated crowd call this.

In: a worker and a HIT. Out: an assignment, or Refused with the one reason that applies. Guaranteed: never more workers
at a HIT than it has assignments, and no worker twice at the same HIT.
"""

from datetime import datetime, timedelta

from django.db import transaction

from localturk import ids
from localturk.answers_xml import answers_xml
from localturk.earning import Earnings, earnings
from localturk.lifecycle import give_back, lock_hit, refresh, settle
from localturk.models import QualificationRequest, QualificationType, TurkAssignment, TurkHit, WorkerAccount
from localturk.operations.granted_qualifications import grant
from localturk.refusals import Reason, Refusal, Refused, can_accept, can_preview
from localturk.work_on_offer import Offer, next_hit, offers

__all__ = [
    "Earnings",
    "Offer",
    "Reason",
    "Refusal",
    "Refused",
    "accept",
    "can_accept",
    "can_preview",
    "earnings",
    "next_hit",
    "offers",
    "request_qualification",
    "return_assignment",
    "submit",
]

Status = TurkAssignment.Status


def accept(worker: WorkerAccount, hit: TurkHit, now: datetime) -> TurkAssignment:
    settle(now)
    with transaction.atomic():
        locked = lock_hit(hit.pk)
        if refusal := can_accept(worker, locked, now):
            raise Refused(refusal)
        locked.pending_count += 1
        refresh(locked, now)
        return TurkAssignment.objects.create(
            assignment_id=_free_assignment_id(locked) or ids.new_id(),
            hit=locked,
            worker=worker,
            accepted_at=now,
            deadline_at=now + timedelta(seconds=locked.hit_type.assignment_duration_seconds),
        )


def return_assignment(assignment_id: str, worker: WorkerAccount, now: datetime) -> None:
    settle(now)
    with transaction.atomic():
        hit, assignment = _find_held(assignment_id, worker)
        give_back(hit, assignment, Status.RETURNED, now, now)


def submit(assignment_id: str, worker: WorkerAccount, fields: dict[str, list[str]], now: datetime) -> TurkAssignment:
    """Submit an assignment with all fields of the form; a field may have several values."""
    settle(now)
    with transaction.atomic():
        hit, assignment = _find_held(assignment_id, worker)
        assignment.status = Status.SUBMITTED
        assignment.answer = answers_xml(fields)
        assignment.submitted_at = now
        assignment.auto_approval_at = now + timedelta(seconds=hit.hit_type.auto_approval_delay_seconds)
        assignment.save()
        hit.pending_count -= 1
        hit.submitted_count += 1
        refresh(hit, now)
        return assignment


def request_qualification(worker: WorkerAccount, kind: QualificationType, now: datetime, answer: str = "") -> None:
    """Request a qualification. It is granted at once if its type says so. Tests are not scored here, even if they have
    an answer key."""
    request = QualificationRequest(
        request_id=ids.new_id(), qualification_type=kind, worker=worker, answer=answer, submitted_at=now
    )
    with transaction.atomic():
        if kind.is_auto_granted:
            request.status = QualificationRequest.Status.GRANTED
            grant(kind, worker, kind.auto_granted_value, now)
        request.save()


def _find_held(assignment_id: str, worker: WorkerAccount) -> tuple[TurkHit, TurkAssignment]:
    """Return the assignment that this worker works on, and its HIT, locked. Raise Refused if the worker does not have
    it any more: the id may be someone else's by now."""
    own = TurkAssignment.objects.filter(assignment_id=assignment_id, worker=worker)
    latest = own.order_by("-pk").first()
    if latest is None:
        raise Refused(Refusal(Reason.NOT_HELD, "This assignment is not yours."))
    hit = lock_hit(latest.hit_id)
    latest.refresh_from_db()
    if latest.status != Status.ACCEPTED:
        raise Refused(_explain_not_held(latest))
    return hit, latest


def _explain_not_held(assignment: TurkAssignment) -> Refusal:
    if assignment.status == Status.ABANDONED:
        return Refusal(Reason.TOO_LATE, "The time for this assignment is over.")
    if assignment.status == Status.RETURNED:
        return Refusal(Reason.NOT_HELD, "You returned this assignment.")
    return Refusal(Reason.ALREADY_DONE, "You submitted this assignment already.")


def _free_assignment_id(hit: TurkHit) -> str | None:
    """Return an assignment id that was given back, if there is one: MTurk gives it to the next worker."""
    live = TurkAssignment.objects.live().filter(hit=hit).values("assignment_id")
    back = TurkAssignment.objects.filter(hit=hit).exclude(assignment_id__in=live)
    return back.order_by("pk").values_list("assignment_id", flat=True).first()
