"""Stores the cards of an item, which a worker judges; hits/batching/building.py decides which replies share one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models


@dataclass(frozen=True, slots=True)
class Card:
    candidates: tuple[int, ...]  # pks of the candidates with this text; none if only the human reply has it
    is_gold: bool  # whether it is the human reply; a model may have said the same

    @property
    def is_shown(self) -> bool:
        """False if all who wrote it were dropped from the study."""
        return self.is_gold or bool(self.candidates)

    @property
    def writers(self) -> tuple[int | None, ...]:
        """Return one entry for each rating that this card makes: its candidates, and None for the human reply."""
        return (*self.candidates, None) if self.is_gold else self.candidates


def living_cards(cards: Sequence[Card], dropped: Collection[int]) -> tuple[Card, ...]:
    """Return the cards without these candidates. Cards keep their numbers; one that nobody is left on `is_shown` no
    more."""
    return tuple(Card(tuple(one for one in card.candidates if one not in dropped), card.is_gold) for card in cards)


def gold_card(cards: Sequence[Card]) -> int | None:
    """Return the number of the card with the human reply, or None if there is none."""
    return next((number for number, card in enumerate(cards) if card.is_gold), None)


class CardsField(models.JSONField):
    """Stores cards as `[{"candidates": [1, 2], "gold": false}, ...]` and reads them as a tuple of Card."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> tuple[Card, ...] | None:
        found = super().from_db_value(value, expression, connection)
        return None if found is None else tuple(Card(tuple(one["candidates"]), one["gold"]) for one in found)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        plain = [{"candidates": [*card.candidates], "gold": card.is_gold} for card in value]
        return super().get_db_prep_value(plain, connection, prepared)
