"""Measures how far workers agree on the same reply: Krippendorff's alpha, Fleiss' kappa, raw agreement.

With n_uk of the m_u ratings of reply u in value k, over replies with at least two ratings, n in all, and d(k, l) the
squared difference of two values,

    D_o = sum_u sum_kl n_uk n_ul d(k, l) / (m_u - 1) / n
    D_e = sum_kl n_k n_l d(k, l) / (n (n - 1))                        alpha = 1 - D_o / D_e

(Krippendorff 2011, "Computing Krippendorff's alpha-reliability"). Nominal: d is 1 where k and l differ. Interval: the
scores' difference, squared. Ordinal: the ratings between them, squared: (n_k / 2 + ... + n_l / 2)^2. Raw agreement is
the mean over replies of the share of agreeing pairs; Fleiss' kappa is (raw - chance) / (1 - chance) with chance =
sum_k (n_k / n)^2 (Fleiss 1971; where the number of ratings differs, as it does after screening, replies count alike).

Where workers compared two replies, "reply" means the two of them, and values are those of the one that the design names
first; a scale of comparisons has no distances, so alpha by interval is undefined.

Intervals respect that replies of one dialog, and ratings of one worker, belong together (hits.stats.clusters); that of
raw agreement, which is a share, is symmetric on the log-odds (hits.stats.share_intervals). A
rating's influence on D_o: weight ratings by w, let a_u be the mean of d over pairs with weights w_i w_j, and D_o =
sum_u (sum_i w_i) a_u / sum_i w_i; then its derivative at w = 1 is (2 b_i - a_u - D_o) / n with b_i the mean of d
between rating i and the others of its reply. That on D_e is 2 (mean of d between i and all - D_e) / n.

Those influences divide a pair between its two raters, which is right for dialogs. What workers contribute would come
out too small: a worker's habits are in all pairs with her, and none of them is half hers. So among workers a rating
carries its pairs in full, 2 (b_i - D_o) / n (Aronow, Samii and Assenova 2015, "Cluster-robust variance estimation for
dyadic data"), with the corrections of `spread_of_pairs`.

Two workers, three replies, rated (1, 1), (1, 2), (2, 2): nominal D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 18/30, and
alpha = 1 - 10/18 = 4/9. Raw agreement is 2/3, chance 1/2, kappa 1/3.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from hits.stats.clusters import Clusters, interval_of, spread_of_pairs
from hits.stats.coded_ratings import NO_ORDER, CodedRatings, Codes
from hits.stats.estimates import Estimate, Undefined
from hits.stats.outcomes import Agreement
from hits.stats.share_intervals import share_interval

Floats = npt.NDArray[np.float64]

ALL_THE_SAME = "all ratings are the same, so nothing can be said about chance"
NO_MAJORITY = "on a long scale two raters hardly ever say the same"
LEVELS = ("nominal", "ordinal", "interval")


def agreement(ratings: CodedRatings, dataset: str | None = None, generator: str | None = None) -> Agreement:
    counts = _Counts.of(ratings)
    if counts is None:
        reason = Undefined("no reply has ratings by two workers")
        return Agreement(dataset, generator, 0, 0, reason, reason, reason, reason, reason)
    nominal = _alpha(counts, _distances("nominal", counts.values, ratings.scores))
    ordinal: Estimate | Undefined
    by_interval: Estimate | Undefined
    if ratings.ends_of_bins is not None:  # then the same answer means the same bin, and distances are of exact scores
        ordinal, by_interval = (
            _alpha_of_numbers(counts, _middles(counts.score)),
            _alpha_of_numbers(counts, counts.score),
        )
    else:
        ordinal, by_interval = (
            _alpha(counts, _distances(level, counts.values, ratings.scores)) for level in ("ordinal", "interval")
        )
    if ratings.no_score_because:
        by_interval = Undefined(ratings.no_score_because)
    if ratings.is_nominal:
        ordinal = Undefined(NO_ORDER)
    sizes = (len(counts.by_reply), len(counts.value))
    majorities = Undefined(NO_MAJORITY) if ratings.ends_of_bins is not None else counts.majorities
    return Agreement(dataset, generator, *sizes, nominal, ordinal, by_interval, *_fleiss(counts), majorities)


def krippendorff_alpha(counts: Floats, scores: Sequence[float], level: str) -> float | Undefined:
    """Return alpha alone, from how many ratings of each value every reply has."""
    by_reply = np.asarray(counts, np.float64).T  # value x reply: numpy is slow over a short last axis
    sizes = by_reply.sum(axis=0)
    if not (sizes > 1).all():
        by_reply, sizes = by_reply[:, sizes > 1], sizes[sizes > 1]
    values, total = by_reply.sum(axis=1), float(sizes.sum())
    distances = _distances(level, values, tuple(scores))
    if total == 0 or not (expected := float(values @ distances @ values) / (total - 1)):
        return Undefined("no reply has ratings by two workers" if total == 0 else ALL_THE_SAME)
    together = (by_reply / (sizes - 1)) @ by_reply.T  # how often two values meet in a reply
    return 1 - float((together * distances).sum()) / expected


@dataclass(frozen=True)
class _Counts:
    """What was said of the replies that have two ratings or more, by rating and by reply."""

    by_reply: Floats  # reply x value
    sizes: Floats  # by reply
    values: Floats  # how many ratings each value has
    reply: Codes
    value: Codes
    score: Floats
    clusters: Clusters

    @property
    def majorities(self) -> int:
        """Count the replies of which more than half of the ratings say the same."""
        return int((2 * self.by_reply.max(axis=1) > self.sizes).sum())

    @staticmethod
    def of(ratings: CodedRatings) -> "_Counts | None":
        values = len(ratings.values)
        reply = pd.factorize(ratings.reply)[0]
        table = np.bincount(reply * values + ratings.value, minlength=(int(reply.max(initial=-1)) + 1) * values)
        table = table.reshape(-1, values)
        is_paired = table.sum(axis=1) > 1
        if not is_paired.any():
            return None
        if not is_paired.all():
            ratings = ratings.of(is_paired[reply])
            reply = (np.cumsum(is_paired) - 1)[reply[is_paired[reply]]]
            table = table[is_paired]
        by_reply = table.astype(np.float64)
        return _Counts(
            by_reply,
            by_reply.sum(axis=1),
            by_reply.sum(axis=0),
            reply,
            ratings.value,
            ratings.score,
            Clusters.of_ratings(ratings),
        )

    def at_ratings(self, by_reply_and_value: Floats) -> Floats:
        return np.asarray(by_reply_and_value.ravel()[self.reply * self.by_reply.shape[1] + self.value])


def _distances(level: str, counts: Floats, scores: tuple[float, ...]) -> Floats:
    if level == "nominal":
        return 1 - np.eye(len(counts))
    if level == "interval":
        return np.asarray(np.subtract.outer(scores, scores) ** 2)
    middles = np.cumsum(counts) - counts / 2
    return np.asarray(np.subtract.outer(middles, middles) ** 2)


def _alpha(counts: _Counts, distances: Floats) -> Estimate | Undefined:
    total = len(counts.value)
    expected = float(counts.values @ distances @ counts.values) / (total * (total - 1))
    if expected == 0:
        return Undefined(ALL_THE_SAME)
    to_value = counts.by_reply @ distances  # reply x value: from this value to all of the reply's ratings
    means = (counts.by_reply * to_value).sum(axis=1) / (counts.sizes * (counts.sizes - 1))
    observed = float(counts.sizes @ means) / total
    by_value = 2 * to_value / (counts.sizes - 1)[:, None] - means[:, None] - observed
    # The mean distance to all ratings minus its own mean, so that influences add up to 0.
    to_all = distances @ counts.values / total
    of_chance = 2 * (to_all - float(counts.values @ to_all) / total)
    changes = (by_value - observed / expected * of_chance) / (-expected * total)
    of_pairs = 2 * (to_value / (counts.sizes - 1)[:, None] - observed)
    by_worker = (of_pairs - observed / expected * of_chance) / (-expected * total)
    spread = spread_of_pairs(counts.at_ratings(changes), counts.at_ratings(by_worker), counts.clusters)
    value = 1 - observed / expected
    return Estimate(value, interval_of(value, spread, high=1))


def _middles(score: Floats) -> Floats:
    """Return the middle rank of each score, so that ordinal distances are differences of numbers."""
    return np.asarray(scipy.stats.rankdata(score), np.float64)


def _alpha_of_numbers(counts: _Counts, number: Floats) -> Estimate | Undefined:
    """Return the same as `_alpha` with squared differences, from sums: a table of all values of a long scale would have
    as many columns as there are different scores."""
    total, sizes = len(number), counts.sizes
    apart = number - number.mean()
    variance = float(apart @ apart) / total
    expected = 2 * variance * total / (total - 1)
    if expected == 0:
        return Undefined(ALL_THE_SAME)
    within = number - (np.bincount(counts.reply, weights=number) / sizes)[counts.reply]
    squares = np.bincount(counts.reply, weights=within**2)
    means = 2 * squares / (sizes - 1)
    observed = float(sizes @ means) / total
    to_reply = sizes[counts.reply] * within**2 + squares[counts.reply]  # to all of the reply's ratings
    by_rating = 2 * to_reply / (sizes - 1)[counts.reply] - means[counts.reply] - observed
    of_chance = 2 * (apart**2 - variance)
    changes = (by_rating - observed / expected * of_chance) / (-expected * total)
    of_pairs = 2 * (to_reply / (sizes - 1)[counts.reply] - observed)
    by_worker = (of_pairs - observed / expected * of_chance) / (-expected * total)
    value = 1 - observed / expected
    return Estimate(value, interval_of(value, spread_of_pairs(changes, by_worker, counts.clusters), high=1))


def _fleiss(counts: _Counts) -> tuple[Estimate | Undefined, Estimate]:
    """Return kappa and raw agreement."""
    replies, total = len(counts.by_reply), len(counts.value)
    others = (counts.by_reply - 1) / (counts.sizes - 1)[:, None]  # reply x value: the share of others who say the same
    agreeing = (counts.by_reply * others).sum(axis=1) / counts.sizes
    raw = float(agreeing.mean())
    # Every reply counts the same, however many ratings it has, so each rating carries its part of it.
    on_raw = ((2 * (others - agreeing[:, None]) + agreeing[:, None] - raw) / counts.sizes[:, None]) / replies
    of_pairs = 2 * (others - raw) / counts.sizes[:, None] / replies
    spread = spread_of_pairs(counts.at_ratings(on_raw), counts.at_ratings(of_pairs), counts.clusters)
    raw_estimate = Estimate(raw, share_interval(raw, spread, 0, min(map(len, counts.clusters.sizes))))
    shares = counts.values / total
    chance = float(shares @ shares)
    if chance == 1:
        return Undefined(ALL_THE_SAME), raw_estimate
    on_chance = 2 * (shares - chance) / total
    by_chance = (1 - raw) / (1 - chance) ** 2 * on_chance
    changes, by_worker = (one / (1 - chance) - by_chance for one in (on_raw, of_pairs))
    spread = spread_of_pairs(counts.at_ratings(changes), counts.at_ratings(by_worker), counts.clusters)
    kappa = (raw - chance) / (1 - chance)
    return Estimate(kappa, interval_of(kappa, spread, high=1)), raw_estimate
