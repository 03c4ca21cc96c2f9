"""Draws how far workers agree: in all datasets together, in each, and by generator."""

from typing import TYPE_CHECKING

from hits.analysing.figures.alternative_texts import MEASURES
from hits.analysing.figures.canvas import INK, MARKERS, NARROW, draw_dots, new_axes
from hits.analysing.figures.figure_words import half_widths, longest_name, short_name, wrapped
from hits.analysing.report import ALL_DATASETS
from hits.analysing.results import CriterionResults
from hits.stats import Agreement, Estimate, Undefined

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANY = 15  # rows, which stand closer then


def draw_agreement(results: CriterionResults, width: float) -> "Figure":
    rows = _rows(results)
    figure, [ax] = new_axes([0.6 + (0.36 if len(rows) <= MANY else 0.3) * len(rows)], width)
    for y, row in enumerate(rows):
        if isinstance(row.raw, Undefined):
            ax.text(0, y, wrapped(f" undefined: {row.raw.reason}", 0.6 * width), va="center", fontsize=7)
    for number, name in enumerate(MEASURES):
        values = [(y + 0.2 * (number - 1), getattr(row, name)) for y, row in enumerate(rows)]
        dots = [(value.value, y, half_widths(value)) for y, value in values if isinstance(value, Estimate)]
        draw_dots(ax, dots, MARKERS[number], INK if number == 0 else "none", linewidth=0.8)
    ax.axvline(0, color=INK, linewidth=0.6, linestyle=":")
    ax.set_yticks(range(len(rows)), [short_name(_name(row), longest_name(width)) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(left=False)
    _legend(figure, width)
    return figure


def _rows(results: CriterionResults) -> list[Agreement]:
    """Choose the rows: all datasets together, each dataset, and each generator in all datasets."""
    first = results.agreement[0].dataset if results.agreement else None
    return [row for row in results.agreement if row.generator is None or row.dataset == first]


def _name(row: Agreement) -> str:
    return row.generator or row.dataset or ALL_DATASETS


def _legend(figure: "Figure", width: float) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=INK, marker=MARKERS[number], markerfacecolor=INK if number == 0 else "none", markersize=4,
               linestyle="none", label=words)
        for number, words in enumerate(MEASURES.values())
    ]  # fmt: skip
    figure.legend(
        handles=handles, loc="outside lower center", ncols=1 if width <= NARROW else 3, frameon=False, fontsize=7
    )
