"""Perplexity: how far the human reply surprises a generator."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Perplexity:
    """`macro` is what the papers report: exp of the mean over dialogs of each dialog's mean loss. `by_token` weights
    dialogs by their tokens: exp of the mean loss of all tokens."""

    macro: float
    by_token: float


def perplexity(golds: Sequence[tuple[float, int]]) -> Perplexity | None:
    """Of (mean natural-log likelihood per token, tokens) of each gold. None without one, or beyond what a number holds.

    >>> perplexity([(-math.log(2), 1), (-math.log(8), 3)])
    Perplexity(macro=4.0, by_token=5.656854249492381)
    """
    tokens = sum(count for _, count in golds)
    if not tokens:
        return None
    macro = -sum(likelihood for likelihood, _ in golds) / len(golds)
    by_token = -sum(likelihood * count for likelihood, count in golds) / tokens
    try:
        return Perplexity(math.exp(macro), math.exp(by_token))
    except OverflowError:
        return None
