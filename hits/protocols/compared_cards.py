"""Turns a comparison of two cards into ratings with an opponent, for protocols that compare replies.

What comes in: which of two cards was judged how. What goes out: judgements, one for each pair of writers. What is
guaranteed: all workers' ratings of the same two cards have the same candidate and opponent, wherever the cards stood on
the page. The candidate is the card with the lower number, unless the other is the human reply, which is never an
opponent (protocol.Judgement).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from hits.models.cards import Card
from hits.protocols.criteria import Criterion
from hits.protocols.protocol import Judgement


def compare_cards(
    criterion: Criterion, value: str, first: int, second: int, cards: Sequence[Card], card_order: Sequence[int]
) -> Iterator[Judgement]:
    """Yield the judgements that follow when the worker said `value` of the card `first` against the card `second`.

    A card compared with itself stands for identical replies; the protocol then says that they are alike.
    """
    if first > second:
        first, second, value = second, first, criterion.scale.mirrored(value)
    one, other = cards[first].writers, cards[second].writers
    for writer, opponent in combinations(one, 2) if first == second else product(one, other):
        if opponent is None:
            mirrored = criterion.scale.mirrored(value)
            yield Judgement(second, card_order.index(second), None, mirrored, criterion.name, writer)
        else:
            yield Judgement(first, card_order.index(first), writer, value, criterion.name, opponent)
