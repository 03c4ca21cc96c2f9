"""Find the row that an id in a call names, and lock it if it will change, or raise MTurk's error."""

from localturk.errors import does_not_exist, invalid, wrong_state
from localturk.lifecycle import lock_hit
from localturk.models import HitType, QualificationType, TurkAssignment, TurkHit, WorkerAccount


def find_hit(hit_id: str) -> TurkHit:
    hit = TurkHit.objects.select_related("hit_type").filter(hit_id=hit_id).first()
    if hit is None:
        raise does_not_exist("HIT", hit_id)
    return hit


def find_hit_to_change(hit_id: str) -> TurkHit:
    hit = lock_hit(find_hit(hit_id).pk)
    if hit.status == TurkHit.Status.DISPOSED:
        raise wrong_state("HIT", "Assignable,Unassignable,Reviewable,Reviewing", hit.status)
    return hit


def find_hit_type(hit_type_id: str) -> HitType:
    hit_type = HitType.objects.filter(hit_type_id=hit_type_id, deleted_at=None).first()
    if hit_type is None:
        raise does_not_exist("HITType", hit_type_id)
    return hit_type


def find_assignment(assignment_id: str) -> TurkAssignment:
    """Return the live assignment with this id. An id that was given back and not taken again does not exist."""
    live = TurkAssignment.objects.live().select_related("hit__hit_type", "worker")
    assignment = live.filter(assignment_id=assignment_id).first()
    if assignment is None:
        raise does_not_exist("Assignment", assignment_id)
    return assignment


def find_assignment_to_change(assignment_id: str) -> tuple[TurkHit, TurkAssignment]:
    found = find_assignment(assignment_id)
    hit = lock_hit(found.hit_id)
    return hit, TurkAssignment.objects.get(pk=found.pk)


def find_worker(worker_id: str) -> WorkerAccount:
    worker = WorkerAccount.objects.filter(worker_id=worker_id).first()
    if worker is None:
        # AWS documents these words for DeleteWorkerBlock. We guess that other operations say the same.
        raise invalid("WorkerId", "is invalid.")
    return worker


def find_qualification_type(qualification_type_id: str) -> QualificationType:
    kind = QualificationType.objects.undeleted().filter(qualification_type_id=qualification_type_id).first()
    if kind is None:
        raise does_not_exist("QualificationType", qualification_type_id)
    return kind
