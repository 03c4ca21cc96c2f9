"""Draws the comparison matrix: how often the row's generator is rated above the column's."""

from typing import TYPE_CHECKING

from hits.analysing.figures.canvas import BLACK, INK, LIGHT, MIDDLE, WHITE, new_axes
from hits.analysing.figures.figure_words import short_name
from hits.analysing.report import ALL_DATASETS
from hits.analysing.results import CriterionResults
from hits.stats import Comparisons, Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_comparisons(results: CriterionResults) -> "Figure":
    rows = 0.7 + 0.3 * len(results.generators)
    figure, axes = new_axes([rows] * len(results.comparisons))
    for table, ax in zip(results.comparisons, axes, strict=True):
        _draw_panel(ax, table)
    figure.supxlabel("row above column: 0.50 is no difference; * the corrected test tells them apart", fontsize=8)
    return figure


def _draw_panel(ax: "Axes", table: Comparisons) -> None:
    names = [one.generator for one in table.letters]  # the best first
    cells = _cells(table)
    for row, first in enumerate(names):
        for column, second in enumerate(names):
            _draw_cell(ax, row, column, *cells.get((first, second), ("", None)))
    ax.set_xticks(range(len(names)), [short_name(name, 18) for name in names], rotation=20, ha="left")
    ax.set_yticks(range(len(names)), [short_name(name) for name in names])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines[:].set_visible(False)
    ax.set_title(short_name(table.dataset or ALL_DATASETS), loc="left", fontsize=10)


def _cells(table: Comparisons) -> dict[tuple[str, str], tuple[str, float | None]]:
    """Return, for each row and column, the text of the cell and the superiority."""
    found: dict[tuple[str, str], tuple[str, float | None]] = {}
    for one in table.comparisons:
        pairs = ((one.first, one.second), (one.second, one.first))
        if not isinstance(one.superiority, Estimate):
            found |= dict.fromkeys(pairs, ("–", None))
            continue
        mark = "*" if one.is_different else ""
        for pair, value in zip(pairs, (one.superiority.value, 1 - one.superiority.value), strict=True):
            found[pair] = (f"{value:.2f}{mark}", value)
    return found


def _draw_cell(ax: "Axes", row: int, column: int, text: str, value: float | None) -> None:
    if row == column:
        return
    fill = WHITE if value is None or not text.endswith("*") else MIDDLE if value > 0.5 else LIGHT
    ax.barh(row, 1, left=column - 0.5, height=1, color=fill, edgecolor=INK, linewidth=0.5)
    ax.text(column, row, text, ha="center", va="center", color=BLACK)
