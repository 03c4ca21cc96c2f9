"""Splits a figure that would be higher than a page into several: by dataset, by metric, or between rows.

In: a criterion's results, and the section that the figure belongs to. Out: pairs of results and section that have what
a part draws and says. Guaranteed: all parts together show everything once, in the same order.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hits.analysing.figures.canvas import WIDE
from hits.analysing.figures.comparisons_figure import height_of_matrix
from hits.analysing.figures.figure_words import row_height
from hits.analysing.report import Section
from hits.analysing.results import CriterionResults
from hits.stats import Undefined

MOST_HEIGHT = 8.4  # inches of panels: with axes, legend and caption, a page of the common templates is full
MOST_ROWS = 25  # of agreement
METRICS_A_PAGE = 3

Part = tuple[CriterionResults, Section]


def parts_of(found: CriterionResults, section: Section) -> list[Part]:
    split = _SPLIT.get(section.key)
    return split(found, section) if split else [(found, section)]


def _by_dataset(
    heights: Mapping[str | None, float], restrict: Callable[[set[str | None]], CriterionResults], section: Section
) -> list[Part]:
    parts = []
    for names in _filled(heights):
        tables = tuple(table for table in section.tables if table.dataset in names)
        parts.append((restrict(names), replace(section, tables=tables)))
    return parts


def _filled(heights: Mapping[str | None, float]) -> list[set[str | None]]:
    """Put panels on as few pages as hold them, in their order, and about as many on each.

    >>> [sorted(one) for one in _filled({"a": 2.5, "b": 2.5, "c": 2.5, "d": 2.5})]
    [['a', 'b'], ['c', 'd']]
    """
    names, a_page = list(heights), max(1, math.floor(MOST_HEIGHT / max(heights.values(), default=1)))
    return [{names[at] for at in some} for some in _evenly(range(len(names)), a_page)]


def _shares(found: CriterionResults, section: Section) -> list[Part]:
    names = list(dict.fromkeys(row.dataset for row in found.table))
    rows = {name: sum(row.dataset == name for row in found.table) for name in names}
    heights = {name: 0.35 + row_height(count) * count for name, count in rows.items()}

    def restrict(some: set[str | None]) -> CriterionResults:
        return replace(found, table=tuple(row for row in found.table if row.dataset in some))

    return _by_dataset(heights, restrict, section)


def _comparisons(found: CriterionResults, section: Section) -> list[Part]:
    height = height_of_matrix(found.generators, WIDE)

    def restrict(some: set[str | None]) -> CriterionResults:
        return replace(found, comparisons=tuple(one for one in found.comparisons if one.dataset in some))

    return _by_dataset({one.dataset: height for one in found.comparisons}, restrict, section)


def _ranking(found: CriterionResults, section: Section) -> list[Part]:
    sizes = {one.dataset: 1 if isinstance(one.ranked, Undefined) else len(one.ranked) for one in found.rankings}
    heights = {name: 0.4 + row_height(size) * size for name, size in sizes.items()}

    def restrict(some: set[str | None]) -> CriterionResults:
        return replace(found, rankings=tuple(one for one in found.rankings if one.dataset in some))

    return _by_dataset(heights, restrict, section)


def _agreement(found: CriterionResults, section: Section) -> list[Part]:
    """The figure has all datasets together, each dataset, and each model in all datasets."""
    first = found.agreement[0].dataset if found.agreement else None
    shown = [at for at, row in enumerate(found.agreement) if row.generator is None or row.dataset == first]
    [table] = section.tables
    return [
        (
            replace(found, agreement=tuple(found.agreement[at] for at in some)),
            replace(section, tables=(replace(table, rows=tuple(table.rows[at] for at in some)),)),
        )
        for some in _evenly(shown, MOST_ROWS)
    ]


def _metrics(found: CriterionResults, section: Section) -> list[Part]:
    [table], means = section.tables_of("metrics"), section.tables_of("means")
    return [
        (
            replace(found, metrics=tuple(found.metrics[at] for at in some)),
            replace(
                section,
                tables=(replace(table, rows=tuple(table.rows[at] for at in some)), *(means[at] for at in some)),
            ),
        )
        for some in _evenly(range(len(found.metrics)), METRICS_A_PAGE)
    ]


def _evenly(places: Sequence[int], most: int) -> list[Sequence[int]]:
    size = math.ceil(len(places) / max(1, math.ceil(len(places) / most)))
    return [places[at : at + size] for at in range(0, len(places), size)]


_SPLIT: Mapping[str, Callable[[CriterionResults, Section], list[Part]]] = {
    "shares": _shares,
    "comparisons": _comparisons,
    "ranking": _ranking,
    "agreement": _agreement,
    "metrics": _metrics,
}
