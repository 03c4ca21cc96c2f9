"""Lists what each invited rater has done and is due, with names and hours, for whoever pays them elsewhere.

Only work that was handed in and collected counts: its HITs, dialogs, ratings and hours, and the amounts of the ledger.
What is in hand, or handed in and not collected yet, is counted beside it.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from hits.models import Answer, Assignment, Invitation, Offering, Payment, Rating, Submission
from hits.monitoring.invited_raters import minutes_of_each, rows_of

PAYROLL_COLUMNS = (
    *("name", "email", "worker", "tasks", "dialogs", "ratings", "hours"),
    *("reward", "bonus", "total", "currency", "tasks_in_hand", "tasks_not_collected"),
)


def payroll_rows(offering: Offering) -> Iterator[tuple[object, ...]]:
    """Yield a line for each rater who was invited by name, with PAYROLL_COLUMNS."""
    worker = "assignment__crowd_worker_id"
    collected = Submission.objects.filter(assignment__offering=offering).exclude(status__in=Submission.EARNS_NOTHING)
    tasks = _counts(collected, worker)
    ratings = _counts(Rating.objects.filter(submission__in=collected), f"submission__{worker}")
    dialogs = _counts(Answer.objects.filter(assignment__submission__in=collected), worker)
    done = Assignment.objects.filter(submission__in=collected).select_related("submission")
    minutes = minutes_of_each(done.defer("submission__answer_xml"))
    dues = _dues(offering)
    for row in rows_of(offering, list(Invitation.objects.filter(offering=offering))):
        one = row.invitation
        reward, total = dues.get(one.worker_id, (0, 0))
        count = tasks.get(one.worker_id, 0)
        yield (
            *(one.name, one.email, one.worker_id, count, dialogs.get(one.worker_id, 0), ratings.get(one.worker_id, 0)),
            f"{minutes.get(one.worker_id, 0.0) / 60:.2f}",
            *(_amount(reward), _amount(total - reward), _amount(total), offering.currency),
            *(row.in_hand, max(0, row.done - count)),
        )


def _counts(rows: QuerySet[Any], worker: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(worker).annotate(Count("pk")))


def _dues(offering: Offering) -> dict[str, tuple[int, int]]:
    """Return the cents of rewards, and of all together, that each worker is due."""
    worker = "submission__assignment__crowd_worker_id"
    due = Payment.objects.filter(submission__assignment__offering=offering, cancelled_at=None).order_by()
    sums = due.values(worker).annotate(rewards=Sum("cents", filter=Q(kind=Payment.Kind.REWARD)), total=Sum("cents"))
    return {row[worker]: (row["rewards"] or 0, row["total"]) for row in sums}


def _amount(cents: int) -> str:
    return f"{Decimal(cents) / 100:.2f}"
