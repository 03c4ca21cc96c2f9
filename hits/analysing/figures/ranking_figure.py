"""Draws the ranking by Bradley-Terry strengths, with intervals, and letters for models that can't be told apart."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hits.analysing.figures.canvas import INK, new_axes
from hits.analysing.figures.figure_words import half_widths, short_name
from hits.analysing.report import ALL_DATASETS
from hits.analysing.results import CriterionResults
from hits.stats import Ranked, Ranking, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_ranking(results: CriterionResults) -> "Figure":
    sizes = [1 if isinstance(one.ranked, Undefined) else len(one.ranked) for one in results.rankings]
    figure, axes = new_axes([0.4 + 0.28 * size for size in sizes], share_x=True)
    for place, (ranking, ax) in enumerate(zip(results.rankings, axes, strict=True)):
        _draw_panel(ax, ranking, results.letters(ranking.dataset))
        ax.tick_params(labelbottom=place == len(axes) - 1)
    axes[-1].set_xlabel("strength; models that share a letter can't be told apart", fontsize=8)
    return figure


def _draw_panel(ax: "Axes", ranking: Ranking, letters: Mapping[str, str]) -> None:
    ax.set_title(short_name(ranking.dataset or ALL_DATASETS), loc="left", fontsize=10)
    if isinstance(ranking.ranked, Undefined):
        ax.text(0.01, 0.5, f"undefined: {ranking.ranked.reason}", transform=ax.transAxes, va="center", fontsize=8)
        ax.set_yticks([])
        return
    ax.axvline(0, color=INK, linewidth=0.6, linestyle=":")
    for place, one in enumerate(ranking.ranked):
        widths = half_widths(one.strength)
        errors = None if widths is None else [[widths[0]], [widths[1]]]
        ax.errorbar(one.strength.value, place, xerr=errors, fmt="o", color=INK, markersize=4, capsize=3, linewidth=1)
    _name_rows(ax, ranking.ranked, letters)


def _name_rows(ax: "Axes", ranked: Sequence[Ranked], letters: Mapping[str, str]) -> None:
    ax.set_yticks(range(len(ranked)), [f"{short_name(one.generator)}  {letters[one.generator]}" for one in ranked])
    ax.set_ylim(len(ranked) - 0.4, -0.6)
    ax.tick_params(left=False)
