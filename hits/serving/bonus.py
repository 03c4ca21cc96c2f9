"""Counts Bonus Validate checks: attempts left, points, and whether the page shows the button at all."""

from collections.abc import Iterable, Mapping

from hits.models import Answer, BonusCheck
from hits.models.design import CheckpointPart
from hits.protocols import is_lost, is_won
from hits.serving.frozen import FrozenHit, FrozenItem


class Checks:
    """The checks of one assignment, by item, from the first attempt on."""

    def __init__(self, rules: CheckpointPart, checks: Iterable[BonusCheck]) -> None:
        self._rules = rules
        self._checks: dict[int, list[BonusCheck]] = {}
        for check in checks:
            self.add(check)

    def add(self, check: BonusCheck) -> None:
        self._checks.setdefault(check.item_id, []).append(check)

    def of_item(self, item_pk: int) -> list[BonusCheck]:
        return self._checks.get(item_pk, [])

    def attempts_left(self, item_pk: int) -> int | None:
        """Return how many attempts the worker has left, or None if there is no limit."""
        if not self._rules.max_attempts:
            return None
        return max(0, self._rules.max_attempts - len(self.of_item(item_pk)))

    def is_lost(self, item_pk: int) -> bool:
        """Return whether no final placement can win the point any more. The worker knows it: they saw what the check
        said."""
        return is_lost(self._rules, self._first(item_pk))

    def points(self, hit: FrozenHit, answers: Mapping[int, Answer]) -> int:
        """Return how many points these answers win."""
        return sum(
            is_won(self._rules, hit.study.protocol.passes(answers[item.pk].value, item.gold_card), self._first(item.pk))
            for item in hit.items
            if item.gold_card is not None and item.pk in answers
        )

    def _first(self, item_pk: int) -> bool | None:
        return next((check.is_passed for check in self.of_item(item_pk) if check.is_first), None)


def can_check(rules: CheckpointPart, item: FrozenItem) -> bool:
    """Return whether the page shows Bonus Validate for this dialog.

    If workers learn their points only at the end, the page does not even say which dialogs carry one.
    """
    return item.gold_card is not None and rules.feedback == "at once"
