"""Checks what a person writes to a worker whose work is not paid; names the assignment in the event log."""

from evalplatform.errors import EvalPlatformError
from hits.access import pseudonym
from hits.crowds import crowd_of
from hits.models import Offering, Submission

REASON, CATEGORY = "reason", "category"


class ReasonRefused(EvalPlatformError):
    """What is wrong with a reason or its category; `part` says with which of them."""

    def __init__(self, part: str, message: str) -> None:
        super().__init__(message)
        self.part = part


def check_reason(reason: str) -> None:
    if not reason.strip():
        raise ReasonRefused(REASON, "Write a reason: the worker reads it, and it is the least that we owe them.")


def check_rejection(offering: Offering, reason: str, category: str) -> None:
    """Raise unless the crowd can reject, and takes this reason and category."""
    abilities = crowd_of(offering).abilities
    if not abilities.can_reject:
        raise EvalPlatformError(
            f"Work on {offering.marketplace} can't be rejected. Approve it; screening leaves it out of the results."
        )
    check_reason(reason)
    known, least, written = abilities.rejection.categories, abilities.rejection.least_letters, len(reason.strip())
    if known and category not in known:
        raise ReasonRefused(CATEGORY, f"Choose the ground of the rejection, one of {', '.join(known)}.")
    if category and not known:
        raise ReasonRefused(CATEGORY, f"There are no grounds to choose from on {offering.marketplace}: leave it out.")
    if written < least:
        raise ReasonRefused(REASON, f"Explain in at least {least} letters; these are {written}.")


def name_assignment(submission: Submission) -> str:
    assignment = submission.assignment
    worker = pseudonym(assignment.hit.study, assignment.crowd_worker_id)
    return f"the assignment of {worker} on HIT {assignment.hit.shown_number}"
