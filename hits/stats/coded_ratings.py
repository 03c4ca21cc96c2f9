"""Turns a ratings frame into arrays of whole numbers, from which all statistics are computed.

In: a frame as hits.frames or hits.elsewhere makes it. Out: `CodedRatings`. Guaranteed: codes follow the
order of the rows (dialogs, workers) or of the categories (datasets, generators, values), so that other names for
the same things give the same numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from hits.stats.scales import CriterionScale

Codes = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

HUMAN = -1  # the code of the human reply, which no generator wrote
NOT_FOR_COMPARISONS = "not defined for comparisons"
NO_ORDER = "the labels have no order"
DIFFERENT_DATASETS = "the models were rated on different datasets"


@dataclass(frozen=True)
class CodedRatings:
    """A row for each rating. Codes are small numbers, of one byte where there are few names, since studies have
    millions of rows and every selection copies them: whoever adds to codes or multiplies them makes them larger first.
    `answer` is a worker's whole answer to one dialog, `reply` one writer's reply to it.

    Where replies were compared, a row is a comparison of two replies, `reply` the two of them, and `opponent` the
    second one's writer. The same two always stand in the same order: the human reply first, then the design's order.
    What one of them gains the other loses: values mirror each other, and so do their scores, around 0.
    """

    dialog: Codes
    worker: Codes
    answer: Codes
    reply: Codes
    dataset: Codes
    generator: Codes  # HUMAN for the human reply
    value: Codes  # 0 is the best
    score: Floats  # higher is better
    opponent: Codes | None  # None where nothing was compared
    is_first_of_card: Mask  # among the rows of generators: False where the same card was counted already
    datasets: tuple[str, ...]
    generators: tuple[str, ...]
    values: tuple[str, ...]
    scores: tuple[float, ...]  # of the values
    workers: "pd.Index[Any]"  # their names; where raters are not identified, there may be millions
    # Of a long scale, `values` are bins, with the lowest score of each; `score` is exact. These are the scale's ends.
    ends_of_bins: tuple[float, float] | None = None
    is_nominal: bool = False  # the values are labels without an order: no score means anything

    def __len__(self) -> int:
        return len(self.dialog)

    def of(self, rows: Mask) -> "CodedRatings":
        if rows.all():
            return self
        return self._at(np.flatnonzero(rows))  # look at the whole mask once, and not for each column

    def by_group(self, group: Codes, count: int) -> Iterator["CodedRatings"]:
        """Split the rows into `count` groups, with a single sort. They come one by one: all together are a copy."""
        order = np.argsort(group, kind="stable").astype(np.int32)
        ends = np.cumsum(np.bincount(group, minlength=count))
        return (self._at(indexes) for indexes in np.split(order, ends[:-1]))

    def _at(self, indexes: Codes) -> "CodedRatings":
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        changes: dict[str, Any] = {
            name: column.take(indexes) for name, column in columns.items() if isinstance(column, np.ndarray)
        }
        return replace(self, **changes)

    @property
    def score_ends(self) -> tuple[float, float]:
        """Return the lowest and the highest score that a rating can have."""
        return self.ends_of_bins or (min(self.scores), max(self.scores))

    @property
    def no_score_because(self) -> str:
        """Say why scores mean nothing here; empty if they do."""
        if self.opponent is not None:
            return NOT_FOR_COMPARISONS
        return NO_ORDER if self.is_nominal else ""

    @property
    def from_both_sides(self) -> "CodedRatings":
        """Make each comparison two rows, one for each generator, so that it can be counted by generator; the second row
        is mirrored."""
        # A cached reference to itself would keep a copy of all ratings until Python looks for cycles.
        return self if self.opponent is None else self._from_both_sides

    @cached_property
    def _from_both_sides(self) -> "CodedRatings":
        if self.opponent is None:
            raise ValueError("Nothing was compared.")
        mirrored = len(self.values) - 1 - self.value
        changes = {
            "generator": (self.generator, self.opponent),
            "opponent": (self.opponent, self.generator),
            "value": (self.value, mirrored),
            "score": (self.score, -self.score),
        }
        same = ("dialog", "worker", "answer", "reply", "dataset", "is_first_of_card")
        changes |= {name: (getattr(self, name),) * 2 for name in same}
        return replace(self, **{name: np.concatenate(both) for name, both in changes.items()})  # type: ignore[arg-type]

    @cached_property
    def pooling_problems(self) -> tuple[str, ...]:
        """Say of each generator why all datasets together mean nothing; empty if they do. A generator that was rated on
        the easier dataset only would look better than it is, so it takes every dataset that has ratings, and a second
        generator that has them. Where replies were compared, both met the same dialog."""
        if self.opponent is not None:
            return ("",) * len(self.generators)
        shape = (len(self.datasets), len(self.generators))
        cells = self.by_generators.cells
        return pooling_problems_of(np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape) > 0)

    @property
    def pooling_problem(self) -> str:
        """Say why all datasets together mean nothing for some generator; empty if they do. Those without any rating
        don't count."""
        return next(filter(None, self.pooling_problems), "")

    @property
    def by_generators(self) -> "CodedRatings":
        return self._by_generators if (self.generator == HUMAN).any() else self

    @cached_property
    def _by_generators(self) -> "CodedRatings":
        return self.of(self.generator != HUMAN)

    @property
    def cards(self) -> "CodedRatings":
        """Return one row for each card of generators that a worker moved; agreement is counted on these."""
        rows = self.by_generators
        return rows.of(rows.is_first_of_card)

    @cached_property
    def card_reply(self) -> Codes:
        """Return the reply that stands for each row's card, so that a shared card counts as one thing. This works only
        for generators' rows, in which rows of one card stand together."""
        if self.is_first_of_card.all():
            return self.reply
        first = np.maximum.accumulate(np.where(self.is_first_of_card, np.arange(len(self)), 0))
        return self.reply[first]

    @property
    def cells(self) -> Codes:
        """Return the dataset and generator of each row of a generator, as one number."""
        return self.dataset.astype(np.int32) * len(self.generators) + self.generator

    def of_generator(self, code: int) -> "CodedRatings":
        """Return the rows of a generator's replies, and the comparisons that it takes part in."""
        return self.of((self.generator == code) | (self.opponent == code))

    def in_dataset(self, dataset: int) -> "CodedRatings":
        return self.of(self.dataset == dataset)

    @property
    def dialog_count(self) -> int:
        return _count(self.dialog)

    @property
    def worker_count(self) -> int:
        return _count(self.worker)


