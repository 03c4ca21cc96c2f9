"""Turns a screening run's funnel into rows of a table."""

from dataclasses import dataclass

from hits.models import ScreeningRun
from hits.screening import Counts, Funnel, describe_facts, rule_in_words, unscreened_count

COLUMNS = ("workers", "assignments", "answers", "ratings")


@dataclass(frozen=True)
class FunnelRow:
    """`rule` and its `parameters` are empty in the first row, what was received, and in the last, what is kept."""

    title: str
    counts: list[tuple[str, str]]  # with the title of the column
    rule: str = ""
    parameters: str = ""


@dataclass(frozen=True)
class FunnelTable:
    run: ScreeningRun
    rows: list[FunnelRow]
    unscreened: int

    @property
    def columns(self) -> list[str]:
        return [name.capitalize() for name in COLUMNS]


def funnel_table(run: ScreeningRun) -> FunnelTable:
    funnel = Funnel.model_validate(run.funnel)
    steps = [
        FunnelRow("left out:", _counts(step.left_out, "−"), rule_in_words(step.rule), describe_facts(step.parameters))
        for step in funnel.steps
    ]
    first, last = FunnelRow("received", _counts(funnel.received)), FunnelRow("kept", _counts(funnel.kept))
    return FunnelTable(run, [first, *steps, last], unscreened_count(run))


def _counts(counts: Counts, sign: str = "") -> list[tuple[str, str]]:
    values = [(name.capitalize(), int(getattr(counts, name))) for name in COLUMNS]
    return [(name, f"{sign if value else ''}{value:,}") for name, value in values]
