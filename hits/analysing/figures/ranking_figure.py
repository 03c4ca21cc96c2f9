"""Draws the ranking by Bradley-Terry strengths, with intervals, and letters for models that can't be told apart."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hits.analysing.figures.canvas import INK, draw_dots, new_axes, set_title
from hits.analysing.figures.figure_words import half_widths, longest_name, row_height, short_name, wrapped
from hits.analysing.report import ALL_DATASETS
from hits.analysing.results import CriterionResults
from hits.stats import Ranked, Ranking, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_ranking(results: CriterionResults, width: float) -> "Figure":
    sizes = [1 if isinstance(one.ranked, Undefined) else len(one.ranked) for one in results.rankings]
    figure, axes = new_axes(
        [row_height(size) * max(2, size) for size in sizes], width, share_x=True, around=0.25 * len(sizes) + 0.4
    )
    for index, (ranking, ax) in enumerate(zip(results.rankings, axes, strict=True)):
        _draw_panel(ax, ranking, results.letters(ranking.dataset), width)
        ax.tick_params(labelbottom=index == len(axes) - 1)
    figure.supxlabel(wrapped(_axis_words(results), width), fontsize=7)
    return figure


def _axis_words(results: CriterionResults) -> str:
    if any(letters for one in results.rankings for letters in results.letters(one.dataset).values()):
        return "strength; models that share a letter can't be told apart"
    return "strength; the order alone does not say which models differ"


def _draw_panel(ax: "Axes", ranking: Ranking, letters: Mapping[str, str], width: float) -> None:
    set_title(ax, short_name(ranking.dataset or ALL_DATASETS))
    if isinstance(ranking.ranked, Undefined):
        told = wrapped(f"undefined: {ranking.ranked.reason}", width)
        ax.text(0.01, 0.5, told, transform=ax.transAxes, va="center", fontsize=7)
        ax.set_yticks([])
        return
    ax.axvline(0, color=INK, linewidth=0.6, linestyle=":")
    strengths = [one.strength for one in ranking.ranked]
    draw_dots(ax, [(one.value, index, half_widths(one)) for index, one in enumerate(strengths)])
    _name_rows(ax, ranking.ranked, letters, longest_name(width))


def _name_rows(ax: "Axes", ranked: Sequence[Ranked], letters: Mapping[str, str], longest: int) -> None:
    names = [f"{short_name(one.generator, longest)}  {letters[one.generator]}" for one in ranked]
    ax.set_yticks(range(len(ranked)), names)
    ax.set_ylim(len(ranked) - 0.4, -0.6)
    ax.tick_params(left=False)
