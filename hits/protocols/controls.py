"""Says what a control's answer tells: whether an attention check was obeyed, and what was said twice of a reply.

A control is an item whose answer makes no ratings of models. It shows an earlier item of its HIT again, with the cards
the other way round. An attention check also tells what to answer, which answer is one of the protocol's
(`Protocol.told_answers`); a repeat tells nothing, and shows how far a worker agrees with himself or herself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hits.models.cards import Card
from hits.models.design import ANSWER_TOLD
from hits.protocols.protocol import Judgement, Protocol, Value

USUAL_WORDS = (
    f"This conversation only checks that you are reading. Whatever you think of its replies, please {ANSWER_TOLD}."
)


@dataclass(frozen=True, slots=True)
class SaidTwice:
    """What a worker said of one reply (in a comparison, of two) at first, and when the item came again."""

    criterion: str
    card: int
    candidate: int | None
    opponent: int | None
    first: str
    again: str


def words_told(protocol: Protocol[Any], cards: int, number: int) -> str:
    """Return what the page of an attention check tells, with the study's words or the usual ones."""
    words: str = protocol.design.checkpoints.attention_text or USUAL_WORDS
    return words.replace(ANSWER_TOLD, protocol.told_answers(cards)[number].words)


def obeys(protocol: Protocol[Any], value: Value, card_order: Sequence[int], number: int) -> bool:
    """Return whether the answer is the told one. What a protocol asks beside its ratings, such as a reason in words,
    does not count."""
    told = protocol.read(protocol.told_answers(len(card_order))[number].sent, card_order)
    return all(protocol.values_of_card(value, card) == protocol.values_of_card(told, card) for card in card_order)


def said_twice(
    protocol: Protocol[Any],
    cards: Sequence[Card],
    first: tuple[Value, Sequence[int]],
    again: tuple[Value, Sequence[int]],
) -> Iterator[SaidTwice]:
    """Yield each reply that has a rating in both answers, which are given with the orders of their cards. A card that
    stands for several models counts once."""
    before, after = (_by_reply(protocol, cards, *answer) for answer in (first, again))
    for key, one in before.items():
        if key in after:
            yield SaidTwice(one.criterion, one.card, one.candidate, one.opponent, one.value, after[key].value)


def _by_reply(
    protocol: Protocol[Any], cards: Sequence[Card], value: Value, card_order: Sequence[int]
) -> dict[tuple[str, int | None, int | None], Judgement]:
    firsts = {None, *(card.writers[0] for card in cards if card.writers)}
    return {
        (one.criterion, one.candidate, one.opponent): one
        for one in protocol.judgements(value, card_order, cards)
        if one.candidate in firsts and one.opponent in firsts
    }
