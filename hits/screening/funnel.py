"""Defines the funnel: how many answers were received, were left after each rule, and are kept.

The paper's went from 24,000 to 21,630. An answer is what one worker said about one dialog: "24,000 answers (4 answers
for each of the 6,000 dialogs)". A rating is what they said about one model's reply in it. An assignment that two rules
find is counted at the first.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict

from hits.models import ScreeningRun


class Counts(BaseModel):
    """How much work there is at one step of the funnel."""

    model_config = ConfigDict(frozen=True)

    workers: int
    assignments: int
    answers: int
    ratings: int


class FunnelStep(BaseModel):
    """One rule's step. `left_out` counts what this rule leaves out and no earlier rule did; its `workers` are those who
    lose some work. `named_before` counts assignments that this rule finds too, but an earlier rule left out."""

    model_config = ConfigDict(frozen=True)

    rule: str
    parameters: dict[str, Any]
    left_out: Counts
    named_before: int
    left: Counts


class Funnel(BaseModel):
    """What was received, and a step for each rule, in their order."""

    model_config = ConfigDict(frozen=True)

    received: Counts
    steps: list[FunnelStep]

    @property
    def kept(self) -> Counts:
        return self.steps[-1].left if self.steps else self.received


def funnel_of(run: ScreeningRun | None) -> Funnel | None:
    """Return the funnel that was stored with a screening run."""
    return Funnel.model_validate(run.funnel) if run else None
