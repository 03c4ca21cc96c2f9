"""Defines what a page may send about a dialog: places of cards, and names that no protocol may use for its own fields.

A page knows the cards by their places only, and we store them by their numbers: `by_cards` and `by_places` turn one
into the other. A stranger may send anything. Whatever fits no dialog is an InvalidAnswer, which the page gets as a
refusal; any other error looks like a server that is away, and the page would send the same again for ever.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evalplatform.errors import EvalPlatformError

Said = TypeVar("Said")

# A card's place on the page, as a key of JSON: "0" to "99".
Place = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]?)$")]

# What a page may note of a move. `write_page_types` tells the page, where choiceOf (choices.ts) makes it of any words.
LONGEST_CHOICE = 30
CHOICE_PATTERN = rf"^[a-z0-9_]{{0,{LONGEST_CHOICE}}}$"
Choice = Annotated[str, Field(pattern=CHOICE_PATTERN)]

# These fields stand beside a protocol's own in what pages send and get, and in the copy of the answers.
COMMON_FIELDS = frozenset(
    "position revision active_ms hidden_ms moves problem attempt conflict bonus checks saved_at at".split()
)


class InvalidAnswer(EvalPlatformError):
    """What a page sent is not an answer to this dialog. Our own pages never send such a thing."""


class Sent(BaseModel):
    """What a page sends about a dialog, beside times and moves: each protocol has fields of its own."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _make_storable(cls, said: Any) -> Any:
        """Do it here for all texts, so that no protocol can forget it."""
        return storable(said)


def storable(said: Any) -> Any:
    """Remove the one character that PostgreSQL can't store, rather than lose the worker's words.

    >>> storable({"why": "a\\0b"})
    {'why': 'ab'}
    """
    if isinstance(said, str):
        return said.replace("\0", "")
    if isinstance(said, list):
        return [storable(one) for one in said]
    if isinstance(said, dict):
        return {storable(key): storable(one) for key, one in said.items()}
    return said


def by_cards(said: Mapping[str, Said], card_order: Sequence[int]) -> dict[str, Said]:
    """Return by card what was said by place. Raises InvalidAnswer where the dialog has no such place.

    >>> by_cards({"0": "good"}, card_order=[2, 0, 1])
    {'2': 'good'}
    """
    places = {str(place): str(card) for place, card in enumerate(card_order)}
    if not said.keys() <= places.keys():
        raise InvalidAnswer("This dialog has other replies.")
    return {places[place]: one for place, one in said.items()}


def by_places(said: Mapping[str, Said], card_order: Sequence[int]) -> dict[str, Said]:
    """Return by place what is stored by card.

    >>> by_places({"2": "good"}, card_order=[2, 0, 1])
    {'0': 'good'}
    """
    return {str(place): said[str(card)] for place, card in enumerate(card_order) if str(card) in said}
