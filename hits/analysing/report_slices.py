"""Writes a report's section about slices: the models by emotion and groups of them, number of turns, dataset."""

from dataclasses import replace

from hits.analysing.dialog_filter import DialogFilter
from hits.analysing.report import Column, Head, Kind, Row, Section, Table, count, number
from hits.analysing.results import CriterionResults
from hits.stats import Slice, Slices

TITLES = {
    "emotion group": "By group of emotions",
    "emotion": "By emotion",
    "turns": "By number of turns",
    "dataset": "By dataset",
}
FIELDS = {"emotion": "emotion", "turns": "turns", "dataset": "dataset"}


def slices(found: CriterionResults) -> Section:
    best = found.values[0] if found.values else "the best value"
    what = "the mean score" if found.is_by_mean else f"the share of {best}"
    lead = (
        f"Exploratory: {what} of each model in parts of the dialogs, with 95 % intervals. These are many numbers from "
        "few ratings each, chosen after the fact and not tested: look at n, and plan a study for what you find."
    )
    tables = tuple(_table(one, found) for one in found.slices)
    notes = tuple(
        f"{TITLES[one.by]}: {one.omitted} more with fewer ratings are not shown." for one in found.slices if one.omitted
    )
    nothing = "The dialogs have one dataset, one number of turns and no emotions, so that there is nothing to split by."
    return Section("slices", "Slices", lead, tables, notes if tables else (nothing,))


def _table(one: Slices, found: CriterionResults) -> Table:
    best = found.values[0] if found.values else "best"
    columns = (
        Column("outcome", "mean score" if found.is_by_mean else best, best),
        Column("ratings", "n, ratings"),
        *(Column(name, name) for name in ("dialogs", "workers")),
    )
    rows = tuple(_row(one.by, row, found) for row in one.rows)
    return Table("slices", TITLES[one.by], "Dialogs and model", columns, rows)


def _row(by: str, one: Slice, found: CriterionResults) -> Row:
    behind = None
    if by in FIELDS:
        behind = DialogFilter(criterion=found.criterion, model=one.generator, **{FIELDS[by]: one.level})
    outcome = number(Kind.SCORE, one.mean_score) if found.is_by_mean else number(Kind.SHARE, one.share)
    level = f"{one.level} turn{'' if one.level == '1' else 's'}" if by == "turns" else one.level
    return Row(
        Head((level, one.generator)),
        (
            replace(outcome, dialogs=behind),
            replace(count(one.ratings), dialogs=behind),
            replace(count(one.dialogs), dialogs=behind),
            count(one.workers),
        ),
    )
