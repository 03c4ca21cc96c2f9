"""Measures how often the confidence sequence finds a difference that is not there, if one looks ten times.

benchmarks.validity runs it. Studies without a difference are simulated as the planner does
(hits.stats.simulated_studies), with tastes of 0, 2, 5 and 10 %. At each look, the sequence's interval is made from the
two-way variance, once there are 20 dialogs. A study with uneven loads and three models is also looked at as the results
do.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.special

from benchmarks.validity_table import Limit, Line
from hits.stats import Plan, SequenceFinding, code_ratings, compare_generators, sequence_finding, too_early
from hits.stats.estimates import ALPHA, NORMAL_QUANTILE
from hits.stats.planned_study import Effects, Setting, planned_variance
from hits.stats.sequence import DIFFERENT, FEWEST_DIALOGS, TAU_FACTOR, half_width
from hits.stats.simulated_studies import grow_studies
from simulated_crowd.drawing import Drawing, StudySize, draw_frames
from simulated_crowd.truths import Truth

Mask = npt.NDArray[np.bool_]

LOOKS = 10
STUDIES = 1000
ZIPF_STUDIES = 300  # each is analysed ten times
TASTES = (0.0, 0.02, 0.05, 0.10)


def any_time_error(
    setting: Setting, studies: int = STUDIES, looks: int = LOOKS, seed: int = 1
) -> npt.NDArray[np.bool_]:
    """Return in which studies some look excludes 0, although there is no difference."""
    tau2 = TAU_FACTOR * planned_variance(setting)
    is_wrong = np.zeros(studies, bool)
    at_once = setting.dialogs // looks // setting.dialogs_per_hit * setting.dialogs_per_hit
    for sums in grow_studies(setting, [0.0], studies, (seed, 0), at_once):
        if sums.dialogs < FEWEST_DIALOGS:
            continue
        [mean], [variance], [freedom] = sums.spread()
        widened = variance * (scipy.special.stdtrit(freedom, 0.975) / NORMAL_QUANTILE) ** 2
        halves = [half_width(max(float(one), 1e-12), tau2) for one in widened]
        is_wrong |= np.abs(mean) > np.array(halves)
    return is_wrong


def look_lines(studies: int = STUDIES) -> Iterator[Line]:
    """Measure the error with each taste, as the planner simulates studies."""
    usual = Setting(dialogs=400, raters=4, dialogs_per_hit=10)
    for taste in TASTES:
        wrong = any_time_error(replace(usual, effects=Effects(taste=taste)), studies)
        what = f"any-time error, taste {taste:.0%}"
        yield Line.of_studies(f"ten looks, {usual.dialogs} dialogs", what, wrong.tolist(), Limit(most=ALPHA))


def zipf_lines(over: Callable[..., list[Any]]) -> Iterator[Line]:
    """Measure the error of the results' own sequence: three equal models, whose pairs share alpha, and uneven loads."""
    studies = over(_looks_at_a_growing_study, ZIPF_STUDIES)
    for name in studies[0]:
        wrong = [study[name] for study in studies]
        yield Line.of_studies("ten looks, Zipf loads, 200 dialogs", name, wrong, Limit(most=ALPHA))


def _looks_at_a_growing_study(seed: int) -> dict[str, list[bool]]:
    """Look ten times at a study whose HITs come in one after the other, with 5 % taste."""
    truth = Truth(generators=dict.fromkeys("ABC", (0.32, 0.31, 0.37)), effects=Effects(taste=0.05))
    size = StudySize({"ED": 200}, "ABC", workers=60, checkpoints=0)
    frame = draw_frames(Drawing(size, truth, activity=2.0), seed).ratings
    setting = Setting(dialogs=200, raters=4, generators=3, outcome="mean score")
    plan = Plan(outcome="mean score", tau2=TAU_FACTOR * planned_variance(setting))
    is_wrong = False
    for look in range(1, LOOKS + 1):
        results = analyse_so_far(frame[frame["hit"] < size.hits * look // LOOKS], plan)
        is_wrong |= any(one.decided == DIFFERENT for one in results)
    return {"any-time error, taste 5 %": [is_wrong]}


def analyse_so_far(frame: pd.DataFrame, plan: Plan) -> list[SequenceFinding]:
    """Return what the sequence says of each pair at a look, by the functions that the results use."""
    ratings = code_ratings(frame)
    [table] = compare_generators(ratings, plan=plan)
    alpha = ALPHA / len(table.comparisons)
    return [
        sequence_finding(
            (one.first, one.second),
            one.difference,
            plan.tau2,
            alpha,
            problem=too_early(one.size.dialogs, one.size.effective_workers),
        )
        for one in table.comparisons
    ]
