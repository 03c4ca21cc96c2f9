"""Puts everything that a report has into one order of models, so that a reader finds a model at the same place in every
table and figure.

In: results. Out: the same results in the leaderboard's order, the best first. Guaranteed: no number changes
but the sign of a difference whose pair is turned, and the superiority that goes with it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

from hits.analysing.results import CriterionResults, Results
from hits.stats import Comparison, Comparisons, Estimate, Interval, PairVotes, SequenceFinding, Slice, Undefined

T = TypeVar("T")


def in_one_order(results: Results) -> Results:
    """Put the models of each criterion into the leaderboard's order, the best first, everywhere, and
    the one that comes first in it first in each pair. Only letters stay in the order of their own dataset: they say
    who leads there."""
    return replace(results, criteria=tuple(map(_ordered, results.criteria)))


def _ordered(found: CriterionResults) -> CriterionResults:
    ranks = {name: rank for rank, name in enumerate(model_order(found))}

    def rank(generator: str | None) -> int:
        return -1 if generator is None else ranks.get(generator, len(ranks))

    def sort(rows: Iterable[T], dataset_of: Callable[[T], str | None], name_of: Callable[[T], str | None]) -> list[T]:
        """Sort within each dataset, whose order stays."""
        kept = list(rows)
        datasets = list(dict.fromkeys(map(dataset_of, kept)))
        return sorted(kept, key=lambda row: (datasets.index(dataset_of(row)), rank(name_of(row))))

    def sort_pairs(tables: Iterable[Comparisons]) -> tuple[Comparisons, ...]:
        def places_of(pair: Comparison) -> list[int]:
            return sorted((rank(pair.first), rank(pair.second)))

        turned = (replace(one, comparisons=tuple(map(turn, one.comparisons))) for one in tables)
        return tuple(replace(one, comparisons=tuple(sorted(one.comparisons, key=places_of))) for one in turned)

    def turn(pair: Comparison) -> Comparison:
        return _turned(pair) if rank(pair.first) > rank(pair.second) else pair

    def turn_sequence(one: SequenceFinding) -> SequenceFinding:
        return _turned_sequence(one) if rank(one.first) > rank(one.second) else one

    def turn_votes(one: PairVotes) -> PairVotes:
        return one.turned if rank(one.first) > rank(one.second) else one

    true = found.true_values
    if not isinstance(true, Undefined):
        true = replace(true, shares=tuple(sort(true.shares, lambda row: row.dataset, lambda row: row.generator)))
    return replace(
        found,
        generators=tuple(sorted(found.generators, key=rank)),
        table=tuple(sort(found.table, lambda row: row.dataset, lambda row: row.generator)),
        planned_table=tuple(sort(found.planned_table, lambda row: row.dataset, lambda row: row.generator)),
        comparisons=sort_pairs(found.comparisons),
        variants=tuple(replace(one, comparisons=sort_pairs(one.comparisons)) for one in found.variants),
        rankings=tuple(
            one
            if isinstance(one.ranked, Undefined)
            else replace(one, ranked=tuple(sorted(one.ranked, key=lambda ranked: rank(ranked.generator))))
            for one in found.rankings
        ),
        agreement=tuple(sort(found.agreement, lambda row: row.dataset, lambda row: row.generator)),
        true_values=true,
        metrics=tuple(
            replace(one, generators=tuple(sorted(one.generators, key=lambda mean: rank(mean.generator))))
            for one in found.metrics
        ),
        calibration=tuple(sort(found.calibration, lambda row: row.dataset, lambda row: row.generator)),
        sequences=tuple(
            sorted(
                map(turn_sequence, found.sequences),
                key=lambda one: (
                    [table.dataset for table in found.comparisons].index(one.dataset),
                    sorted((rank(one.first), rank(one.second))),
                ),
            )
        ),
        votes=tuple(
            sorted(
                map(turn_votes, found.votes),
                key=lambda one: (
                    [other.dataset for other in found.votes].index(one.dataset),
                    (rank(one.first), rank(one.second)),
                ),
            )
        ),
        slices=tuple(replace(one, rows=_sorted_slices(one.rows, rank)) for one in found.slices),
        by_offering=tuple(replace(one, rows=_sorted_slices(one.rows, rank)) for one in found.by_offering),
        offering_differences=tuple(
            one
            for _, pair in groupby(found.offering_differences, lambda one: (one.first, one.second))
            for one in sorted(pair, key=lambda one: rank(one.generator))
        ),
    )


def _sorted_slices(rows: Sequence[Slice], rank: Callable[[str | None], int]) -> tuple[Slice, ...]:
    levels = list(dict.fromkeys(row.level for row in rows))
    return tuple(sorted(rows, key=lambda row: (levels.index(row.level), rank(row.generator))))


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
