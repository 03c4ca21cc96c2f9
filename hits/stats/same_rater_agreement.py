"""Measures how far workers agree with themselves, where a reply was rated twice by the same worker.

The share of same answers, and Cohen's kappa with quadratic weights (Cohen 1968, "Weighted kappa: nominal scale
agreement with provision for scaled disagreement or partial credit"). With d(k, l) the squared difference of two scores,
over n pairs of a first answer f and a second one g, with shares p_k of first and q_l of second answers,

    D_o = sum d(f, g) / n        D_e = sum_kl p_k q_l d(k, l)        kappa = 1 - D_o / D_e

Intervals respect that pairs of one dialog, and of one worker, belong together (hits.stats.clusters). A pair's influence
on D_o is (d(f, g) - D_o) / n, and on D_e (mean of d(f, .) over second answers + mean of d(., g) over first ones
- 2 D_e) / n.

On a long scale (hits.stats.scales), the same answer means the same bin, while kappa keeps the exact scores.

First answers 1, 1, 2, 2 and second ones 1, 2, 2, 2: three of four are the same, D_o = 1/4, D_e = 1/2 * 3/4 + 1/2 * 1/4
= 1/2, and kappa is 1/2.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from hits.stats.clusters import Clusters, interval_of, spread_of
from hits.stats.estimates import Estimate, Undefined
from hits.stats.outcomes import SelfAgreement
from hits.stats.scales import CriterionScale
from hits.stats.share_intervals import share_interval

Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.object_]

NOTHING_TWICE = "nothing was rated twice"
ALL_THE_SAME = "all answers are the same, so nothing can be said about chance"


def self_agreement(pairs: pd.DataFrame, scale: CriterionScale) -> SelfAgreement:
    """Compute it from `first` and `again`, values of the scale, with the `worker` and the `dialog` of each pair."""
    workers = int(pairs["worker"].nunique())
    if pairs.empty:
        return SelfAgreement(0, 0, Undefined(NOTHING_TWICE), Undefined(NOTHING_TWICE))
    clusters = Clusters.of(pd.factorize(pairs["dialog"])[0], pd.factorize(pairs["worker"])[0])
    first, again = (pairs[name].astype(object).to_numpy() for name in ("first", "again"))
    alike, kappa = (measure(first, again, scale, clusters) for measure in (_alike, _kappa))
    return SelfAgreement(len(pairs), workers, alike, kappa)


def _alike(first: Values, again: Values, scale: CriterionScale, clusters: Clusters) -> Estimate:
    places = {value: scale.place_of(value) for value in scale.values}
    is_same = np.array([places[one] == places[other] for one, other in zip(first, again, strict=True)], np.float64)
    share = float(is_same.mean())
    spread = spread_of((is_same - share) / len(is_same), clusters)
    return Estimate(share, share_interval(share, spread, 0, min(map(len, clusters.sizes))))


def _kappa(first: Values, again: Values, scale: CriterionScale, clusters: Clusters) -> Estimate | Undefined:
    score = dict(zip(scale.values, scale.scores, strict=True))
    before, after = (np.array([score[value] for value in said], np.float64) for said in (first, again))
    observed = (before - after) ** 2
    to_second, to_first = _mean_squares(before, after), _mean_squares(after, before)
    expected = float(to_second.mean())
    if not expected:
        return Undefined(ALL_THE_SAME)
    ratio = float(observed.mean()) / expected
    of_chance = to_second + to_first - 2 * expected
    influences = -((observed - observed.mean()) - ratio * of_chance) / (expected * len(observed))
    value = 1 - ratio
    return Estimate(value, interval_of(value, spread_of(influences, clusters), high=1))


def _mean_squares(numbers: Floats, others: Floats) -> Floats:
    """Return each number's mean squared difference from all of the others, from sums."""
    return np.asarray((numbers - others.mean()) ** 2 + others.var())
