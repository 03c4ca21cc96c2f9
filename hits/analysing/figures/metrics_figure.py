"""Draws automatic metrics against people's ratings, with a point for each generator."""

from typing import TYPE_CHECKING

from generation.metrics.naming import title_of
from hits.analysing.figures.canvas import INK, MARKERS, new_axes
from hits.analysing.figures.figure_words import longest_name, short_name
from hits.analysing.results import CriterionResults
from hits.stats import MetricCorrelation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_metrics(results: CriterionResults, width: float) -> "Figure":
    figure, axes = new_axes([2.4] * len(results.metrics), width)
    for metric, ax in zip(results.metrics, axes, strict=True):
        _draw_panel(ax, metric, width)
    return figure


def _draw_panel(ax: "Axes", metric: MetricCorrelation, width: float) -> None:
    for number, one in enumerate(metric.generators):
        ax.plot(one.mean_metric, one.mean_score, MARKERS[number % len(MARKERS)], color=INK, markersize=5)
        name, at = short_name(one.generator, longest_name(width)), (one.mean_metric, one.mean_score)
        ax.annotate(name, at, (5, 3), textcoords="offset points", fontsize=7)
    ax.margins(0.25)
    ax.set_xlabel(f"{title_of(metric.metric)}, mean", fontsize=8)
    ax.set_ylabel("mean score", fontsize=8)
