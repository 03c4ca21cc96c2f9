"""Draws the paper's figure 5: the 14 most frequent emotions and intents of replies, by how they were rated."""

from typing import TYPE_CHECKING

from hits.analysing.figures.canvas import INK, MARKERS, NARROW, draw_dots, new_axes, round_ticks
from hits.analysing.figures.figure_words import half_widths, longest_name, short_name
from hits.analysing.results import CriterionResults
from hits.stats import Estimate, Labels, LabelShare, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LABELS = 14


def draw_labels(results: CriterionResults, width: float) -> "Figure":
    parts = _parts(results)
    names = _choose_labels(parts)
    figure, [ax] = new_axes([0.5 + 0.11 * (len(parts) + 1) * len(names)], width)
    for number, part in enumerate(parts):
        _draw_dots(ax, number, part, names, len(parts))
    ax.set_yticks(range(len(names)), [short_name(name, longest_name(width)) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.tick_params(left=False)
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    ax.xaxis.set_major_locator(round_ticks(6 if width > NARROW else 4))
    figure.legend(frameon=False, loc="outside lower center", ncols=1 if width <= NARROW else len(parts), fontsize=7)
    return figure


def _parts(results: CriterionResults) -> list[Labels]:
    return [part for part in results.labels if part.generator is None]


def _choose_labels(parts: list[Labels]) -> list[str]:
    """Choose the most frequent labels of all parts, in the order of the first part."""
    found = [one for part in parts if not isinstance(part.labels, Undefined) for one in part.labels]
    highest: dict[str, float] = {}
    for one in found:
        highest[one.label] = max(one.share, highest.get(one.label, 0.0))
    kept = set(sorted(highest, key=lambda name: (-highest[name], name))[:MOST_LABELS])
    return [name for name in dict.fromkeys(one.label for one in found) if name in kept]


def _draw_dots(ax: "Axes", number: int, part: Labels, names: list[str], count: int) -> None:
    shares: dict[str, LabelShare] = {}
    if not isinstance(part.labels, Undefined):
        shares = {one.label: one for one in part.labels}
    marker = MARKERS[number % len(MARKERS)]
    ax.plot([], [], marker, color=INK, markersize=4, label=f"rated {part.value}")
    beside = 0.7 / count * (number - (count - 1) / 2)
    found = [(row + beside, shares[name]) for row, name in enumerate(names) if name in shares]
    draw_dots(ax, [(one.share, y, half_widths(Estimate(one.share, one.interval))) for y, one in found], marker)
