"""Lists a study's assignments with state, time and bonus points; defines the states to filter by."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from hits.access import pseudonym
from hits.budgeting import PROBLEMS_IN_SHORT, waiting_for_decision
from hits.collecting import counted_minutes
from hits.models import Answer, Assignment, BonusCheck, HitItem, Offering, Study, Submission
from hits.models.assignment import IS_CONFIRMED, AssignmentQuerySet
from hits.models.cards import gold_card
from hits.protocols import Protocol, is_won, protocol_of

Ending = Assignment.Ending
Status = Submission.Status

OPENED = "opened, not confirmed"
# What we knew at the last sync. Work past its time limit stays "in hand" until a sync has asked how it ended.
ASSIGNMENT_STATES = {
    "in hand": Q(submission=None, ended_as="", revoked_at=None) & IS_CONFIRMED,
    "revoked": Q(submission=None, ended_as="", submitted_at=None, revoked_at__isnull=False) & IS_CONFIRMED,
    OPENED: Q(submission=None, ended_as="") & ~IS_CONFIRMED,
    "waiting": Q(submission__status=Status.SUBMITTED),
    "approved": Q(submission__status=Status.APPROVED),
    "rejected": Q(submission__status=Status.REJECTED),
    "returned": Q(submission__status=Status.RETURNED),
    "given up": Q(submission=None, ended_as=Ending.GIVEN_UP),
    "taken over": Q(submission=None, ended_as=Ending.TAKEN_OVER),
    "unconfirmed": Q(submission=None, ended_as=Ending.UNCONFIRMED),
}

TO_DECIDE = "waiting for a decision"  # some of those that are "waiting": only a person can approve these
IN_WORDS = {
    Status.SUBMITTED: "waiting",
    Status.APPROVED: "approved",
    Status.REJECTED: "rejected",
    Status.RETURNED: "returned",
}


@dataclass(frozen=True)
class AssignmentRow:
    assignment: Assignment
    worker: str
    state: str
    minutes: float | None  # active minutes that count
    points: int  # for the work as it stands now, even before it is handed in
    problem: str  # in short, why it has no ratings although it was handed in


def find_assignments(offering: Offering, state: str = "", worker_id: str = "") -> AssignmentQuerySet:
    """Return the assignments in this state, or of this worker, the newest first."""
    found = Assignment.objects.filter(offering=offering).select_related("hit", "offering__study", "submission")
    found = found.defer("submission__answer_xml")
    if state == TO_DECIDE:
        found = found.filter(submission__in=waiting_for_decision(offering))
    elif state:
        found = found.filter(ASSIGNMENT_STATES[state])
    return (found.filter(crowd_worker_id=worker_id) if worker_id else found).order_by("-pk")


def assignment_rows(study: Study, assignments: Sequence[Assignment]) -> list[AssignmentRow]:
    minutes = counted_minutes(assignments)
    points = _count_points(protocol_of(study.parsed_design), assignments)
    to_decide = {
        pk
        for one in {one.offering_id: one.offering for one in assignments}.values()
        for pk in waiting_for_decision(one)
    }
    return [
        AssignmentRow(
            one,
            pseudonym(study, one.crowd_worker_id),
            TO_DECIDE if _submission_id(one) in to_decide else state_of(one),
            minutes.get(one.pk),
            points.get(one.pk, 0),
            _describe_problem(one),
        )
        for one in assignments
    ]


def _count_points(protocol: Protocol[Any], assignments: Sequence[Assignment]) -> dict[int, int]:
    """Count bonus points from the answers, since ratings exist only once the marketplace has confirmed the work."""
    items = HitItem.objects.filter(hit__in={one.hit_id for one in assignments}, is_checkpoint=True)
    golds = {pk: gold_card(cards) for pk, cards in items.values_list("pk", "cards")}
    keys = [one.pk for one in assignments]
    first_checks = BonusCheck.objects.filter(assignment__in=keys).first_attempts()
    first = {(pk, item): passed for pk, item, passed in first_checks.values_list("assignment", "item", "is_passed")}
    found: dict[int, int] = {}
    answers = Answer.objects.filter(assignment__in=keys, item__is_checkpoint=True)
    for pk, item, value in answers.values_list("assignment", "item", "value"):
        if (gold := golds[item]) is not None:
            final = protocol.passes(value, gold)
            found[pk] = found.get(pk, 0) + is_won(protocol.design.checkpoints, final, first.get((pk, item)))
    return found


def _describe_problem(assignment: Assignment) -> str:
    submission = getattr(assignment, "submission", None)
    return PROBLEMS_IN_SHORT.get(submission.problem, "without answers") if submission and submission.problem else ""


def _submission_id(assignment: Assignment) -> int | None:
    submission = getattr(assignment, "submission", None)
    return submission.pk if submission else None


def state_of(assignment: Assignment) -> str:
    """Return the assignment's state, one of ASSIGNMENT_STATES."""
    submission = getattr(assignment, "submission", None)
    if submission:
        return str(IN_WORDS[submission.status])
    if assignment.revoked_at is not None and not assignment.ended_as:
        return "revoked"
    return assignment.ended_as or ("in hand" if assignment.confirmed_at else OPENED)
