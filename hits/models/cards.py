"""The cards of an item: what a worker judges. Identical replies are one card."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models


@dataclass(frozen=True, slots=True)
class Card:
    candidates: tuple[int, ...]  # keys of the candidates that it stands for; none for a human reply of its own
    is_gold: bool  # whether it is the human reply, which may also be what a model said

    @property
    def writers(self) -> tuple[int | None, ...]:
        """One for each rating that the card makes: the candidates, and None for the human reply."""
        return (*self.candidates, None) if self.is_gold else self.candidates


def gold_card(cards: Sequence[Card]) -> int | None:
    """The number of the human reply's card; None where there is none."""
    return next((number for number, card in enumerate(cards) if card.is_gold), None)


class CardsField(models.JSONField):
    """Kept as `[{"candidates": [1, 2], "gold": false}, ...]`, read as a tuple of Card."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> tuple[Card, ...] | None:
        found = super().from_db_value(value, expression, connection)
        return None if found is None else tuple(Card(tuple(one["candidates"]), one["gold"]) for one in found)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        plain = [{"candidates": [*card.candidates], "gold": card.is_gold} for card in value]
        return super().get_db_prep_value(plain, connection, prepared)
