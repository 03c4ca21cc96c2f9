"""Puts everything that a report has into one order of models, so that a reader finds a model at the same place in every
table and figure.

In: results. Out: the same results in the leaderboard's order, the best first. Guaranteed: no number changes
but the sign of a difference whose pair is turned, and the superiority that goes with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from hits.analysing.results import CriterionResults, Results
from hits.stats import Comparison, Comparisons, Estimate, Interval, SequenceFinding, Slice, Undefined


def in_one_order(results: Results) -> Results:
    """Put the models of each criterion into the leaderboard's order, the best first, everywhere, and
    the one that comes first in it first in each pair. Only letters stay in the order of their own dataset: they say
    who leads there."""
    return replace(results, criteria=tuple(map(_ordered, results.criteria)))


def _ordered(found: CriterionResults) -> CriterionResults:
    order = _Order(model_order(found))
    return replace(
        found,
        generators=tuple(sorted(found.generators, key=order.rank)),
        table=order.rows(found.table),
        planned_table=order.rows(found.planned_table),
        comparisons=order.comparisons(found.comparisons),
        variants=tuple(replace(one, comparisons=order.comparisons(one.comparisons)) for one in found.variants),
        rankings=tuple(
            one if isinstance(one.ranked, Undefined) else replace(one, ranked=order.named(one.ranked))
            for one in found.rankings
        ),
        agreement=order.rows(found.agreement),
        true_values=found.true_values
        if isinstance(found.true_values, Undefined)
        else replace(found.true_values, shares=order.rows(found.true_values.shares)),
        metrics=tuple(replace(one, generators=order.named(one.generators)) for one in found.metrics),
        calibration=order.rows(found.calibration),
        sequences=order.pairs(
            [_turned_sequence(one) if order.is_reversed(one) else one for one in found.sequences],
            [one.dataset for one in found.comparisons],
        ),
        votes=order.pairs(
            [one.turned if order.is_reversed(one) else one for one in found.votes], [one.dataset for one in found.votes]
        ),
        slices=tuple(replace(one, rows=order.slices(one.rows)) for one in found.slices),
        by_offering=tuple(replace(one, rows=order.slices(one.rows)) for one in found.by_offering),
        offering_differences=tuple(
            one
            for _, pair in groupby(found.offering_differences, lambda one: (one.first, one.second))
            for one in order.named(pair)
        ),
    )


class _Order:
    """The models in the leaderboard's order. Datasets and levels keep theirs."""

    def __init__(self, names: Iterable[str]) -> None:
        self._ranks = {name: rank for rank, name in enumerate(names)}

    def rank(self, generator: str | None) -> int:
        """Return the place of a model; the human reply (None) comes first, and who is not ranked last."""
        return -1 if generator is None else self._ranks.get(generator, len(self._ranks))

    def named(self, rows: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(sorted(rows, key=lambda row: self.rank(row.generator)))

    def rows(self, rows: Iterable[Any]) -> tuple[Any, ...]:
        kept = list(rows)
        datasets = list(dict.fromkeys(row.dataset for row in kept))
        return tuple(sorted(kept, key=lambda row: (datasets.index(row.dataset), self.rank(row.generator))))

    def slices(self, rows: Sequence[Slice]) -> tuple[Slice, ...]:
        levels = list(dict.fromkeys(row.level for row in rows))
        return tuple(sorted(rows, key=lambda row: (levels.index(row.level), self.rank(row.generator))))

    def is_reversed(self, pair: Any) -> bool:
        return self.rank(pair.first) > self.rank(pair.second)

    def pairs(self, pairs: Iterable[Any], datasets: Sequence[str | None]) -> tuple[Any, ...]:
        return tuple(sorted(pairs, key=lambda pair: (datasets.index(pair.dataset), self._places(pair))))

    def comparisons(self, tables: Iterable[Comparisons]) -> tuple[Comparisons, ...]:
        return tuple(replace(one, comparisons=self._turned_and_sorted(one.comparisons)) for one in tables)

    def _turned_and_sorted(self, pairs: Iterable[Comparison]) -> tuple[Comparison, ...]:
        turned = (_turned(pair) if self.is_reversed(pair) else pair for pair in pairs)
        return tuple(sorted(turned, key=self._places))

    def _places(self, pair: Any) -> list[int]:
        return sorted((self.rank(pair.first), self.rank(pair.second)))


def _turned(pair: Comparison) -> Comparison:
    """Return the same comparison with the other generator first."""
    return replace(
        pair,
        first=pair.second,
        second=pair.first,
        first_higher=pair.second_higher,
        second_higher=pair.first_higher,
        difference=_taken_from(0, pair.difference),
        best_difference=_taken_from(0, pair.best_difference),
        score_difference=_taken_from(0, pair.score_difference),
        superiority=_taken_from(1, pair.superiority),
    )


def _turned_sequence(one: SequenceFinding) -> SequenceFinding:
    def negative(value: float | Undefined) -> float | Undefined:
        return value if isinstance(value, Undefined) else 0 - value

    return replace(
        one,
        first=one.second,
        second=one.first,
        estimate=negative(one.estimate),
        low=negative(one.high),
        high=negative(one.low),
    )


def _taken_from(whole: int, value: Estimate | Undefined) -> Estimate | Undefined:
    if isinstance(value, Undefined):
        return value
    interval = value.interval
    if isinstance(interval, Interval):
        interval = Interval(whole - interval.high, whole - interval.low)
    return Estimate(whole - value.value, interval)


def model_order(found: CriterionResults) -> list[str]:
    """Return the models as the leaderboard ranks them: in all datasets together, or where those mean nothing in the
    first dataset."""
    tables = [table for table in found.comparisons if any(pair.is_primary for pair in table.comparisons)]
    chosen = (tables or found.comparisons)[:1]
    return [one.generator for table in chosen for one in table.letters]
