"""Bonus points: the one place that says when a checkpoint's point is won.

In: where a worker put the human reply, at the end and when they first asked. Out: whether that wins. Guaranteed: the
placement decides, and a check (Bonus Validate) is only feedback: who never presses the button wins by sorting well,
and who moves the human reply away after a check loses the point. Nothing else in the project decides it.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from hits.models.design import CheckpointPart

# A checkpoint counts as moved when at least this share of its cards stands elsewhere than at the passed check. Someone
# who improves one reply of five after a check does not come near it; sorting five anew at random does in 95 of 100.
MOVED_SHARE = 0.4

OneOrMany = TypeVar("OneOrMany", bound=Any)  # a bool, or an array of them


def passes(rules: CheckpointPart, areas: Mapping[str, str], gold_card: int) -> bool:
    """Whether the human reply stands in a passing area. `areas` by card, as in Answer.value."""
    return areas.get(str(gold_card)) in rules.passing_areas


def wins_point(rules: CheckpointPart, final: OneOrMany, first: OneOrMany) -> OneOrMany:
    """`final`: whether the placement at the end passes. `first`: whether the one at the first check did; where there
    was no check, the same as `final`. A point needs the placement that counts and the final one, so a study that
    counts the first check does not pay for a human reply that was moved away afterwards.
    """
    both: OneOrMany = final & first
    return both if rules.counts == "first check" else final


def is_moved(checked: Mapping[str, str], final: Mapping[str, str]) -> bool:
    """Whether a dialog was sorted anew since a check: placements by card."""
    moved = sum(final.get(card) != area for card, area in checked.items())
    return moved >= MOVED_SHARE * len(checked)
