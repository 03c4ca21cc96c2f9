"""Bonus points: computed here from the stored checks, never in a browser."""

from collections.abc import Iterable
from typing import Any

from hits.models import BonusCheck
from hits.models.design import CheckpointPart
from hits.serving.frozen import FrozenItem


class Points:
    """The checks of one assignment, by item."""

    def __init__(self, rules: CheckpointPart, checks: Iterable[BonusCheck]) -> None:
        self._rules = rules
        self._checks: dict[int, list[BonusCheck]] = {}
        for check in checks:
            self.add(check)

    def add(self, check: BonusCheck) -> None:
        self._checks.setdefault(check.item_id, []).append(check)

    def of_item(self, item_pk: int) -> list[BonusCheck]:
        return self._checks.get(item_pk, [])

    def is_won(self, item_pk: int) -> bool:
        """By the attempt that the study counts."""
        checks = self.of_item(item_pk)
        return bool(checks) and checks[0 if self._rules.counted_attempt == "first" else -1].is_won

    @property
    def total(self) -> int:
        return sum(self.is_won(item_pk) for item_pk in self._checks)

    def attempts_left(self, item_pk: int) -> int | None:
        if not self._rules.max_attempts:
            return None
        return max(0, self._rules.max_attempts - len(self.of_item(item_pk)))


def bonus_state(item: FrozenItem, points: Points) -> dict[str, Any] | None:
    if item.gold_card is None:
        return None
    return {
        "attempts": len(points.of_item(item.pk)),
        "won": points.is_won(item.pk),
        "attempts_left": points.attempts_left(item.pk),
    }
