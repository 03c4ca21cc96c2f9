"""Turns what a design requires of workers (country, approved work) into MTurk's qualification requirements."""

from collections.abc import Sequence

from hits.crowds.mturk.types import Requirement

LOCALE = "00000000000000000071"
APPROVED_COUNT = "00000000000000000040"
APPROVAL_PERCENT = "000000000000000000L0"


def crowd_requirements(
    countries: Sequence[str], min_approved: int, min_approval_percent: int, blocked_by: str = ""
) -> tuple[Requirement, ...]:
    """Return the requirements. `blocked_by` is our own qualification that a worker must not have: the soft block."""
    requirements = []
    if countries:
        requirements.append(Requirement(LOCALE, "In", tuple(countries)))
    if min_approved:
        requirements.append(Requirement(APPROVED_COUNT, "GreaterThanOrEqualTo", (min_approved,)))
    if min_approval_percent:
        requirements.append(Requirement(APPROVAL_PERCENT, "GreaterThanOrEqualTo", (min_approval_percent,)))
    if blocked_by:
        requirements.append(Requirement(blocked_by, "DoesNotExist"))
    return tuple(requirements)
