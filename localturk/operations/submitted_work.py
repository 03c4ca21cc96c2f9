"""List, get, approve and reject submitted assignments; a rejection can be overridden for 30 days."""

from datetime import datetime, timedelta

from localturk import lifecycle
from localturk.errors import RequestError, wrong_state
from localturk.models import TurkAssignment, TurkHit
from localturk.operations.finding import find_assignment, find_assignment_to_change, find_hit
from localturk.operations.operation_table import Answer, Params, operation
from localturk.paging import page_of
from localturk.rendering import assignment_shape, hit_shape

Status = TurkAssignment.Status
OVERRIDE_WITHIN = timedelta(days=30)


@operation("ListAssignmentsForHIT")
def list_assignments(params: Params, now: datetime) -> Answer:
    hit = find_hit(params["HITId"])
    assignments = TurkAssignment.objects.handed_in().filter(hit=hit).select_related("hit", "worker")
    statuses = sorted(params.get("AssignmentStatuses", []))
    if statuses:
        assignments = assignments.filter(status__in=statuses)
    page, counts = page_of(assignments, params, f"assignments {hit.hit_id} {' '.join(statuses)}")
    return {"Assignments": [assignment_shape(assignment) for assignment in page], **counts}


@operation("GetAssignment")
def get_assignment(params: Params, now: datetime) -> Answer:
    assignment = find_assignment(params["AssignmentId"])
    if assignment.status == Status.ACCEPTED:
        # MTurk says "Reviewable" here for Submitted, and clients look for that word.
        raise wrong_state("Assignment", "Reviewable,Approved,Rejected", assignment.status)
    return {"Assignment": assignment_shape(assignment), "HIT": hit_shape(assignment.hit)}


@operation("ApproveAssignment")
def approve_assignment(params: Params, now: datetime) -> Answer:
    hit, assignment = find_assignment_to_change(params["AssignmentId"])
    assignment.requester_feedback = params.get("RequesterFeedback", assignment.requester_feedback)
    if assignment.status == Status.REJECTED and params.get("OverrideRejection", False):
        _check_override(hit, assignment, now)
        lifecycle.approve_rejected(hit, assignment, now)
        return {}
    if assignment.status != Status.SUBMITTED:
        raise wrong_state("Assignment", "Submitted", assignment.status)
    lifecycle.approve(hit, assignment, now)
    return {}


def _check_override(hit: TurkHit, assignment: TurkAssignment, now: datetime) -> None:
    if hit.status == TurkHit.Status.DISPOSED:
        raise wrong_state("HIT", "Assignable,Unassignable,Reviewable,Reviewing", hit.status)
    if assignment.submitted_at is None or now - assignment.submitted_at > OVERRIDE_WITHIN:
        message = "This rejected assignment was submitted more than 30 days ago; the current status is: Rejected."
        raise RequestError("AWS.MechanicalTurk.InvalidAssignmentState", message)


@operation("RejectAssignment")
def reject_assignment(params: Params, now: datetime) -> Answer:
    hit, assignment = find_assignment_to_change(params["AssignmentId"])
    if assignment.status != Status.SUBMITTED:
        raise wrong_state("Assignment", "Submitted", assignment.status)
    assignment.requester_feedback = params["RequesterFeedback"]
    lifecycle.reject(hit, assignment, now)
    return {}
