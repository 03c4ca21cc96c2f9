"""The assignments of a study, a page of them at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, Sum

from hits.deciding import waiting_for_decision
from hits.models import Answer, Assignment, BonusCheck, Study, Submission
from hits.models.assignment import AssignmentQuerySet
from hits.models.design import StudyDesign
from hits.pseudonyms import pseudonym
from hits.serving.bonus import Points

Ending = Assignment.Ending
Status = Submission.Status
MS_PER_MINUTE = 60_000

STATES = {
    "in hand": Q(submission=None, ended_as=""),
    "waiting": Q(submission__status=Status.SUBMITTED),
    "approved": Q(submission__status=Status.APPROVED),
    "rejected": Q(submission__status=Status.REJECTED),
    "given up": Q(submission=None, ended_as=Ending.GIVEN_UP),
    "taken over": Q(submission=None, ended_as=Ending.TAKEN_OVER),
    "unconfirmed": Q(submission=None, ended_as=Ending.UNCONFIRMED),
}

TO_DECIDE = "waiting for a decision"  # a part of those that wait: only a person approves these
IN_WORDS = {Status.SUBMITTED: "waiting", Status.APPROVED: "approved", Status.REJECTED: "rejected"}


@dataclass(frozen=True)
class AssignmentRow:
    assignment: Assignment
    worker: str
    state: str
    minutes: float | None  # active, as the page measured it
    points: int


def find_assignments(study: Study, environment: str, state: str = "", worker_id: str = "") -> AssignmentQuerySet:
    """The newest first."""
    found = Assignment.objects.filter(hit__study=study, environment=environment).select_related("hit", "submission")
    found = found.defer("submission__answer_xml")
    if state == TO_DECIDE:
        found = found.filter(submission__in=waiting_for_decision(study, environment))
    elif state:
        found = found.filter(STATES[state])
    return (found.filter(mturk_worker_id=worker_id) if worker_id else found).order_by("-pk")


def assignment_rows(study: Study, assignments: Sequence[Assignment]) -> list[AssignmentRow]:
    keys = [one.pk for one in assignments]
    times = dict(
        Answer.objects.filter(assignment__in=keys)
        .values("assignment")
        .annotate(total=Sum("active_ms"))
        .values_list("assignment", "total")
    )
    checks: dict[int, list[BonusCheck]] = {}
    for check in BonusCheck.objects.filter(assignment__in=keys).order_by("attempt"):
        checks.setdefault(check.assignment_id, []).append(check)
    rules = StudyDesign.model_validate(study.design).checkpoints
    to_decide = {pk for name in {one.environment for one in assignments} for pk in waiting_for_decision(study, name)}
    return [
        AssignmentRow(
            one,
            pseudonym(study, one.mturk_worker_id),
            TO_DECIDE if _submission_key(one) in to_decide else state_of(one),
            times[one.pk] / MS_PER_MINUTE if times.get(one.pk) else None,
            Points(rules, checks.get(one.pk, [])).total,
        )
        for one in assignments
    ]


def _submission_key(assignment: Assignment) -> int | None:
    submission = getattr(assignment, "submission", None)
    return submission.pk if submission else None


def state_of(assignment: Assignment) -> str:
    """One of STATES."""
    submission = getattr(assignment, "submission", None)
    return str(IN_WORDS[submission.status]) if submission else assignment.ended_as or "in hand"
