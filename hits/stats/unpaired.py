"""Compares two generators that no worker rated in the same dialog: the difference of their means, by different raters.

    difference = mean of A - mean of B        influences (y - mean A) / n_A and -(y - mean B) / n_B

which go into the two-way variance (hits.stats.clusters), so that dialogs and workers that the two have in common are
respected. The interval and the test are Student's t with Satterthwaite's degrees of freedom. Unlike a paired
difference, it contains all that raters differ by: a strict crowd for A and a mild one for B look like a difference.

A: d0w0 3, d1w0 3, d0w1 2, d1w1 3; B: d0w2 1, d1w2 2, d0w3 2, d1w3 2: difference 1, variance .066667, df 1.92.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hits.stats.clusters import Clusters, Spread, difference_interval, spread_of, t_p_value
from hits.stats.coded_ratings import CodedRatings
from hits.stats.estimates import Estimate, Undefined

Floats = npt.NDArray[np.float64]

ALL_ALIKE = "all ratings of each of the two are the same"


@dataclass(frozen=True)
class UnpairedDifference:
    value: float
    spread: Spread  # of this one difference
    p_value: float
    most: float  # the largest difference that there can be

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.value, difference_interval(self.value, self.spread, 0, self.most))


def unpaired_difference(
    outcome: Floats, is_first: npt.NDArray[np.bool_], clusters: Clusters, most: float
) -> UnpairedDifference | Undefined:
    """Return the difference of means between the first generator's rows and the others, which are the second's."""
    counts = (int(is_first.sum()), int((~is_first).sum()))
    if not all(counts):
        return Undefined("one of them has no rating")
    means = (float(outcome[is_first].mean()), float(outcome[~is_first].mean()))
    influences = np.where(is_first, (outcome - means[0]) / counts[0], (means[1] - outcome) / counts[1])
    spread = spread_of(influences, clusters)
    if spread.problem:
        return Undefined(spread.problem)
    if spread.variance[0] <= 0:
        return Undefined(ALL_ALIKE)
    value = means[0] - means[1]
    return UnpairedDifference(value, spread, t_p_value(value, spread), most)


def rows_of_two(ratings: CodedRatings, first: int, second: int) -> CodedRatings:
    return ratings.of((ratings.generator == first) | (ratings.generator == second))
