"""Turns a value of a scale into its score, and defines what the statistics must know of a criterion's scale.

    score = number of values - index of the value, from 0 at the best

The best of three values scores 3, the worst 1: the distance between neighbours is 1 on every scale of named values.

A scale with very many values, such as a slider from 0 to 100, is analysed by its exact scores, but its shares are shown
by bins. This file needs neither numpy nor pandas, because pages and protocols use it too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


MOST_SHOWN = 11  # values that each have a share of their own; a scale with more is shown by bins
BINS = 5


@dataclass(frozen=True)
class CriterionScale:
    """The scale of one criterion. `values` come best first, each with its score. `is_by_mean` says that the values are
    points with equal distances, so that tables show means first; otherwise they are names, and shares come first.
    `bins` are the lowest scores of the bins, best first; they are empty if each value is shown by itself.
    `is_nominal` says that the values are labels without an order: their scores mean nothing."""

    values: tuple[str, ...]
    scores: tuple[float, ...]
    label: str = ""  # the criterion's name as people read it; empty if its key says it all
    is_by_mean: bool = False
    bins: tuple[float, ...] = ()
    is_nominal: bool = False

    def place_of(self, value: str) -> int:
        """Return the place of a value on the scale, best first; where there are bins, that of its bin.

        >>> CriterionScale(("3", "2", "1"), (3, 2, 1), bins=(3, 1)).place_of("1")
        1
        """
        place = self.values.index(value)
        return sum(self.scores[place] < low for low in self.bins) if self.bins else place

    @property
    def bin_names(self) -> tuple[str, ...]:
        """
        >>> CriterionScale(("3", "2", "1"), (3, 2, 1), bins=(3, 1)).bin_names
        ('3', '1 to 2')
        """
        tops = [max(self.scores), *(max(one for one in self.scores if one < low) for low in self.bins[:-1])]
        return tuple(
            f"{low:g}" if low == top else f"{low:g} to {top:g}" for low, top in zip(self.bins, tops, strict=True)
        )


def usual_bins(scores: Sequence[float]) -> tuple[float, ...]:
    """Return the bins of a scale with these scores: five of about equal width if it has more than eleven, else none.

    >>> usual_bins(range(101))
    (81, 61, 41, 21, 0)
    """
    if len(scores) <= MOST_SHOWN:
        return ()
    low, width = min(scores), (max(scores) - min(scores)) / BINS
    lows = [low, *(math.floor(low + number * width) + 1 for number in range(1, BINS))]
    return tuple(reversed(lows))


@overload
def score_of(index: int, values: int) -> int: ...


@overload
def score_of(index: "npt.NDArray[np.integer[Any]]", values: int) -> "npt.NDArray[np.integer[Any]]": ...


def score_of(index: Any, values: int) -> Any:
    """Return the score of the value at an index, or of many as an array, on a scale of this many `values`.

    >>> [score_of(index, values=3) for index in range(3)]
    [3, 2, 1]
    """
    return values - index
