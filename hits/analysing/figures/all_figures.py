"""Decides which figures results have, and in which order pages and bundles show them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from hits.analysing.figures.agreement_figure import draw_agreement
from hits.analysing.figures.alternative_texts import alternative_text
from hits.analysing.figures.canvas import NARROW, WIDE, as_pdf, as_svg, laid_out, stamp
from hits.analysing.figures.comparisons_figure import draw_comparisons
from hits.analysing.figures.figure_parts import parts_of
from hits.analysing.figures.funnel_figure import describe_funnel, draw_funnel
from hits.analysing.figures.labels_figure import draw_labels
from hits.analysing.figures.metrics_figure import draw_metrics
from hits.analysing.figures.ranking_figure import draw_ranking
from hits.analysing.figures.shares_figure import draw_shares
from hits.analysing.report import Section
from hits.analysing.report_order import in_one_order
from hits.analysing.reporting import report_of
from hits.analysing.results import CriterionResults, Results
from hits.screening import Funnel

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A figure with its texts, drawn when it is first asked for: as wide as a page's text, and as wide as a column,
    which a phone shows too. `name` is also the name of its files, and unique on a page; `description` is the
    alternative text. `warning` is drawn into it; it is empty if all work is from people."""

    name: str
    title: str
    description: str
    draw: "Callable[[float], Figure]"
    warning: str = ""
    section: str = ""  # the section that it stands in: a high figure is split into several

    @cached_property
    def svg(self) -> str:
        return as_svg(self._wide, self.name, self.title, self.description)

    @cached_property
    def narrow_svg(self) -> str:
        return as_svg(self._narrow, f"{self.name}-column", self.title, self.description)

    @cached_property
    def pdf(self) -> bytes:
        return as_pdf(self._wide, self.warning)

    @cached_property
    def narrow_pdf(self) -> bytes:
        return as_pdf(self._narrow, self.warning)

    @cached_property
    def _wide(self) -> "Figure":
        return laid_out(lambda: self.draw(WIDE))

    @cached_property
    def _narrow(self) -> "Figure":
        return laid_out(lambda: self.draw(NARROW))


DRAWINGS: "Mapping[str, Callable[[CriterionResults, float], Figure]]" = {
    "shares": draw_shares,
    "comparisons": draw_comparisons,
    "ranking": draw_ranking,
    "agreement": draw_agreement,
    "labels": draw_labels,
    "metrics": draw_metrics,
}


def make_pictures(
    results: Results, funnel: Funnel | None = None, wanted: Collection[str] = tuple(DRAWINGS)
) -> list[Picture]:
    """Return a figure for each wanted section of the report that has one, and the funnel's at the end."""
    results = in_one_order(results)
    found = [
        picture
        for one, part in zip(results.criteria, report_of(results).criteria, strict=True)
        for section in part.sections
        if section.figure and section.key in wanted
        for picture in _pictures(one, section, f"{part.prefix}{section.key}")
    ]
    if funnel:
        words, draw = describe_funnel(funnel), partial(draw_funnel, funnel)
        found.append(Picture("funnel", "What screening leaves", words, draw, section="funnel"))
    return [_mark(picture, results.origin.warning) for picture in found] if results.origin.warning else found


def _pictures(found: CriterionResults, section: Section, name: str) -> Iterator[Picture]:
    """Yield the section's figure, in parts that fit a page each: `shares`, `shares-2`."""
    parts = parts_of(found, section)
    for number, (of_part, said) in enumerate(parts, start=1):
        title = section.figure if len(parts) == 1 else f"{section.figure} ({number} of {len(parts)})"
        its_name = name if number == 1 else f"{name}-{number}"
        draw = partial(DRAWINGS[section.key], of_part)
        yield Picture(its_name, title, alternative_text(said), draw, section=name)


def _mark(picture: Picture, warning: str) -> Picture:
    """Return the figure with the warning in the drawing itself and in its alternative text."""

    def draw(width: float) -> "Figure":
        figure = picture.draw(width)
        stamp(figure, warning)
        return figure

    return Picture(picture.name, picture.title, f"{warning}. {picture.description}", draw, warning, picture.section)
