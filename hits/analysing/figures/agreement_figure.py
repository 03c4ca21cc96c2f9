"""How far workers agree: overall and by dataset, then by generator."""

from typing import TYPE_CHECKING

from hits.analysing.figures.canvas import INK, MARKERS, new_axes
from hits.analysing.figures.figure_words import ALL, estimated, half_widths, listed, short_name
from hits.analysing.results import Results
from hits.stats.agreement import Agreement
from hits.stats.estimates import Estimate, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEASURES = {
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "fleiss_kappa": "Fleiss' kappa",
    "raw": "raw agreement",
}


def draw_agreement(results: Results) -> "Figure":
    rows = _rows(results)
    figure, [ax] = new_axes([0.6 + 0.42 * len(rows)])
    for place, row in enumerate(rows):
        _draw_row(ax, place, row)
    ax.axvline(0, color=INK, linewidth=0.6, linestyle=":")
    ax.set_yticks(range(len(rows)), [short_name(_name(row)) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(left=False)
    _legend(figure)
    return figure


def describe_agreement(results: Results) -> str:
    told = [f"{_name(row)}: {_in_words(row)}" for row in _rows(results)]
    return f"Agreement of workers on the same reply, with 95 % intervals. {listed(told)}."


def _rows(results: Results) -> list[Agreement]:
    """All together, each dataset; each generator in all of them."""
    first = results.agreement[0].dataset if results.agreement else None
    return [row for row in results.agreement if row.generator is None or row.dataset == first]


def _name(row: Agreement) -> str:
    return row.generator or row.dataset or ALL


def _in_words(row: Agreement) -> str:
    if isinstance(row.raw, Undefined):
        return f"undefined ({row.raw.reason})"
    return ", ".join(f"{words} {estimated(getattr(row, name))}" for name, words in MEASURES.items())


def _draw_row(ax: "Axes", place: int, row: Agreement) -> None:
    if isinstance(row.raw, Undefined):
        ax.text(0, place, f" undefined: {row.raw.reason}", va="center", fontsize=8)
    for number, name in enumerate(MEASURES):
        value = getattr(row, name)
        if not isinstance(value, Estimate):
            continue
        widths = half_widths(value)
        errors = None if widths is None else [[widths[0]], [widths[1]]]
        ax.errorbar(
            value.value, place + 0.2 * (number - 1), xerr=errors, fmt=MARKERS[number], color=INK, markersize=4,
            markerfacecolor=INK if number == 0 else "none", capsize=2, linewidth=0.8,
        )  # fmt: skip


def _legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=INK, marker=MARKERS[number], markerfacecolor=INK if number == 0 else "none", markersize=4,
               linestyle="none", label=words)
        for number, words in enumerate(MEASURES.values())
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
