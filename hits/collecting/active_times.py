"""Computes how long a worker took: what the browser reported, bounded by clocks that it can't change.

What comes in: milliseconds as the page reported them (Answer rows, which stay as they are), and when our server saved
them. What goes out: the milliseconds that count. What is guaranteed: at every moment, all dialogs saved so far have
together no more time than had passed on our own clock since the page was opened; and in the end no more than passed
between accepting and submitting on the marketplace's clock either. Nothing else in the project uses reported times,
except to give them back to the page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from hits.models import Answer, Assignment

AT_ONCE = 5_000  # assignments in one query: SQLite takes only so many parameters

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class CountedTime:
    """The time on one dialog that counts."""

    active_ms: int
    hidden_ms: int


def bounded_times(group: Array, saved_ms: Array, span_ms: Array, active: Array, hidden: Array) -> tuple[Array, Array]:
    """Return the active and hidden milliseconds that count; each row is a dialog, of any number of assignments.

    `group` numbers the assignments from 0; `saved_ms` is when the dialog was last saved, since the page was opened;
    `span_ms` is how long the whole assignment lasted, by the clock that allows less. With dialogs in the order of their
    saves, T_k the sum that the first k reported, and A_k = min(saved_k, span) the time that had passed by then, the
    share of dialog k's time that counts is

        min(1, min over j >= k of A_j / T_j)

    Each dialog is part of every later sum, so the tightest bound scales it down. A bot that claims 450 s for each
    of ten dialogs, and sends all of them after 500 s, is left with 50 s each.
    """
    order = np.lexsort([saved_ms, group])
    of_group = group[order]
    told = (active + hidden)[order].astype(np.float64)
    sums = np.cumsum(told)
    starts = np.searchsorted(of_group, of_group, side="left")
    sums -= sums[starts] - told[starts]
    allowed = np.maximum(np.minimum(saved_ms, span_ms)[order], 0)
    ratios = np.minimum(1, np.divide(allowed, sums, out=np.ones(len(sums)), where=sums > 0))
    # For each row, the smallest ratio of it and all later rows of its group. Ratios are at most 1, so shifting each
    # group by 2 keeps the groups apart in one running minimum.
    apart = ratios + 2.0 * of_group
    tightest = np.minimum.accumulate(apart[::-1])[::-1] - 2.0 * of_group
    factor = np.empty(len(order))
    factor[order] = tightest
    return np.rint(active * factor).astype(np.int64), np.rint(hidden * factor).astype(np.int64)


def span_seconds(
    opened_at: datetime,
    handed_in_at: datetime | None,
    accepted_at: datetime | None = None,
    submitted_at: datetime | None = None,
) -> float:
    """Return the shorter of two spans: from opening our page to handing in, and from accepting to submitting on the
    marketplace.

    It is infinite while neither has ended: then only the saves bound the times.
    """
    ours = (handed_in_at - opened_at).total_seconds() if handed_in_at else np.inf
    theirs = (submitted_at - accepted_at).total_seconds() if accepted_at and submitted_at else np.inf
    return max(0.0, min(ours, theirs))


def counted_times(assignment: Assignment) -> dict[int, CountedTime]:
    """Return the times of one assignment that count, by the item's primary key."""
    return {
        item: CountedTime(int(active), int(hidden))
        for rows, times in _count_times([assignment])
        for (_, item, *_), active, hidden in zip(rows, *times, strict=True)
    }


def counted_minutes(assignments: Sequence[Assignment]) -> dict[int, float]:
    """Return the active minutes of each assignment for which the page has measured some, by primary key.

    The assignments should come with their submissions, or each costs a query.
    """
    sums: dict[int, int] = {}
    for rows, (active_ms, _) in _count_times(assignments):
        for (pk, *_), active in zip(rows, active_ms.tolist(), strict=True):
            sums[pk] = sums.get(pk, 0) + active
    return {pk: total / 60_000 for pk, total in sums.items() if total}


def _count_times(assignments: Sequence[Assignment]) -> Iterator[tuple[list[tuple[Any, ...]], tuple[Array, Array]]]:
    """Yield rows that begin with assignment and item, and their active and hidden milliseconds that count."""
    for start in range(0, len(assignments), AT_ONCE):
        part = assignments[start : start + AT_ONCE]
        known = {one.pk: (number, one.opened_at, _span_ms(one)) for number, one in enumerate(part)}
        answers = Answer.objects.filter(assignment__in=list(known)).order_by()
        rows = list(answers.values_list("assignment_id", "item_id", "active_ms", "hidden_ms", "saved_at"))
        group = np.array([known[row[0]][0] for row in rows], np.int64)
        saved_ms = np.array([1000 * (row[4] - known[row[0]][1]).total_seconds() for row in rows], np.float64)
        span_ms = np.array([known[row[0]][2] for row in rows], np.float64)
        active, hidden = (np.array([row[column] for row in rows], np.int64) for column in (2, 3))
        yield rows, bounded_times(group, saved_ms, span_ms, active, hidden)


def _span_ms(assignment: Assignment) -> float:
    submission = getattr(assignment, "submission", None)
    crowd = (submission.accepted_at, submission.submitted_at) if submission else (None, None)
    return 1000 * span_seconds(assignment.opened_at, assignment.submitted_at, *crowd)
