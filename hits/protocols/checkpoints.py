"""Decides which attempt at a checkpoint counts, and when its point is won; the same for all protocols.

What comes in: whether the answer passes, at the end and when the worker first checked it. What goes out: whether the
point is won. What is guaranteed: the answer decides, and a check (Bonus Validate) is only feedback. A worker who never
presses the button wins by answering well, and one who spoils a good answer after a check loses the point. Nothing else
in the project decides this.
"""

from typing import Any, TypeVar

from hits.models.design import CheckpointPart

OneOrMany = TypeVar("OneOrMany", bound=Any)  # a bool, or an array of them


def wins_point(rules: CheckpointPart, final: OneOrMany, first: OneOrMany) -> OneOrMany:
    """Return whether the point is won.

    `final` says whether the answer at the end passes, `first` is what `passes_at_first` returns. A study that counts
    the first check also needs the final answer to pass, so that it does not pay for a human reply that the worker then
    judged otherwise.
    """
    both: OneOrMany = final & first
    return both if rules.counts == "first check" else final


def passes_at_first(final: bool, first_check: bool | None) -> bool:
    """Return what the first check said. Without a check, the final answer is the first that anyone saw."""
    return final if first_check is None else first_check


def is_won(rules: CheckpointPart, final: bool, first_check: bool | None) -> bool:
    """Return whether the point is won, from the final answer and the first check, if there was one."""
    return wins_point(rules, final, passes_at_first(final, first_check))


def is_lost(rules: CheckpointPart, first_check: bool | None) -> bool:
    """Return True if no final answer can win the point any more."""
    return not is_won(rules, True, first_check)
