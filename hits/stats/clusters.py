"""Computes how sure a statistic is, given that ratings of one dialog, and of one worker, belong together.

In: a statistic's influences, one for each rating: how much the rating changes the statistic, so that the statistic
minus what it estimates is about their sum. Out: a variance, degrees of freedom, a 95 % interval. For a mean, the
influence of a rating y is (y - mean) / n.

The variance is that of Cameron, Gelbach and Miller (2011, "Robust inference with multiway clustering"): the sums over
dialogs and over workers, minus the sums over both together, which each of them has counted,

    V = sum_dialog (sum of influences)^2 + sum_worker (...)^2 - sum_answer (...)^2

Three things are ours, and benchmarks.validity shows what they give. Clusters are few and uneven, and residuals too
small: each term is multiplied by 1 / (1 + Q - 2 C / Q), with Q and C the sums of the squared and cubed shares of
ratings that the clusters have, which makes it unbiased for the mean of cluster effects, and is the known g / (g - 1)
where g clusters are equal. V is at least four fifths of each of its first two terms: what it estimates is at least as
large as they. And t has the degrees of freedom of Satterthwaite, V^2 / sum(V_c^2 / f_c) with f_c = 1 / Q_c - 1: uneven
clusters count as fewer.

Satterthwaite's degrees of freedom are themselves estimated. With few clusters, a variance that came out too small by
chance also gives too many of them: three raters of everything had intervals that held the truth in 91 to 93 %. So where
dialogs or workers are worth fewer than ten, the interval is at least as wide as Banerjee's (1960, "Approximate
confidence interval for linear functions of means of k populations when the population variances are not equal"), which
can't fall short of its confidence where the two parts of the variance are independent:

    half^2 = t_c^2 V_c + t_o^2 (V - V_c)        c the scarcer of dialogs and workers, o the other, t_c with f_c

>>> y = np.array([0., 0., 1., 1.])
>>> clusters = Clusters.of(np.array([0, 0, 1, 1]), np.arange(4))
>>> spread_of((y - y.mean()) / 4, clusters).variance      # 2 (1/8) + 4/3 (1/16) - 1/16
array([0.27083333])
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy
from scipy.sparse import csr_array

from hits.stats.coded_ratings import CodedRatings, Codes
from hits.stats.estimates import CONFIDENCE, EVERYTHING_POSSIBLE, NORMAL_QUANTILE, Estimate, Interval, Undefined
from hits.stats.too_few import FEW_WORKERS

Floats = npt.NDArray[np.float64]
FEWEST = 2  # clusters
FEW_CLUSTERS = FEW_WORKERS  # effective ones, of dialogs or of workers
NOTHING_VARIES = "nothing varies"  # then a variance of 0 would feign certainty
TOO_FEW_RATERS = "from so few raters, nobody can tell how much others would agree"
MOST_BUSY = 0.49  # with half, all pairs may be of two workers, and nothing of their habits can be seen
BISECTIONS = 50
OF_PRODUCTS = 0.5  # degrees of freedom that a cluster is worth: benchmarks.validity, "halo", shows what that gives
LEAST = 0.8  # share of a term; with 1, intervals would be too wide where workers hardly differ


@dataclass(frozen=True)
class Clusters:
    """Which dialog, worker and answer each row belongs to. An answer is one worker's, to one dialog."""

    dialog: Codes
    worker: Codes
    answer: Codes

    @cached_property
    def sizes(self) -> list[Floats]:
        """Count the rows of each dialog, and of each worker."""
        counts = (np.bincount(codes) for codes in (self.dialog, self.worker))
        return [some[some > 0].astype(np.float64) for some in counts]

    def of_rows(self, rows: npt.NDArray[np.bool_]) -> "Clusters":
        return Clusters(self.dialog[rows], self.worker[rows], self.answer[rows])

    @staticmethod
    def of(dialog: Codes, worker: Codes) -> "Clusters":
        return Clusters(dialog, worker, dialog.astype(np.int64) * (int(worker.max(initial=0)) + 1) + worker)

    @staticmethod
    def of_ratings(ratings: CodedRatings) -> "Clusters":
        return Clusters(ratings.dialog, ratings.worker, ratings.answer)


@dataclass(frozen=True)
class Spread:
    """The variance and degrees of freedom of several statistics at once. `problem` says why there are none.

    `scarce` is the part of each variance that comes from the scarcer of dialogs and workers, from 0 to 1, and
    `freedoms` are the degrees of freedom of the scarcer and of the other. It is None where both are many.
    """

    variance: Floats
    freedom: Floats
    problem: str = ""
    scarce: Floats | None = None
    freedoms: tuple[float, float] = (math.inf, math.inf)

    def quantile(self, index: int, tail: float = (1 - CONFIDENCE) / 2) -> float:
        """Return how many standard errors the interval reaches to each side, if this much may lie beyond it."""
        by_satterthwaite = float(-scipy.special.stdtrit(self.freedom[index], tail))
        return by_satterthwaite if self.scarce is None else max(by_satterthwaite, self.by_banerjee(index, tail))

    def by_banerjee(self, index: int, tail: float) -> float:
        share = 0.0 if self.scarce is None else float(self.scarce[index])
        few, many = (float(scipy.special.stdtrit(freedom, tail)) for freedom in self.freedoms)
        return math.sqrt(share * few**2 + (1 - share) * many**2)


