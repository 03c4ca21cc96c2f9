"""Makes the leaderboard: the models ranked by the planned outcome, with letters, and the human reply beside them.

A dataset's own table has the report's one order of models, too (hits.analysing.report_order): the rank says who leads
there.
"""

from dataclasses import replace

from hits.analysing.report import ALL_DATASETS, HUMAN, Cell, Column, Head, Kind, Row, Table, count, number
from hits.analysing.results import CriterionResults
from hits.stats import MEAN_SCORE, SHARE_OF_BEST, WIN_RATE, Comparisons, Estimate, ShareRow, Undefined

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
        _row(rows[one.generator], Head((one.generator,), rank=rank, letters=one.letters), table.outcome, found)
        for rank, one in enumerate(table.letters, start=1)
        if one.generator in rows
    ]
    ranked = [row if row.cells[1].number else replace(row, head=replace(row.head, rank=None)) for row in ranked]
    ranked.sort(key=lambda row: found.generators.index(row.head.names[0]))
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
