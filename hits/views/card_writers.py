"""Names who wrote a card, which researchers may know and workers never, and its letter on the worker's page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from generation.models import Candidate, Dialog
from hits.models import HitItem
from hits.models.cards import Card
from hits.models.design import StudyDesign


@dataclass(frozen=True)
class WrittenReply:
    """`letter` is its name on the worker's page, `said` what the worker said of it ("" is nothing)."""

    letter: str
    writers: str
    is_gold: bool
    said: str


def written_replies(
    cards: Sequence[Card], order: Sequence[int], candidates: dict[int, Candidate], said: dict[int, str]
) -> list[WrittenReply]:
    """List the cards as they stand on the page. `said` is by the cards' numbers."""
    return [
        WrittenReply(
            letter_of(place), writers_of(cards[number], candidates), cards[number].is_gold, said.get(number, "")
        )
        for place, number in enumerate(order)
    ]


def candidates_of(items: Iterable[HitItem]) -> dict[int, Candidate]:
    keys = [key for item in items for card in item.cards for key in card.candidates]
    return Candidate.objects.select_related("generator").in_bulk(keys)


def writers_of(card: Card, candidates: dict[int, Candidate]) -> str:
    """Name the models that said this, and the human if it is their reply."""
    names = [candidates[key].generator.name for key in card.candidates]
    return ", ".join([*names, "human reply"] if card.is_gold else names)


def text_of(design: StudyDesign, card: Card, dialog: Dialog, candidates: dict[int, Candidate]) -> str:
    """Return the reply as workers read it."""
    return design.shown(candidates[card.candidates[0]].display_text if card.candidates else dialog.display_gold)


def letter_of(place: int) -> str:
    """Name the card at a place, from 0, as frontend/src/worker/letters.ts does: A to Z, then AA."""
    rest, letters = place + 1, ""
    while rest:
        rest, last = divmod(rest - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters
