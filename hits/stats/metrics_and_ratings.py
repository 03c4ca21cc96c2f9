"""Computes how closely automatic metrics follow human ratings, per reply and per generator.

Per reply: Pearson's and Spearman's correlation of a metric with the reply's mean score. A reply's influence on
Pearson's r is (x y - r (x^2 + y^2) / 2) / n, for standardised x and y (Devlin, Gnanadesikan and Kettenring 1975), on
Spearman's the same of the ranks; replies to one dialog belong together, and the interval is made on Fisher's scale,
atanh(r). Per generator: Pearson's correlation of the generators' means. Its interval is the percentile interval of a
bootstrap over dialogs; with few generators it is wide, as it should be. It is undefined where generators were rated on
different datasets, since their means are then not of the same dialogs.

Three replies with mean scores 1, 2, 3 and metric 10, 20, 40: Spearman's correlation is 1, Pearson's 0.98.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from hits.stats.clusters import t_quantile
from hits.stats.coded_ratings import CodedRatings, Codes
from hits.stats.estimates import CONFIDENCE, Estimate, Interval, Undefined
from hits.stats.outcomes import GeneratorMeans, MetricCorrelation

Floats = npt.NDArray[np.float64]

FEWEST_REPLIES, FEWEST_GENERATORS = 4, 3
DRAWS, DRAWS_AT_ONCE = 500, 125  # so that the weights of a hundred thousand dialogs take 50 MB

# A weight for each of 256 equally likely bytes: Poisson's shares rounded, so that mean and variance are exactly 1. This
# is ten times as fast as drawing from Poisson.
WEIGHTS = np.repeat(np.arange(6, dtype=np.float32), [94, 95, 46, 16, 4, 1])


def metric_correlations(ratings: CodedRatings, metrics: Mapping[str, Floats], seed: int = 1) -> list[MetricCorrelation]:
    """Correlate each metric with the ratings. It has a number for each rating: its reply's, or NaN if that has none."""
    found: list[MetricCorrelation] = []
    replies: _Replies | None = None
    for name, column in metrics.items():
        known = (ratings.generator >= 0) & ~np.isnan(column)
        if replies is None or not np.array_equal(replies.known, known):  # usually, all metrics know the same replies
            replies = _Replies.of(ratings, known)
        found.append(_correlation(ratings, name, replies.with_metric(column), seed))
    return found


def _correlation(ratings: CodedRatings, name: str, replies: "_Replies", seed: int) -> MetricCorrelation:
    ranked_metric = scipy.stats.rankdata(replies.metric)
    means = replies.generator_means(np.ones((1, int(replies.dialog.max(initial=-1)) + 1)), len(ratings.generators))
    counts = np.bincount(replies.generator, minlength=len(ratings.generators))
    return MetricCorrelation(
        name,
        len(replies.score),
        _pearson(replies.metric, replies.score, replies.dialog),
        _pearson(ranked_metric, replies.ranked, replies.dialog),
        tuple(
            GeneratorMeans(word, int(counts[code]), float(means[0][0, code]), float(means[1][0, code]))
            for code, word in enumerate(ratings.generators)
            if counts[code]
        ),
        Undefined(ratings.pooling_problem)
        if ratings.pooling_problem
        else _of_generators(replies, len(ratings.generators), seed),
    )


@dataclass(frozen=True)
class _Replies:
    known: npt.NDArray[np.bool_]  # the ratings that count
    first: Codes  # a rating of each reply, among those
    dialog: Codes
    generator: Codes
    score: Floats  # the mean of the reply's ratings
    ranked: Floats
    metric: Floats

    @staticmethod
    def of(ratings: CodedRatings, known: npt.NDArray[np.bool_]) -> "_Replies":
        """Gather the replies, before a metric is added."""
        rows = ratings.of(known)
        reply, found = pd.factorize(rows.reply)
        first = np.zeros(len(found), np.int64)
        first[reply] = np.arange(len(reply))
        dialog = pd.factorize(rows.dialog[first])[0]
        score = np.bincount(reply, weights=rows.score) / np.bincount(reply) if len(reply) else np.zeros(0)
        ranked = scipy.stats.rankdata(score)
        return _Replies(known, first, dialog, rows.generator[first], score, ranked, np.zeros(len(score)))

    def with_metric(self, column: Floats) -> "_Replies":
        return replace(self, metric=column[self.known][self.first])

    def generator_means(self, weights: Floats, generators: int) -> tuple[Floats, Floats]:
        """Return the generators' mean scores and mean metric under weights of the dialogs: (draws, dialogs) -> (draws,
        generators). NaN if a generator has no weight."""
        cell = self.dialog * generators + self.generator
        shape = (weights.shape[1], generators)
        sums = [
            np.bincount(cell, weights=amounts, minlength=shape[0] * shape[1]).reshape(shape)
            for amounts in (None, self.score, self.metric)
        ]
        counts, scores, metric = np.split(weights @ np.hstack(sums).astype(weights.dtype), 3, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return scores / counts, metric / counts


def _pearson(x: Floats, y: Floats, dialog: Codes) -> Estimate | Undefined:
    if len(x) < FEWEST_REPLIES:
        return Undefined(f"fewer than {FEWEST_REPLIES} replies have the metric and ratings")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Undefined("the metric is the same for all replies" if np.ptp(x) == 0 else "all replies are rated alike")
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = float(np.clip(x @ y / len(x), -1, 1))
    sums = np.bincount(dialog, weights=(x * y - r * (x**2 + y**2) / 2) / len(x))
    dialogs = int(np.count_nonzero(np.bincount(dialog)))
    if dialogs < 2:
        return Estimate(r, Undefined("all ratings are of one dialog"))
    if abs(r) > 1 - 1e-12:
        return Estimate(r, Interval(r, r))
    deviation = math.sqrt(dialogs / (dialogs - 1) * float(sums @ sums)) / (1 - r**2)
    half = t_quantile(dialogs - 1) * deviation
    return Estimate(r, Interval(math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)))


def _of_generators(replies: _Replies, generators: int, seed: int) -> Estimate | Undefined:
    dialogs = int(replies.dialog.max(initial=-1)) + 1
    scores, metric = replies.generator_means(np.ones((1, dialogs)), generators)
    rated = ~np.isnan(scores[0])
    if rated.sum() < FEWEST_GENERATORS:
        return Undefined(f"fewer than {FEWEST_GENERATORS} generators have the metric and ratings")
    value = _correlations(scores[:, rated], metric[:, rated])[0]
    if np.isnan(value):
        return Undefined("all generators have the same mean")
    rng = np.random.Generator(np.random.SFC64(seed))
    drawn = np.concatenate([_drawn(replies, generators, rated, rng) for _ in range(0, DRAWS, DRAWS_AT_ONCE)])
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) < DRAWS / 2:
        return Estimate(float(value), Undefined("there are too few dialogs"))
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(float(value), Interval(float(low), float(high)))


def _drawn(replies: _Replies, generators: int, rated: npt.NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    shape = (DRAWS_AT_ONCE, int(replies.dialog.max()) + 1)
    weights: Any = WEIGHTS[rng.integers(0, 256, shape, dtype=np.uint8)]  # in single precision: faster
    scores, metric = replies.generator_means(weights, generators)
    return _correlations(scores[:, rated], metric[:, rated])


def _correlations(x: Floats, y: Floats) -> Floats:
    """Correlate row by row; NaN if a row is constant or has a NaN."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))
