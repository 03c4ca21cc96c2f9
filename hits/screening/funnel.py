"""The funnel of the paper: answers received, after each rule, kept (theirs: 24,000 -> 21,630).

An answer is what one worker said about one dialog: "24,000 answers (4 answers for each of the 6,000 dialogs)". A
rating is what they said about one model's reply in it. An assignment that two rules name is counted at the first.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict

from hits.models import ScreeningRun


class Counts(BaseModel):
    model_config = ConfigDict(frozen=True)

    workers: int
    assignments: int
    answers: int
    ratings: int


class FunnelStep(BaseModel):
    """`left_out` counts what this rule leaves out and no earlier rule did; its `workers` are those who lose
    something. `named_before` counts assignments that this rule names as well, but an earlier one left out."""

    model_config = ConfigDict(frozen=True)

    rule: str
    parameters: dict[str, Any]
    left_out: Counts
    named_before: int
    left: Counts


class Funnel(BaseModel):
    model_config = ConfigDict(frozen=True)

    received: Counts
    steps: list[FunnelStep]

    @property
    def kept(self) -> Counts:
        return self.steps[-1].left if self.steps else self.received


def funnel_of(run: ScreeningRun | None) -> Funnel | None:
    return Funnel.model_validate(run.funnel) if run else None