def spread_of(influences: Floats, clusters: Clusters, are_products: bool = False) -> Spread:
    """Compute the spread from influences; their shape is (ratings,) or (ratings, statistics). Those of a correlation
    are products of two ratings' deviations: a few clusters that lie far off have most of their sum of squares, so that
    clusters are worth half as many degrees of freedom."""
    columns = influences[:, None] if influences.ndim == 1 else influences
    every = (clusters.dialog, clusters.worker, clusters.answer)
    return _spread([_term(columns, codes) for codes in every], clusters, OF_PRODUCTS if are_products else 1.0)


def spread_of_pairs(influences: Floats, of_pairs: Floats, clusters: Clusters) -> Spread:
    """Compute the spread of a mean over pairs of ratings of the same reply, such as agreement. A pair belongs to two
    workers, and each of them carries all of it: `of_pairs` has each rating's pairs in full, and `influences` divide
    them, so that they add up."""
    of_dialogs = _term(influences[:, None], clusters.dialog)
    of_workers, of_answers = (_term(of_pairs[:, None], codes) for codes in (clusters.worker, clusters.answer))
    # A worker who did a share p is paired with others, and their mean effect is -p / (1 - p) of hers: that much of hers
    # can't be seen. Busy workers weigh most in a sum of squares, so p is the mean of the shares, weighted by squares.
    shares = clusters.sizes[1] / clusters.sizes[1].sum()
    busy = float((shares**2) @ shares) / float(shares @ shares)
    if busy > MOST_BUSY:
        nothing = np.zeros(1)
        return Spread(nothing, nothing, TOO_FEW_RATERS)
    of_habits = np.maximum(of_workers - of_answers, 0) * ((1 - busy) / (1 - 2 * busy)) ** 2
    # Both workers of a pair have counted what is the pair's own, which is about half of what answers have.
    found = _spread([of_dialogs, of_habits + of_answers / 2, of_answers / 2], clusters)
    if found.problem or found.scarce is not None:
        return found
    # Busy workers weigh even more in squares, so the habits' part of the variance has fewer degrees of freedom.
    share = np.minimum(of_habits, found.variance) / np.where(found.variance > 0, found.variance, 1)
    dialogs, workers = clusters.sizes
    return replace(found, scarce=share, freedoms=(_freedom(workers**2), _freedom(dialogs)))


def spread_of_shares(value: Codes, value_count: int, clusters: Clusters) -> Spread:
    """Compute the spread of the shares that values have among the ratings. It is the same as `spread_of` their
    influences ([value is k] - share) / n, but from counts, (sum_c (n_ck - share_k n_c)^2) / n^2: faster for many
    values."""
    shares = np.bincount(value, minlength=value_count) / max(len(value), 1)
    terms = []
    for codes in (clusters.dialog, clusters.worker, clusters.answer):
        sizes = np.bincount(codes).astype(np.float64)
        counts = csr_array((np.ones(len(codes)), (codes, value)), shape=(len(sizes), value_count))
        counts.sum_duplicates()
        squares = np.bincount(counts.indices, weights=counts.data**2, minlength=value_count)
        crossed = counts.T @ sizes
        terms.append((squares - 2 * shares * crossed + shares**2 * float(sizes @ sizes)) / max(len(value), 1) ** 2)
    return _spread(terms, clusters)


def _spread(terms: Sequence[Floats], clusters: Clusters, worth: float = 1.0) -> Spread:
    """Compute the spread from the sums of squares over dialogs, workers and answers. A cluster is `worth` so many
    degrees of freedom."""
    for name, counts in zip(("dialog", "worker"), clusters.sizes, strict=True):
        if len(counts) < FEWEST:
            nothing = np.zeros(len(terms[0]))
            return Spread(nothing, nothing, f"all ratings are of one {name}" if len(counts) else "there is no rating")
    of_dialogs, of_workers = (term * _unbiasing(counts) for term, counts in zip(terms[:2], clusters.sizes, strict=True))
    least = LEAST * np.maximum(of_dialogs, of_workers)
    variance = np.maximum(of_dialogs + of_workers - terms[2], least)
    freedoms = [max(1.0, worth * _freedom(counts)) for counts in clusters.sizes]
    weight = of_dialogs**2 / freedoms[0] + of_workers**2 / freedoms[1]
    freedom = np.where(weight > 0, variance**2 / np.where(weight > 0, weight, 1), min(freedoms))
    freedom = np.maximum(freedom, 1)
    if min(freedoms) >= FEW_CLUSTERS - 1:
        return Spread(variance, freedom)
    # The residual belongs to the scarcer ones: from so few, nobody can tell it from what they differ by.
    part = of_dialogs if freedoms[0] < freedoms[1] else of_workers
    scarce = np.divide(np.minimum(part, variance), variance, out=np.ones_like(variance), where=variance > 0)
    return Spread(variance, freedom, scarce=scarce, freedoms=(min(freedoms), max(freedoms)))


