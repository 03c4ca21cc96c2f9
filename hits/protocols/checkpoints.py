"""The one place that says which attempt at a checkpoint counts, and when its point is won; the same for all protocols.

In: whether the answer passes, at the end and when the worker first asked. Out: whether that wins. Guaranteed: the
answer decides, and a check (Bonus Validate) is only feedback: who never presses the button wins by answering well, and
who changes a good answer after a check loses the point. Nothing else in the project decides it.
"""

from typing import Any, TypeVar

from hits.models.design import CheckpointPart

OneOrMany = TypeVar("OneOrMany", bound=Any)  # a bool, or an array of them


def wins_point(rules: CheckpointPart, final: OneOrMany, first: OneOrMany) -> OneOrMany:
    """`final`: whether the answer at the end passes. `first`: what `passes_at_first` says. A point needs the answer
    that counts and the final one, so a study that counts the first check does not pay for a human reply that was judged
    otherwise afterwards.
    """
    both: OneOrMany = final & first
    return both if rules.counts == "first check" else final


def passes_at_first(final: bool, first_check: bool | None) -> bool:
    """What the first check said; without a check, the final answer is the first that anyone saw."""
    return final if first_check is None else first_check


def is_won(rules: CheckpointPart, final: bool, first_check: bool | None) -> bool:
    return wins_point(rules, final, passes_at_first(final, first_check))


def is_lost(rules: CheckpointPart, first_check: bool | None) -> bool:
    """Whether no final answer can win the point any more."""
    return not is_won(rules, True, first_check)
