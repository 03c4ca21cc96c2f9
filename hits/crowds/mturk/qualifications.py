"""Who may work on a study: what its design asks of workers, as MTurk's qualification requirements."""

from collections.abc import Sequence

from hits.crowds.mturk.types import Requirement

LOCALE = "00000000000000000071"
APPROVED_COUNT = "00000000000000000040"
APPROVAL_PERCENT = "000000000000000000L0"


def crowd_requirements(
    countries: Sequence[str], min_approved: int, min_approval_percent: int, blocked_by: str = ""
) -> tuple[Requirement, ...]:
    """`blocked_by` is a qualification of our own that must not exist on a worker: the soft block."""
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
