"""Two cards compared -> ratings with an opponent: what protocols that compare replies have in common.

In: which of two cards was judged how. Out: judgements, one for each pair of writers. Guaranteed: all workers' ratings
of the same two cards have the same candidate and opponent, whatever their places on the page: the card with the lower
number is the candidate's, unless the other is the human reply, which is never an opponent (contract.Judgement).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from hits.models.cards import Card
from hits.protocols.protocol import Criterion, Judgement


def compare_cards(
    criterion: Criterion, value: str, first: int, second: int, cards: Sequence[Card], card_order: Sequence[int]
) -> Iterator[Judgement]:
    """`value` is what was said of the card `first` against the card `second`. A card compared with itself stands for
    identical replies, of which the protocol says that they are alike."""
    if first > second:
        first, second, value = second, first, criterion.scale.mirrored(value)
    one, other = cards[first].writers, cards[second].writers
    for writer, opponent in combinations(one, 2) if first == second else product(one, other):
        if opponent is None:
            mirrored = criterion.scale.mirrored(value)
            yield Judgement(second, card_order.index(second), None, mirrored, criterion.name, writer)
        else:
            yield Judgement(first, card_order.index(first), writer, value, criterion.name, opponent)
