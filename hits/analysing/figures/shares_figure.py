"""Draws the paper's table 5 as stacked bars, a panel for each dataset; parts below 7 % get no number."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hits.analysing.figures.canvas import BLACK, INK, draw_interval, fills, new_axes
from hits.analysing.figures.figure_words import short_name
from hits.analysing.report import ALL_DATASETS
from hits.analysing.results import CriterionResults
from hits.stats import Share, ShareRow, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NARROWEST = 0.07  # the number of a smaller share does not fit into its part of the bar


def draw_shares(results: CriterionResults) -> "Figure":
    panels = _panels(results)
    figure, axes = new_axes([0.35 + 0.34 * len(rows) for _, rows in panels], share_x=True)
    for place, ((name, rows), ax) in enumerate(zip(panels, axes, strict=True)):
        _draw_panel(ax, name, rows)
        ax.tick_params(bottom=place == len(axes) - 1, labelbottom=place == len(axes) - 1)
    axes[-1].set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
    _draw_legend(figure, results.values)
    return figure


def _panels(results: CriterionResults) -> list[tuple[str, list[ShareRow]]]:
    names = list(dict.fromkeys(row.dataset for row in results.table))
    return [(name or ALL_DATASETS, [row for row in results.table if row.dataset == name]) for name in names]


def _draw_panel(ax: "Axes", name: str, rows: Sequence[ShareRow]) -> None:
    for place, row in enumerate(rows):
        if isinstance(row.shares, Undefined):
            ax.text(0.01, place, f"undefined: {row.shares.reason}", va="center")
        else:
            _draw_bar(ax, place, row.shares)
    ax.set_yticks(range(len(rows)), [short_name(row.generator or "human") for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0, 1)
    ax.tick_params(left=False)
    ax.set_title(short_name(name), loc="left", fontsize=10)


def _draw_bar(ax: "Axes", place: int, shares: Sequence[Share]) -> None:
    left = 0.0
    for share, (fill, hatch, ink) in zip(shares, fills(len(shares)), strict=True):
        ax.barh(place, share.share, left=left, height=0.72, color=fill, edgecolor=INK, linewidth=0.6)
        if hatch:
            ax.barh(
                place, share.share, left=left, height=0.72, facecolor="none", edgecolor=BLACK, hatch=hatch, alpha=0.25
            )
        if share.share >= NARROWEST:
            box = {"boxstyle": "round,pad=0.15", "facecolor": fill, "edgecolor": "none"}
            middle = left + share.share / 2
            ax.text(middle, place, f"{100 * share.share:.0f}", color=ink, ha="center", va="center", bbox=box)
        left += share.share
    _draw_whiskers(ax, place, shares)


def _draw_whiskers(ax: "Axes", place: int, shares: Sequence[Share]) -> None:
    """Draw the first value's interval from the left and the last value's from the right. The parts between them have no
    fixed end, so their intervals can't be drawn."""
    first, last = shares[0].interval, shares[-1].interval
    if not isinstance(first, Undefined):
        draw_interval(ax, place - 0.24, first.low, first.high, cap=5)
    if len(shares) > 1 and not isinstance(last, Undefined):
        draw_interval(ax, place + 0.24, 1 - last.high, 1 - last.low, cap=5)


def _draw_legend(figure: "Figure", values: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    patches = [
        Patch(facecolor=fill, edgecolor=INK, hatch=hatch, linewidth=0.6, label=value)
        for value, (fill, hatch, _) in zip(values, fills(len(values)), strict=True)
    ]
    figure.legend(handles=patches, loc="outside lower center", ncols=min(5, len(values)), frameon=False)
