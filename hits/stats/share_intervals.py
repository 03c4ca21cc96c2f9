"""Makes the interval of a share, and of a mean between the ends of a scale: symmetric on the log-odds.

    logit(p) +- t * s / (p (1 - p))        s the two-way deviation of p, t its quantile (hits.stats.clusters)

taken back to 0 .. 1. Near 0 and 1 the distribution of a share is skewed, and p +- t s misses to one side: it held a
true mean near an end of its scale in .88 to .915 of the studies. A mean score is the position p = (mean - lowest) /
(highest - lowest) between the ends of its scale. Where all or none of the ratings have the value, the variance would be
0: Clopper and Pearson's interval stands there, with clusters as trials.

The same interval stands in all tables, so that variants of the same numbers can be put side by side.
"""

import math
from dataclasses import replace

from scipy.special import expit, logit

from hits.stats.clusters import NOTHING_VARIES, Spread
from hits.stats.estimates import CONFIDENCE, Interval, Undefined


def share_interval(share: float, spread: Spread, index: int, clusters: int) -> Interval | Undefined:
    """Return the interval of a share; `clusters` says how many trials it is at least worth: the fewer of dialogs and
    workers."""
    if spread.problem:
        return Undefined(spread.problem)
    if share <= 0 or share >= 1:
        return _of_nothing(share, clusters)
    if spread.variance[index] <= 0:
        return Undefined(NOTHING_VARIES)
    half = spread.quantile(index) * math.sqrt(spread.variance[index]) / (share * (1 - share))
    centre = float(logit(share))
    return Interval(float(expit(centre - half)), float(expit(centre + half)))


def position_interval(mean: float, low: float, high: float, spread: Spread, clusters: int) -> Interval | Undefined:
    """Return the interval of a mean score on a scale from `low` to `high`, of which `spread` is the spread."""
    if spread.problem or low == high:
        return Undefined(spread.problem or NOTHING_VARIES)
    width = high - low
    scaled = replace(spread, variance=spread.variance / width**2)
    found = share_interval(min(1.0, max(0.0, (mean - low) / width)), scaled, 0, clusters)
    if isinstance(found, Undefined):
        return found
    return Interval(low + width * found.low, low + width * found.high)


def _of_nothing(share: float, clusters: int) -> Interval:
    far = 1 - ((1 - CONFIDENCE) / 2) ** (1 / clusters)
    return Interval(0.0, far) if share <= 0 else Interval(1 - far, 1.0)
