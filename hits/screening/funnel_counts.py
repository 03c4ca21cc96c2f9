"""Counts the funnel: how much work is left after each rule."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from hits.frames import Frames
from hits.models.screening_rule import Finding, ScreeningRule
from hits.screening.findings import submissions_named
from hits.screening.funnel import Counts, Funnel, FunnelStep


def make_funnel(frames: Frames, rules: Sequence[ScreeningRule], found: Sequence[Sequence[Finding]]) -> Funnel:
    """Count what the rules leave of the frames. `found` has the findings of each rule."""
    submissions = frames.submissions
    sizes = submissions[["worker", "dialogs"]].assign(
        ratings=frames.ratings.groupby("submission").size().reindex(submissions["submission"], fill_value=0).to_numpy()
    )
    by_worker = submissions.groupby("worker", observed=True)["submission"]
    submissions_of = {str(worker): list(keys) for worker, keys in by_worker}
    is_left = np.ones(len(submissions), bool)
    steps = []
    for rule, findings in zip(rules, found, strict=True):
        named = submissions_named(((one.worker, one.submission) for one in findings), submissions_of)
        is_named = submissions["submission"].isin(list(named)).to_numpy()
        is_new = is_named & is_left
        is_left = is_left & ~is_named
        steps.append(
            FunnelStep(
                rule=rule.rule,
                parameters=rule.parameters,
                left_out=_counts(sizes[is_new]),
                named_before=int((is_named & ~is_new).sum()),
                left=_counts(sizes[is_left]),
            )
        )
    return Funnel(received=_counts(sizes), steps=steps)


def _counts(sizes: pd.DataFrame) -> Counts:
    return Counts(
        workers=int(sizes["worker"].nunique()),
        assignments=len(sizes),
        answers=int(sizes["dialogs"].sum()),
        ratings=int(sizes["ratings"].sum()),
    )
