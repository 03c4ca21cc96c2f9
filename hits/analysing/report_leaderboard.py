"""Makes the leaderboard: the models ranked by the planned outcome, with letters, and the human reply beside them.

It also decides the one order of models that a whole report has, so that a reader finds a model at the same place in
every table and figure.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from hits.analysing.report import ALL_DATASETS, HUMAN, Cell, Column, Head, Kind, Row, Table, count, number
from hits.analysing.results import CriterionResults, Results
from hits.stats import MEAN_SCORE, SHARE_OF_BEST, WIN_RATE, Comparison, Comparisons, Estimate, ShareRow, Undefined

T = TypeVar("T")
NOT_IN_ALL = "the human reply was not rated in every dataset; choose one of them"


def leaderboards(found: CriterionResults) -> tuple[Table, ...]:
    """Make a table for all datasets together, if there are several, and for each."""
    return tuple(_leaderboard(table, found) for table in found.comparisons)


def _leaderboard(table: Comparisons, found: CriterionResults) -> Table:
    rows = {row.generator: row for row in found.tested_table if row.dataset == table.dataset}
    columns = (
        Column("outcome", outcome_title(table.outcome, found)),
        Column("ratings", "ratings"),
        Column("dialogs", "dialogs"),
        Column("workers", "workers"),
    )
    ranked = [
        _row(rows[one.generator], Head((one.generator,), rank=place, letters=one.letters), table.outcome, found)
        for place, one in enumerate(table.letters, start=1)
        if one.generator in rows
    ]
    ranked = [row if row.cells[1].number else replace(row, head=replace(row.head, rank=None)) for row in ranked]
    human = _human_row(table, found)
    title = table.dataset or ALL_DATASETS
    return Table("leaderboard", title, "Model", columns, (*ranked, *human), table.dataset)


def _human_row(table: Comparisons, found: CriterionResults) -> list[Row]:
    """Return the row of the human reply, none if no human reply was rated."""
    head = Head((HUMAN,), is_human=True)
    rows = [row for row in found.calibration if row.generator is None]
    here = [row for row in rows if row.dataset == table.dataset]
    if here:
        return [_row(here[0], head, table.outcome, found)]
    if not rows or table.dataset is not None:
        return []
    nothing = Cell(outcome_kind(table.outcome, found), None, undefined=NOT_IN_ALL)
    return [Row(head, (nothing, count(sum(row.ratings for row in rows)), count(0), count(0)))]


def _row(row: ShareRow, head: Head, outcome: str, found: CriterionResults) -> Row:
    sizes = (count(row.ratings), count(row.dialogs), count(row.workers))
    return Row(head, (number(outcome_kind(outcome, found), outcome_in(row, outcome, found)), *sizes))


# --- The planned outcome of one model --------------------------------------------------------------------------------


def outcome_in(row: ShareRow, outcome: str, found: CriterionResults) -> Estimate | Undefined:
    """Return what models are ranked by. Win rates of replies that were rated one by one have no value of their own for
    one model: they are ranked by mean scores."""
    if found.is_comparison:
        return row.win_rate
    if outcome != SHARE_OF_BEST:
        return row.mean_score
    if isinstance(row.shares, Undefined):
        return row.shares
    return Estimate(row.shares[0].share, row.shares[0].interval)


def outcome_kind(outcome: str, found: CriterionResults) -> Kind:
    return Kind.SHARE if found.is_comparison or outcome == SHARE_OF_BEST else Kind.SCORE


def outcome_title(outcome: str, found: CriterionResults) -> str:
    if found.is_comparison or not found.values:
        return WIN_RATE if found.is_comparison else MEAN_SCORE
    return f"share of {found.values[0]}" if outcome == SHARE_OF_BEST else MEAN_SCORE


# --- One order -------------------------------------------------------------------------------------------------------


def in_one_order(results: Results) -> Results:
    """Put the models of each criterion into the leaderboard's order, the best first, everywhere. Only letters stay in
    the order of their own dataset, whose best model comes first."""
    return replace(results, criteria=tuple(map(_ordered, results.criteria)))


def _ordered(found: CriterionResults) -> CriterionResults:
    places = {name: place for place, name in enumerate(model_order(found))}

    def place(generator: str | None) -> int:
        return -1 if generator is None else places.get(generator, len(places))

    def sort(rows: Iterable[T], dataset_of: Callable[[T], str | None], name_of: Callable[[T], str | None]) -> list[T]:
        """Sort within each dataset, whose order stays."""
        kept = list(rows)
        datasets = list(dict.fromkeys(map(dataset_of, kept)))
        return sorted(kept, key=lambda row: (datasets.index(dataset_of(row)), place(name_of(row))))

    def sort_pairs(tables: Iterable[Comparisons]) -> tuple[Comparisons, ...]:
        def places_of(pair: Comparison) -> list[int]:
            return sorted((place(pair.first), place(pair.second)))

        return tuple(replace(one, comparisons=tuple(sorted(one.comparisons, key=places_of))) for one in tables)

    true = found.true_values
    if not isinstance(true, Undefined):
        true = replace(true, shares=tuple(sort(true.shares, lambda row: row.dataset, lambda row: row.generator)))
    return replace(
        found,
        generators=tuple(sorted(found.generators, key=place)),
        table=tuple(sort(found.table, lambda row: row.dataset, lambda row: row.generator)),
        planned_table=tuple(sort(found.planned_table, lambda row: row.dataset, lambda row: row.generator)),
        comparisons=sort_pairs(found.comparisons),
        variants=tuple(replace(one, comparisons=sort_pairs(one.comparisons)) for one in found.variants),
        rankings=tuple(
            one
            if isinstance(one.ranked, Undefined)
            else replace(one, ranked=tuple(sorted(one.ranked, key=lambda ranked: place(ranked.generator))))
            for one in found.rankings
        ),
        agreement=tuple(sort(found.agreement, lambda row: row.dataset, lambda row: row.generator)),
        true_values=true,
        metrics=tuple(
            replace(one, generators=tuple(sorted(one.generators, key=lambda mean: place(mean.generator))))
            for one in found.metrics
        ),
        calibration=tuple(sort(found.calibration, lambda row: row.dataset, lambda row: row.generator)),
        sequences=tuple(
            sorted(
                found.sequences,
                key=lambda one: (
                    [table.dataset for table in found.comparisons].index(one.dataset),
                    sorted((place(one.first), place(one.second))),
                ),
            )
        ),
    )


def model_order(found: CriterionResults) -> list[str]:
    """Return the models as the leaderboard ranks them: in all datasets together, or where those mean nothing in the
    first dataset."""
    tables = [table for table in found.comparisons if any(pair.is_primary for pair in table.comparisons)]
    chosen = (tables or found.comparisons)[:1]
    return [one.generator for table in chosen for one in table.letters]
