"""Measures how often the confidence sequence finds a difference that is not there, if one looks ten times.

python -m benchmarks.looking_early

Studies without a difference are simulated as the planner does (hits.stats.power), with tastes of 0, 2, 5 and 10 %. At
each look, the sequence's interval is made from the two-way variance, once there are 20 dialogs.
"""

from dataclasses import replace

import numpy as np
import scipy.special

from hits.stats.estimates import ALPHA
from hits.stats.planned_study import Effects, Setting, planned_variance
from hits.stats.power import grow_studies
from hits.stats.sequence import FEWEST_DIALOGS, NORMAL_QUANTILE, TAU_FACTOR, half_width

LOOKS = 10
STUDIES = 1000
TASTES = (0.0, 0.02, 0.05, 0.10)


def any_time_error(setting: Setting, studies: int = STUDIES, looks: int = LOOKS, seed: int = 1) -> float:
    """Return the share of studies in which some look excludes 0, although there is no difference."""
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
    return float(is_wrong.mean())


def print_errors(studies: int = STUDIES) -> list[str]:
    """Print the error with each taste, and return the limits that are broken."""
    broken = []
    usual = Setting(dialogs=400, raters=4, dialogs_per_hit=10)
    print(f"Any-time error of the confidence sequence at {LOOKS} looks, {studies:,} studies each (at most 5 %):")
    for taste in TASTES:
        error = any_time_error(replace(usual, effects=Effects(taste=taste)), studies)
        print(f"  taste {taste:4.0%}: {error:.3f}{'' if error <= ALPHA else '   BROKEN'}")
        if error > ALPHA:
            broken.append(f"any-time error with {taste:.0%} taste {error:.3f}, at most {ALPHA:g}")
    return broken


if __name__ == "__main__":
    print_errors()