def code_ratings(frame: pd.DataFrame, scale: CriterionScale | None = None) -> CodedRatings:
    """Code the ratings of one criterion. Its `scale` says what values score that nobody chose, and which bins there
    are; without it, values that nobody chose follow the others in steps of 1.

    >>> frame = pd.DataFrame({"worker": ["b", "a"], "dialog": [7, 7], "dataset": "ED", "generator": ["x", "x"],
    ...                       "value": ["good", "bad"], "score": [3, 1]})
    >>> coded = code_ratings(frame)
    >>> coded.worker.tolist(), coded.values, coded.value.tolist()
    ([0, 1], ('good', 'bad'), [0, 1])
    """
    dataset, datasets = _categories(frame["dataset"])
    generator, generators = _categories(frame["generator"])
    score = frame["score"].to_numpy(np.float64)
    value, values, scores = _values(frame["value"], score, scale)
    dialog = pd.factorize(frame["dialog"])[0].astype(np.int32)
    worker, workers = pd.factorize(frame["worker"])
    worker = worker.astype(np.int32)
    answer = _factorize_pairs(dialog, worker)
    reply_by = generator.astype(np.int32) + 1  # 0 is the human reply
    opponent = _opponents(frame, generators)
    if opponent is not None:
        is_turned = generator > opponent
        generator, opponent = np.where(is_turned, opponent, generator), np.where(is_turned, generator, opponent)
        value = np.where(is_turned, len(values) - 1 - value, value)
        score = np.where(is_turned, -score, score)
        reply_by = (generator.astype(np.int32) + 1) * len(generators) + opponent
    return CodedRatings(
        dialog=dialog,
        worker=worker,
        answer=answer,
        reply=_factorize_pairs(dialog, reply_by, (len(generators) + 1) * (1 if opponent is None else len(generators))),
        dataset=dataset,
        generator=generator,
        value=value,
        score=score,
        opponent=opponent,
        # In a comparison, one card says too little: the other card belongs to it.
        is_first_of_card=_is_first_of_card(frame, answer, generator) if opponent is None else np.ones(len(frame), bool),
        datasets=datasets,
        generators=generators,
        values=values,
        scores=scores,
        workers=pd.Index(workers),
        ends_of_bins=(min(scale.scores), max(scale.scores)) if scale is not None and scale.bins else None,
        is_nominal=scale is not None and scale.is_nominal,
    )


