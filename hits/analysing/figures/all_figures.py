"""All figures that results allow, in the order in which they are shown."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hits.analysing.figures.agreement_figure import describe_agreement, draw_agreement
from hits.analysing.figures.canvas import as_pdf, as_svg, laid_out
from hits.analysing.figures.comparisons_figure import describe_comparisons, draw_comparisons
from hits.analysing.figures.funnel_figure import describe_funnel, draw_funnel
from hits.analysing.figures.labels_figure import describe_labels, draw_labels
from hits.analysing.figures.metrics_figure import describe_metrics, draw_metrics
from hits.analysing.figures.ranking_figure import describe_ranking, draw_ranking
from hits.analysing.figures.shares_figure import describe_shares, draw_shares
from hits.analysing.results import Results
from hits.screening.funnel import Funnel

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """`name` is that of its files and unique among the figures of a page; `description` is the same in words."""

    name: str
    title: str
    description: str
    draw: "Callable[[], Figure]"

    @cached_property
    def svg(self) -> str:
        return as_svg(self._figure, self.name, self.title, self.description)

    @cached_property
    def pdf(self) -> bytes:
        return as_pdf(self._figure)

    @cached_property
    def _figure(self) -> "Figure":
        return laid_out(self.draw)


def pictures(results: Results, funnel: Funnel | None = None) -> list[Picture]:
    return [*_of_results(results), *([_of_funnel(funnel)] if funnel else [])]


def _of_results(results: Results) -> Iterator[Picture]:
    if not results.size.ratings:
        return
    yield _picture("shares", "How replies were rated", results, draw_shares, describe_shares)
    if len(results.generators) > 1:
        yield _picture("comparisons", "Which model is better", results, draw_comparisons, describe_comparisons)
        yield _picture("ranking", "Ranking of the models", results, draw_ranking, describe_ranking)
    yield _picture("agreement", "Agreement of workers", results, draw_agreement, describe_agreement)
    if results.labels:
        yield _picture("labels", "Emotions and intents of the replies", results, draw_labels, describe_labels)
    if results.metrics:
        yield _picture("metrics", "Automatic metrics beside ratings", results, draw_metrics, describe_metrics)


def _of_funnel(funnel: Funnel) -> Picture:
    return Picture("funnel", "What screening leaves", describe_funnel(funnel), lambda: draw_funnel(funnel))


def _picture(
    name: str, title: str, results: Results, draw: Callable[[Results], "Figure"], describe: Callable[[Results], str]
) -> Picture:
    return Picture(name, title, describe(results), lambda: draw(results))
