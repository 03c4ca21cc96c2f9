"""Lists all work that waits for a person, with late work that the budget has no room for.

Places are within the budget before they are offered; work beyond them is not (decision 33), so the budget is asked
here. What does not fit is kept, with its answers. It is paid once there is room, or because a person approves it.
"""

from dataclasses import dataclass
from datetime import datetime

from hits.budgeting.budget import late_work_beyond_budget
from hits.budgeting.undecided import held_back
from hits.models import Offering, Submission

BEYOND_BUDGET = (
    "It came late, when all places were taken, and paying it would exceed the budget: raise the budget, and the next "
    "sync pays it, or approve it all the same."
)


@dataclass(frozen=True)
class Waiting:
    """How many submissions wait for a decision, and when the marketplace will approve and pay the first of them."""

    count: int
    first_paid_at: datetime | None


def waiting_for_decision(offering: Offering) -> dict[int, str]:
    """Return why each submission waits, by its primary key."""
    return held_back(offering) | dict.fromkeys(late_work_beyond_budget(offering), BEYOND_BUDGET)


def summarise_waiting(offering: Offering) -> Waiting:
    """Return how many submissions wait, and when the first will be approved without us."""
    waiting = waiting_for_decision(offering)
    due = Submission.objects.filter(pk__in=waiting).exclude(auto_approval_at=None).order_by("auto_approval_at")
    return Waiting(len(waiting), due.values_list("auto_approval_at", flat=True).first())
