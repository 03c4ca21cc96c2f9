"""Decides which figures results have, and in which order pages and bundles show them."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

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
from hits.stats import Undefined

if TYPE_CHECKING:
    from matplotlib.figure import Figure


T = TypeVar("T")

KEPT = 100  # pictures, of some 200 kB each

DRAWINGS: "Mapping[str, Callable[[Any, float], Figure]]" = {
    "shares": draw_shares,
    "comparisons": draw_comparisons,
    "ranking": draw_ranking,
    "agreement": draw_agreement,
    "labels": draw_labels,
    "metrics": draw_metrics,
    "funnel": draw_funnel,
}
# What no figure shows is left out of what a picture keeps: true values name workers, and change more often than all
# that is drawn.
NOT_DRAWN: dict[str, Any] = {
    "true_values": Undefined("no figure shows them"),
    **dict.fromkeys(("dependences", "variants", "sequences", "slices", "separations"), ()),
}


@dataclass(frozen=True)
class Picture:
    """A figure with its texts, drawn when it is first asked for: as wide as a page's text, and as wide as a column,
    which a phone shows too. `name` is also the name of its files, and unique on a page; `description` is the
    alternative text. `warning` is drawn into it; it is empty if all work is from people.

    Drawing takes longer than computing the results, so a process draws pictures that are equal only once: the page, the
    bundle and its check mostly want the same."""

    name: str
    title: str
    description: str
    kind: str  # of DRAWINGS
    shown: CriterionResults | Funnel
    warning: str = ""
    section: str = ""  # the section that it stands in: a high figure is split into several

    @property
    def svg(self) -> str:
        return self._once("svg", lambda: as_svg(self._wide, self.name, self.title, self.description))

    @property
    def narrow_svg(self) -> str:
        name = f"{self.name}-column"
        return self._once("narrow svg", lambda: as_svg(self._narrow, name, self.title, self.description))

    @property
    def pdf(self) -> bytes:
        return self._once("pdf", lambda: as_pdf(self._wide, self.warning))

    @property
    def narrow_pdf(self) -> bytes:
        return self._once("narrow pdf", lambda: as_pdf(self._narrow, self.warning))

    @cached_property
    def _wide(self) -> "Figure":
        return laid_out(lambda: self._draw(WIDE))

    @cached_property
    def _narrow(self) -> "Figure":
        return laid_out(lambda: self._draw(NARROW))

    def _draw(self, width: float) -> "Figure":
        figure = DRAWINGS[self.kind](self.shown, width)
        if self.warning:
            stamp(figure, self.warning)
        return figure

    def _once(self, form: str, make: Callable[[], T]) -> T:
        drawn = drawn_before(self._looks)
        if form not in drawn:
            drawn[form] = make()
        return drawn[form]  # type: ignore[no-any-return]

    @cached_property
    def _looks(self) -> str:
        """Tell pictures apart by all that is shown and said, each number to its last digit."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


@lru_cache(KEPT)
def drawn_before(looks: str) -> dict[str, Any]:
    """Return the files that were drawn of pictures that look so, by their forms; new ones are put into it."""
    return {}


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
        found.append(
            Picture("funnel", "What screening leaves", describe_funnel(funnel), "funnel", funnel, section="funnel")
        )
    return [_mark(picture, results.origin.warning) for picture in found] if results.origin.warning else found


def _pictures(found: CriterionResults, section: Section, name: str) -> Iterator[Picture]:
    """Yield the section's figure, in parts that fit a page each: `shares`, `shares-2`."""
    parts = parts_of(found, section)
    for number, (of_part, said) in enumerate(parts, start=1):
        title = section.figure if len(parts) == 1 else f"{section.figure} ({number} of {len(parts)})"
        its_name = name if number == 1 else f"{name}-{number}"
        shown = replace(of_part, **NOT_DRAWN)
        yield Picture(its_name, title, alternative_text(said), section.key, shown, section=name)


def _mark(picture: Picture, warning: str) -> Picture:
    """Return the figure with the warning in the drawing itself and in its alternative text."""
    return replace(picture, description=f"{warning}. {picture.description}", warning=warning)
