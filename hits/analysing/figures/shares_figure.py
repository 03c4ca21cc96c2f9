"""Draws the paper's table 5, a panel for each dataset: the planned outcome as dots with intervals, and beside them all
values as slim stacked bars."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hits.analysing.figures.canvas import BLACK, INK, NARROW, Dot, draw_dots, fills, new_pairs, round_ticks, set_title
from hits.analysing.figures.figure_words import half_widths, longest_name, row_height, short_name, wrapped
from hits.analysing.report import ALL_DATASETS, Kind
from hits.analysing.report_leaderboard import outcome_in, outcome_kind, outcome_title
from hits.analysing.results import CriterionResults
from hits.stats import Share, ShareRow, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_shares(results: CriterionResults, width: float) -> "Figure":
    panels = _panels(results)
    figure, axes = new_pairs(
        [row_height(len(rows)) * max(2, len(rows)) for _, rows in panels], width, (3, 2), 0.25 * len(panels) + 0.75
    )
    outcome = results.comparisons[0].outcome if results.comparisons else ""
    for index, (name, rows) in enumerate(panels):
        dots, bars = axes[index]
        _draw_dots(dots, rows, outcome, results, width)
        _draw_bars(bars, [(at, row.shares) for at, row in enumerate(rows) if not isinstance(row.shares, Undefined)])
        _arrange(dots, bars, name, rows, longest_name(width), is_last=index == len(panels) - 1)
    dots, bars = axes[-1]
    title = outcome_title(outcome, results)
    dots.set_xlabel(wrapped(f"{title}, with 95 % intervals", 0.45 * width), fontsize=7)
    if outcome_kind(outcome, results) is Kind.SHARE:
        dots.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    dots.xaxis.set_major_locator(round_ticks(6 if width > NARROW else 4))
    bars.set_xticks([0, 0.5, 1], ["0", "50", "100 %"])
    _draw_legend(figure, results.values, width)
    return figure


def _panels(results: CriterionResults) -> list[tuple[str, list[ShareRow]]]:
    names = list(dict.fromkeys(row.dataset for row in results.table))
    return [(name or ALL_DATASETS, [row for row in results.table if row.dataset == name]) for name in names]


def _draw_dots(ax: "Axes", rows: Sequence[ShareRow], outcome: str, results: CriterionResults, width: float) -> None:
    found: list[Dot] = []
    for index, row in enumerate(rows):
        value = outcome_in(row, outcome, results)
        if isinstance(value, Undefined):
            told = wrapped(f"undefined: {value.reason}", 0.5 * width)
            ax.text(0.01, index, told, transform=ax.get_yaxis_transform(), va="center", fontsize=6)
        else:
            found.append((value.value, index, half_widths(value)))
    draw_dots(ax, found)


def _arrange(dots: "Axes", bars: "Axes", name: str, rows: Sequence[ShareRow], longest: int, is_last: bool) -> None:
    set_title(dots, short_name(name))
    dots.set_yticks(range(len(rows)), [short_name(row.generator or "human", longest) for row in rows])
    bars.set_yticks([])
    bars.set_xlim(0, 1)
    for ax in (dots, bars):
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.tick_params(left=False, labelsize=7, bottom=is_last, labelbottom=is_last)
    dots.grid(axis="y", color=INK, alpha=0.12, linewidth=0.5)
    bars.spines["left"].set_visible(False)


def _draw_bars(ax: "Axes", rows: Sequence[tuple[int, Sequence[Share]]]) -> None:
    """Draw a value's part of all bars at once, since each call takes long."""
    if not rows:
        return
    places, left = [at for at, _ in rows], [0.0] * len(rows)
    of_values = list(zip(*(shares for _, shares in rows), strict=True))
    for shares, (fill, hatch, _) in zip(of_values, fills(len(of_values)), strict=True):
        widths = [share.share for share in shares]
        ax.barh(places, widths, left=left, height=0.5, color=fill, edgecolor=INK, linewidth=0.4)
        if hatch:
            ax.barh(places, widths, left=left, height=0.5, facecolor="none", edgecolor=BLACK, hatch=hatch, alpha=0.25)
        left = [at + width for at, width in zip(left, widths, strict=True)]


def _draw_legend(figure: "Figure", values: Sequence[str], width: float) -> None:
    from matplotlib.patches import Patch

    patches = [
        Patch(facecolor=fill, edgecolor=INK, hatch=hatch, linewidth=0.6, label=value)
        for value, (fill, hatch, _) in zip(values, fills(len(values)), strict=True)
    ]
    columns = min(3 if width <= NARROW else 5, len(values))
    figure.legend(handles=patches, loc="outside lower center", ncols=columns, frameon=False, fontsize=7)
