"""Defines what people are asked about: criteria with their scales; finds names that files and tables could not carry.

A criterion and its values are named twice: by a key, which goes into rows, file names and LaTeX labels, and by a label,
which people read and which may be anything.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Annotated

from pydantic import Field

from hits.stats import MOST_SHOWN, CriterionScale, usual_bins

OVERALL = "overall"

KEY_PATTERN = r"^[a-z][a-z0-9_]{0,29}$"
VALUE_PATTERN = r"^[a-z0-9_]{1,30}$"  # as a key, but "7" is fine

# What a researcher names a criterion or a value by.
Key = Annotated[str, Field(pattern=KEY_PATTERN)]


@dataclass(frozen=True)
class Scale:
    """The values that a rating may have, best first."""

    values: tuple[str, ...]
    labels: tuple[str, ...]  # as workers read them
    scores: tuple[int, ...]  # higher is better
    is_by_mean: bool = False  # points with equal distances, whose means are shown first; else names, shown by shares
    bins: tuple[int, ...] = ()  # the lowest score of each, best first; of more than eleven values, five unless said

    def score(self, value: str) -> int:
        return self.scores[self.values.index(value)]

    def label(self, value: str) -> str:
        return self.labels[self.values.index(value)]

    def mirrored(self, value: str) -> str:
        """Return the same comparison seen from the other reply.

        The scale of a comparison runs from one reply's best to the other's, so the second best for one is the second
        worst for the other.
        """
        return self.values[-1 - self.values.index(value)]


@dataclass(frozen=True)
class Criterion:
    """What people are asked about. In a comparison, one reply gains what the other loses, so the scores must be
    symmetric around 0, such as 1, 0, -1 for win, tie, loss."""

    name: str
    scale: Scale
    is_comparison: bool = False
    label: str = ""  # as people read it; the name if empty
    question: str = ""  # as workers read it; the task's question if empty

    def __post_init__(self) -> None:
        scores = self.scale.scores
        if self.is_comparison and scores != tuple(-score for score in reversed(scores)):
            raise ValueError(f"The scores of {self.name}, a comparison, are not symmetric around 0: {scores}.")

    @property
    def title(self) -> str:
        return self.label or self.name

    @property
    def measured(self) -> CriterionScale:
        """Return what the statistics must know of it."""
        scale = self.scale
        bins = () if self.is_comparison else scale.bins or usual_bins(scale.scores)
        return CriterionScale(scale.values, scale.scores, self.label, scale.is_by_mean, bins)


def usual_shares(values: int) -> tuple[float, ...]:
    """Return shares of so many points, best first, for planning: as papers report of models, their mean lies at three
    fifths of the scale, and their deviation is three tenths of it. A slider's points are put together to eleven.

    >>> [round(share, 2) for share in usual_shares(5)]
    [0.18, 0.29, 0.31, 0.17, 0.06]
    """
    levels = min(values, MOST_SHOWN)
    latent = NormalDist(0.6 * (levels - 1), 0.3 * (levels - 1))
    below = [0.0, *(latent.cdf(point + 0.5) for point in range(levels - 1)), 1.0]
    return tuple(high - low for low, high in pairwise(below))[::-1]


def problems_of_criteria(criteria: Sequence[Criterion]) -> Iterator[str]:
    """Yield what is wrong with the names and values. Rows, file names and LaTeX labels carry them."""
    names = [one.name for one in criteria]
    if not names:
        yield "is empty; name a criterion to ask about"
    for name in _repeated(names):
        yield f"{name} is listed twice; list each once"
    for one in criteria:
        if not re.fullmatch(KEY_PATTERN, one.name):
            yield (
                f"{one.name!r} can't name a criterion: use small letters, digits and underscores, beginning with a "
                "letter, at most 30; its label may be anything"
            )
        about = f" of {one.name}" if len(criteria) > 1 else ""
        yield from (f"{problem}{about}" for problem in _problems_of_scale(one.scale))


def _problems_of_scale(scale: Scale) -> Iterator[str]:
    if len(scale.values) < 2:
        yield "there must be two values or more"
    for value in _repeated(scale.values):
        yield f"the value {value} is listed twice; list each once"
    for value in scale.values:
        if not re.fullmatch(VALUE_PATTERN, value):
            yield (
                f"{value!r} can't name a value: use small letters, digits and underscores, at most 30; its label may "
                "be anything"
            )


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