def joint_spread(values: Floats, terms: Sequence[Floats], clusters: Clusters) -> tuple[Spread, float | Undefined]:
    """Compute the spread of several statistics, and the p-value that all of them are 0: Wald's statistic as
    Hotelling's, with as many degrees of freedom as the fewer effective clusters leave. `terms` come from the influences
    summed by dialog, by worker and by answer: the products of two statistics' sums, (statistics, statistics) each. A
    covariance that would be negative is taken as 0."""
    spread = _spread([np.diag(term) for term in terms], clusters)
    if spread.problem:
        return spread, Undefined(spread.problem)
    roots, vectors = np.linalg.eigh(_covariance(terms, clusters))
    freedom = min(_freedom(counts) for counts in clusters.sizes)
    is_real = roots > 1e-9 * max(float(roots.max()), 1e-300)
    rank = int(is_real.sum())
    if not rank or freedom - rank + 1 < 1:
        return spread, Undefined("there are too few dialogs or workers for so many levels")
    along = (values @ vectors)[is_real] ** 2 / roots[is_real]
    statistic = float(along.sum()) * (freedom - rank + 1) / (freedom * rank)
    return spread, float(scipy.special.fdtrc(rank, freedom - rank + 1, statistic))


def widened_covariance(terms: Sequence[Floats], clusters: Clusters) -> Floats:
    """Return the covariance of several statistics, from their influences as in `joint_spread`, with what few degrees of
    freedom add to it: the deviation of each grows as its interval does. With one worker, only dialogs count."""
    spread = _spread([np.diag(term) for term in terms], clusters)
    if spread.problem:
        dialogs = clusters.sizes[0]
        factor = t_quantile(_freedom(dialogs)) / NORMAL_QUANTILE
        return np.asarray(terms[0] * _unbiasing(dialogs) * factor**2)
    factors = np.array([spread.quantile(index) for index in range(len(spread.variance))]) / NORMAL_QUANTILE
    return np.asarray(_covariance(terms, clusters) * np.outer(factors, factors))


def _covariance(terms: Sequence[Floats], clusters: Clusters) -> Floats:
    dialogs, workers = (_unbiasing(counts) for counts in clusters.sizes)
    return terms[0] * dialogs + terms[1] * workers - terms[2]


def estimate(
    value: float, influences: Floats, clusters: Clusters, low: float = -math.inf, high: float = math.inf
) -> Estimate:
    """Return the value with the interval value +- t * deviation, cut off at the statistic's lowest and highest
    value."""
    spread = spread_of(influences, clusters)
    return Estimate(float(value), interval_of(float(value), spread, 0, low, high))


def interval_of(
    value: float, spread: Spread, index: int = 0, low: float = -math.inf, high: float = math.inf
) -> Interval | Undefined:
    if spread.problem:
        return Undefined(spread.problem)
    if spread.variance[index] <= 0:
        return Undefined(NOTHING_VARIES)
    half = spread.quantile(index) * math.sqrt(spread.variance[index])
    return Interval(float(max(low, value - half)), float(min(high, value + half)))


def difference_interval(value: float, spread: Spread, index: int, most: float) -> Interval | Undefined:
    """Return the interval of a difference, which can be -most to most; none if it would hold all of that."""
    found = interval_of(value, spread, index)
    if isinstance(found, Undefined):
        return found
    if found.low <= -most and found.high >= most:
        return Undefined(EVERYTHING_POSSIBLE)
    return Interval(max(-most, found.low), min(most, found.high))


def t_p_value(value: float, spread: Spread, index: int = 0) -> float:
    """Return the two-sided p-value of Student's t test that the statistic is 0. It needs a variance above 0. It is the
    p-value at which the interval would end at 0."""
    t = abs(value) / math.sqrt(spread.variance[index])
    by_satterthwaite = float(2 * scipy.special.stdtr(spread.freedom[index], -t))
    if spread.scarce is None:
        return by_satterthwaite
    # Banerjee's lies between those of the two numbers of degrees of freedom, and its quantile falls as the tail grows.
    high, low = (math.log(max(float(scipy.special.stdtr(one, -t)), 1e-300)) for one in spread.freedoms)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if spread.by_banerjee(index, math.exp(middle)) > t else (low, middle)
    return max(by_satterthwaite, 2 * math.exp((low + high) / 2))


def t_quantile(freedom: float) -> float:
    return float(scipy.special.stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _term(columns: Floats, codes: Codes) -> Floats:
    sums = [np.bincount(codes, weights=column) for column in columns.T]
    return np.array([float(one @ one) for one in sums])


def _unbiasing(counts: Floats) -> float:
    shares = counts / counts.sum()
    squares, cubes = float(shares @ shares), float((shares**2) @ shares)
    return 1 / (1 + squares - 2 * cubes / squares)


def _freedom(counts: Floats) -> float:
    shares = counts / counts.sum()
    return max(1.0, 1 / float(shares @ shares) - 1)
