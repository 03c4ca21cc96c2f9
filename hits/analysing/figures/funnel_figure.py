"""Draws the screening's funnel: how many answers were received, and were left after each rule."""

import textwrap
from typing import TYPE_CHECKING

from evalplatform.wording import count_of
from hits.analysing.figures.canvas import DARK, INK, LIGHT, MIDDLE, NARROW, new_axes
from hits.analysing.figures.figure_words import longest_name, short_name
from hits.screening import Counts, Funnel, rule_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_funnel(funnel: Funnel, width: float) -> "Figure":
    rows = _rows(funnel)
    figure, [ax] = new_axes([0.3 + 0.28 * len(rows)], width)
    most = max(1, funnel.received.answers)
    for index, (_, counts) in enumerate(rows):
        fill = DARK if index == len(rows) - 1 else LIGHT if index == 0 else MIDDLE
        ax.barh(index, counts.answers, height=0.7, color=fill, edgecolor=INK, linewidth=0.6)
        lost = counts.answers - (rows[index - 1][1].answers if index else counts.answers)
        ax.text(
            counts.answers + most / 60, index, f"{counts.answers:,}" + (f"  ({lost:,})" if lost else ""), va="center"
        )
    ax.set_yticks(range(len(rows)), [_in_two_lines(name, longest_name(width)) for name, _ in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0, most * (1.25 if width > NARROW else 1.7))
    ax.tick_params(left=False)
    ax.set_xlabel("answers that are left after each rule", fontsize=8)
    return figure


def _in_two_lines(name: str, longest: int) -> str:
    return "\n".join(short_name(line, longest) for line in textwrap.wrap(name, longest)[:2])


def describe_funnel(funnel: Funnel) -> str:
    steps = [f"{rule_in_words(step.rule)} left out {_answers(step.left_out)}" for step in funnel.steps]
    received, kept = funnel.received, funnel.kept
    return (
        f"{_answers(received)} were received. "
        + "".join(f"{step[0].upper()}{step[1:]}. " for step in steps)
        + f"{_answers(kept)} are kept."
    )


def _answers(counts: Counts) -> str:
    return f"{count_of(counts.answers, 'answer')} of {count_of(counts.workers, 'worker')}"


def _rows(funnel: Funnel) -> list[tuple[str, Counts]]:
    return [
        ("received", funnel.received),
        *((rule_in_words(step.rule), step.left) for step in funnel.steps),
    ]
