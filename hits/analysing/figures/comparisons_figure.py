"""Draws the comparison matrix: how often the row's generator is rated above the column's.

Where nothing is sure, the matrix stays quiet: pale numbers on the page's own paper. A pair that the corrected test
tells apart has a filled cell.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hits.analysing.figures.canvas import BLACK, INK, LIGHT, MIDDLE, NARROW, new_axes
from hits.analysing.figures.figure_words import longest_name, short_name, wrapped
from hits.analysing.report import ALL_DATASETS
from hits.analysing.results import CriterionResults
from hits.stats import Comparison, Comparisons, Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_ABOVE = 18  # letters of an upright name
SMALLEST_CELL = 0.18  # inches, into which ".62" fits
WIDEST_CELL = 0.7
QUIET = 0.7


def draw_comparisons(results: CriterionResults, width: float) -> "Figure":
    names = results.generators  # in the leaderboard's order, like all tables
    cell = _cell_width(names, width)
    figure, axes = new_axes([height_of_matrix(names, width)] * len(results.comparisons), width)
    for table, ax in zip(results.comparisons, axes, strict=True):
        _draw_panel(ax, table, names, width, has_numbers=cell >= SMALLEST_CELL)
    legend = "Row above column, ties halved: .50 is no difference. Filled: the corrected test tells the two apart."
    if cell < SMALLEST_CELL:
        legend = "Filled: the corrected test tells the two apart; + the row's model is better, − the column's."
    figure.supxlabel(wrapped(legend, width), fontsize=7)
    return figure


def height_of_matrix(names: Sequence[str], width: float) -> float:
    """Return the height of one dataset's panel in inches."""
    above = min(max(map(len, names), default=0), LONGEST_ABOVE)
    return 0.25 + 0.07 * above + max(0.17, min(0.26, _cell_width(names, width))) * len(names)


def _cell_width(names: Sequence[str], width: float) -> float:
    beside = min(max(map(len, names), default=0), longest_name(width))
    return min(WIDEST_CELL, (width - 0.25 - 0.065 * beside) / max(len(names), 1))


def _draw_panel(ax: "Axes", table: Comparisons, names: tuple[str, ...], width: float, has_numbers: bool) -> None:
    pairs = {(one.first, one.second): one for one in table.comparisons}
    size = 7 if len(names) <= (12 if width > NARROW else 6) else 6
    for row, first in enumerate(names):
        for column, second in enumerate(names):
            if (first, second) in pairs:
                _draw_cell(ax, row, column, pairs[first, second], False, has_numbers, size)
            elif (second, first) in pairs:
                _draw_cell(ax, row, column, pairs[second, first], True, has_numbers, size)
    ax.set_xticks(range(len(names)), [short_name(name, LONGEST_ABOVE) for name in names], rotation=90)
    ax.set_yticks(range(len(names)), [short_name(name, longest_name(width)) for name in names])
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=7)
    room = width - 0.25 - 0.065 * min(max(map(len, names), default=0), longest_name(width))
    ax.set_xlim(-0.5, max(len(names), room / _cell_width(names, width)) - 0.5)  # few models keep their cells together
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines[:].set_visible(False)
    ax.set_title(short_name(table.dataset or ALL_DATASETS), loc="left", fontsize=9)


def _draw_cell(
    ax: "Axes", row: int, column: int, pair: Comparison, is_turned: bool, has_numbers: bool, size: float
) -> None:
    from matplotlib.patches import Rectangle

    text, value = "–", 0.5
    if isinstance(pair.superiority, Estimate):
        value = 1 - pair.superiority.value if is_turned else pair.superiority.value
        text = f"{value:.2f}".removeprefix("0")
    is_ahead = pair.better == (pair.second if is_turned else pair.first)
    if not has_numbers:
        text = "–" if text == "–" else ("+" if is_ahead else "−") if pair.is_different else ""
    # Hundreds of cells stand within the axes anyway, and laying each of them out takes most of the time.
    if pair.is_different:
        cell = Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=MIDDLE if is_ahead else LIGHT)
        cell.set_in_layout(False)
        ax.add_patch(cell)
    if text:
        look = (BLACK, 1.0) if pair.is_different else (INK, QUIET)
        written = ax.text(column, row, text, ha="center", va="center", color=look[0], alpha=look[1], fontsize=size)
        written.set_in_layout(False)