def _categories(column: "pd.Series[Any]") -> tuple[Codes, tuple[str, ...]]:
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype("category")
    names = tuple(str(name) for name in column.cat.categories)
    return column.cat.codes.to_numpy().astype(_smallest_type(len(names))), names


def _smallest_type(count: int) -> type[np.signedinteger[Any]]:
    """Return the type of so many codes."""
    return np.int8 if count < 128 else np.int16 if count < 32_768 else np.int32


def _opponents(frame: pd.DataFrame, generators: tuple[str, ...]) -> Codes | None:
    if "opponent" not in frame or not frame["opponent"].notna().any():
        return None
    if frame["opponent"].isna().any():
        raise ValueError("Some ratings of this criterion are comparisons, and some are not.")
    column = frame["opponent"].astype("category")
    indexes = {name: code for code, name in enumerate(generators)}
    codes = np.array([indexes[str(name)] for name in column.cat.categories], _smallest_type(len(generators)))
    return codes[column.cat.codes.to_numpy()]


def _values(
    column: "pd.Series[Any]", score: Floats, scale: CriterionScale | None
) -> tuple[Codes, tuple[str, ...], tuple[float, ...]]:
    """Return the values best first, whatever the order of the categories; values that nobody chose keep their place."""
    if scale is not None and scale.bins:
        # The first bin is the best: count the bins whose lowest score is above the rating.
        value = np.zeros(len(score), _smallest_type(len(scale.bins)))
        for lowest in scale.bins[:-1]:
            value += score < lowest
        return value, scale.bin_names, scale.bins
    codes, names = _categories(column)
    if scale is not None and set(names) <= set(scale.values):
        indexes = np.array([scale.values.index(name) for name in names], _smallest_type(len(scale.values)))
        return indexes[codes], scale.values, scale.scores
    found = np.full(len(names), np.nan)
    found[codes] = score
    missing = np.isnan(found)
    found[missing] = -np.flatnonzero(missing) + (np.nanmax(found + np.arange(len(names))) if not missing.all() else 0)
    order = np.argsort(-found, kind="stable")
    rank = np.empty(len(names), _smallest_type(len(names)))
    rank[order] = np.arange(len(names))
    return rank[codes], tuple(names[index] for index in order), tuple(float(found[index]) for index in order)


def _factorize_pairs(first: Codes, second: Codes, count: int | None = None) -> Codes:
    size = count if count is not None else (int(second.max()) + 1 if len(second) else 1)
    return pd.factorize(first.astype(np.int64) * size + second)[0].astype(np.int32)


def _is_first_of_card(frame: pd.DataFrame, answer: Codes, generator: Codes) -> Mask:
    """Mark each card's first row of a generator. The frame's own column may have marked the human reply instead."""
    if "card" not in frame:
        return np.ones(len(frame), bool)
    card = frame["card"].to_numpy().astype(np.int64)
    card += answer * (card.max(initial=0) + 1)
    is_human = np.flatnonzero(generator == HUMAN)
    card[is_human] = -1 - is_human
    return ~pd.Series(card, copy=False).duplicated().to_numpy()


def pooling_problems_of(has_ratings: Mask) -> tuple[str, ...]:
    """Say of each generator why all datasets together mean nothing, from (dataset, generator); empty if they do."""
    is_rated: Mask = has_ratings.sum(axis=0) > 0
    is_in_all: Mask = has_ratings.sum(axis=0) == np.count_nonzero(has_ratings.any(axis=1))
    # One such generator alone has nothing to be compared with.
    is_anything = np.count_nonzero(is_in_all) >= 2 or np.array_equal(is_in_all, is_rated)
    told = zip(is_in_all.tolist(), is_rated.tolist(), strict=True)
    return tuple("" if (in_all and is_anything) or not rated else DIFFERENT_DATASETS for in_all, rated in told)


def _count(codes: Codes) -> int:
    return int(np.count_nonzero(np.bincount(codes))) if len(codes) else 0
