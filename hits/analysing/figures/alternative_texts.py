"""Writes the alternative texts of figures: what a figure shows, in words, for people who can't see it."""

from collections.abc import Callable, Iterator

from hits.analysing.report import Cell, Kind, Section
from hits.stats import Interval, Undefined

MEASURES = {
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "fleiss_kappa": "Fleiss' kappa",
    "raw": "raw agreement",
}
MOST_LABELS = 3
_STYLE, _STYLE_OF_SHARES = (".2f", 1, ""), (".0f", 100, " %")


def alternative_text(section: Section) -> str:
    return " ".join(_SENTENCES[section.key](section))


def _shares(section: Section) -> Iterator[str]:
    yield "Shares of the ratings with 95 % intervals."
    for table in section.tables:
        values = [column.value for column in table.columns if column.key == "share"]
        rows = []
        for row in table.rows:
            shares, name = table.cells(row, "share"), row.head.names[0]
            if shares[0].undefined:
                rows.append(f"{name} is {_format_cell(shares[0])}")
            else:
                told = [f"{value} {_format_cell(share)}" for value, share in zip(values, shares, strict=True)]
                rows.append(f"{name} {', '.join(told)}")
        yield f"{table.title}: {'; '.join(rows)}."


def _comparisons(section: Section) -> Iterator[str]:
    yield "Probability that one model is rated above another, ties halved, with 95 % intervals."
    for table in section.tables_of("comparisons"):
        rows = []
        for row in table.rows:
            superiority, verdict = table.cells(row, "superiority", "verdict")
            if verdict.undefined:
                told = f"not compared ({verdict.undefined})"
            else:
                words = "different" if verdict.value else "not told apart"
                told = f"{_format_cell(superiority)}, {words}{verdict.after}"
            rows.append(f"{' over '.join(row.head.names)} {told}")
        yield f"{table.title}: {'; '.join(rows)}."


def _ranking(section: Section) -> Iterator[str]:
    rows_of_all = [row for table in section.tables for row in table.rows]
    has_intervals = any(isinstance(row.cells[0].interval, Interval) for row in rows_of_all)
    intervals = " with 95 % intervals" if has_intervals else ""
    has_letters = any(row.head.letters for row in rows_of_all)
    apart = "models that share a letter can't be told apart" if has_letters else "which models differ is not said here"
    said = _format_cell if has_intervals else _format_value
    yield f"Bradley-Terry strengths{intervals}, best first; {apart}."
    for table in section.tables:
        rows = [" ".join(filter(None, [row.head.names[0], said(row.cells[0]), row.head.letters])) for row in table.rows]
        yield f"{table.title}: {f'undefined ({table.undefined})' if table.undefined else '; '.join(rows)}."


def _agreement(section: Section) -> Iterator[str]:
    """Describe the rows of the figure: all datasets together, each dataset, and each model in all datasets."""
    [table] = section.tables
    first = table.rows[0].head.names[0]
    rows = []
    for row in table.rows:
        if len(row.head.names) > 1 and row.head.names[0] != first:
            continue
        cells = table.cells(row, *MEASURES)
        told = [f"{words} {_format_cell(cell)}" for words, cell in zip(MEASURES.values(), cells, strict=True)]
        rows.append(f"{row.head.names[-1]}: {_format_cell(cells[-1]) if cells[-1].undefined else ', '.join(told)}")
    yield f"Agreement of workers on the same reply, with 95 % intervals. {'; '.join(rows)}."


def _labels(section: Section) -> Iterator[str]:
    parts = []
    for table in section.tables_of("labels"):
        told = [f"{row.head.names[0]} {_format_cell(row.cells[0])}" for row in table.rows[:MOST_LABELS]]
        head = f"Among {table.count:,} ratings as {table.value}"
        parts.append(f"{head}: {f'undefined ({table.undefined})' if table.undefined else ', '.join(told)}")
    yield f"The most frequent predicted emotions and intents, with 95 % intervals. {'; '.join(parts)}."


def _metrics(section: Section) -> Iterator[str]:
    [table] = section.tables_of("metrics")
    for row, means in zip(table.rows, section.tables_of("means"), strict=True):
        replies, pearson, of_models = map(_format_cell, table.cells(row, "replies", "pearson", "of_models"))
        yield (
            f"{row.head.names[0]}: Pearson's correlation with the mean score is {pearson} over {replies} replies and "
            f"{of_models} over the {len(means.rows)} models."
        )


_SENTENCES: dict[str, Callable[[Section], Iterator[str]]] = {
    "shares": _shares,
    "comparisons": _comparisons,
    "ranking": _ranking,
    "agreement": _agreement,
    "labels": _labels,
    "metrics": _metrics,
}


def _format_cell(cell: Cell) -> str:
    if cell.undefined:
        return f"undefined ({cell.undefined})"
    if cell.kind is Kind.COUNT:
        return f"{cell.number:,}"
    style, factor, unit = _STYLE_OF_SHARES if cell.kind is Kind.SHARE else _STYLE
    between = "no interval"
    if cell.interval is not None and not isinstance(cell.interval, Undefined):
        between = f"{factor * cell.interval.low:{style}} to {factor * cell.interval.high:{style}}{unit}"
    return f"{_format_value(cell)} ({between})"


def _format_value(cell: Cell) -> str:
    style, factor, unit = _STYLE_OF_SHARES if cell.kind is Kind.SHARE else _STYLE
    return f"undefined ({cell.undefined})" if cell.undefined else f"{factor * cell.number:{style}}{unit}"
