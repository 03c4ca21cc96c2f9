"""Compares models in whole HITs alone: what confidence sequences rest on until a study is complete."""

import pandas as pd

from hits.analysing.analysis import Scales, by_criterion, planned_mask
from hits.screening import kept_mask
from hits.stats import Comparisons, Plan, code_ratings, compare_generators


def compare_in_whole_hits(
    frame: pd.DataFrame, until: int, scales: Scales, plan: Plan, seed: int = 1
) -> dict[str, tuple[Comparisons, ...]]:
    """Compare the models in the HITs up to this number, by what screening keeps of the planned dialogs. A criterion
    without a rating there is left out."""
    found = {}
    for name, part in by_criterion(frame, scales):
        is_used = kept_mask(part) & planned_mask(part, plan) & (part["hit"].to_numpy() <= until)
        if is_used.any():
            ratings = code_ratings(part, scales.get(name)).of(is_used)
            found[name] = tuple(compare_generators(ratings, seed, plan, name))
    return found
