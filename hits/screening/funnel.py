"""The funnel of the paper: answers received, after each rule, kept (theirs: 24,000 -> 21,630).

An answer is what one worker said about one dialog: "24,000 answers (4 answers for each of the 6,000 dialogs)". A
rating is what they said about one model's reply in it. An assignment that two rules name is counted at the first.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from hits.frames.ratings_frame import Frames
from hits.models.design import ScreeningRule
from hits.screening.findings import Finding


class Counts(BaseModel):
    model_config = ConfigDict(frozen=True)

    workers: int
    assignments: int
    answers: int
    ratings: int


class FunnelStep(BaseModel):
    """`left_out` counts what no earlier rule had left out; `workers` there are those who lose something. `named_before`
    are assignments that the rule names too, counted at an earlier one."""

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


def make_funnel(frames: Frames, rules: Sequence[ScreeningRule], found: Sequence[Sequence[Finding]]) -> Funnel:
    submissions = frames.submissions
    sizes = submissions[["worker", "dialogs"]].assign(
        ratings=frames.ratings.groupby("submission").size().reindex(submissions["submission"], fill_value=0).to_numpy()
    )
    is_left = np.ones(len(submissions), bool)
    steps = []
    for rule, findings in zip(rules, found, strict=True):
        is_named = _is_named(submissions, findings)
        is_new = is_named & is_left
        is_left = is_left & ~is_named
        steps.append(
            FunnelStep(
                rule=rule.rule,
                parameters=parameters_of(rule),
                left_out=_counts(sizes[is_new]),
                named_before=int((is_named & ~is_new).sum()),
                left=_counts(sizes[is_left]),
            )
        )
    return Funnel(received=_counts(sizes), steps=steps)


def parameters_of(rule: ScreeningRule) -> dict[str, Any]:
    return rule.model_dump(mode="json", exclude={"rule"})


def _is_named(submissions: pd.DataFrame, findings: Sequence[Finding]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    workers = {finding.worker for finding in findings if finding.submission is None}
    single = {finding.submission for finding in findings if finding.submission is not None}
    return (submissions["worker"].isin(workers) | submissions["submission"].isin(single)).to_numpy()


def _counts(sizes: pd.DataFrame) -> Counts:
    return Counts(
        workers=int(sizes["worker"].nunique()),
        assignments=len(sizes),
        answers=int(sizes["dialogs"].sum()),
        ratings=int(sizes["ratings"].sum()),
    )
