"""Computes how closely automatic metrics follow human ratings, per reply and per generator.

Per reply: Pearson's and Spearman's correlation of a metric with the reply's mean score. A reply's influence on
Pearson's r is (x y - r (x^2 + y^2) / 2) / n, for standardised x and y (Devlin, Gnanadesikan and Kettenring 1975), on
Spearman's the same of the ranks; replies to one dialog belong together, and the interval is made on Fisher's scale,
atanh(r). Per generator: Pearson's correlation of the generators' means. Its interval holds the middle 95 % of the
correlations of means that are drawn around ours, normal with their two-way covariance (hits.stats.clusters); with few
generators it is wide, as it should be. (A bootstrap over dialogs leaves out that workers have tastes: it held the truth
in 80 %.) It is undefined where generators were rated on different datasets, since their means are then not of the same
dialogs.

Three replies with mean scores 1, 2, 3 and metric 10, 20, 40: Spearman's correlation is 1, Pearson's 0.98.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from hits.stats.clusters import Clusters, t_quantile, widened_covariance
from hits.stats.coded_ratings import CodedRatings, Codes
from hits.stats.estimates import CONFIDENCE, Estimate, Interval, Undefined
from hits.stats.outcomes import GeneratorMeans, MetricCorrelation

Floats = npt.NDArray[np.float64]

FEWEST_REPLIES, FEWEST_GENERATORS = 4, 3
DRAWS = 2000


def metric_correlations(
    ratings: CodedRatings, metrics: Mapping[str, npt.ArrayLike], seed: int = 1
) -> list[MetricCorrelation]:
    """Correlate each metric with the ratings. It has a number for each rating: its reply's, or NaN if that has none."""
    found: list[MetricCorrelation] = []
    replies: _Replies | None = None
    for name in metrics:
        column = np.asarray(metrics[name], np.float64)
        known = (ratings.generator >= 0) & ~np.isnan(column)
        if replies is None or not np.array_equal(replies.known, known):  # usually, all metrics know the same replies
            replies = _Replies.of(ratings, known)
        found.append(_correlation(ratings, name, replies.with_metric(column), seed))
    return found


def _correlation(ratings: CodedRatings, name: str, replies: "_Replies", seed: int) -> MetricCorrelation:
    ranked_metric = scipy.stats.rankdata(replies.metric)
    scores, means = replies.generator_means(len(ratings.generators))
    counts = np.bincount(replies.generator, minlength=len(ratings.generators))
    return MetricCorrelation(
        name,
        len(replies.score),
        _pearson(replies.metric, replies.score, replies.dialog),
        _pearson(ranked_metric, replies.ranked, replies.dialog),
        tuple(
            GeneratorMeans(word, int(counts[code]), float(scores[code]), float(means[code]))
            for code, word in enumerate(ratings.generators)
            if counts[code]
        ),
        Undefined(ratings.pooling_problem)
        if ratings.pooling_problem
        else _of_generators(ratings.of(replies.known), replies, seed),
    )


@dataclass(frozen=True)
class _Replies:
    known: npt.NDArray[np.bool_]  # the ratings that count
    first: Codes  # a rating of each reply, among those
    reply: Codes  # of each of those ratings
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
        return _Replies(known, first, reply, dialog, rows.generator[first], score, ranked, np.zeros(len(score)))

    def with_metric(self, column: Floats) -> "_Replies":
        return replace(self, metric=column[self.known][self.first])

    def generator_means(self, generators: int) -> tuple[Floats, Floats]:
        """Return the generators' mean scores and mean metric; NaN for a generator without replies."""
        counts = np.bincount(self.generator, minlength=generators)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores, metric = (
                np.bincount(self.generator, weights=amounts, minlength=generators) / counts
                for amounts in (self.score, self.metric)
            )
        return scores, metric

    def products_of_influences(self, rows: CodedRatings, scores: Floats, metric: Floats) -> list[Floats]:
        """Return the products of the influences on the generators' mean scores and on their mean metric, summed by
        dialog, by worker and by answer: (twice the generators, twice the generators). A metric says nothing about
        workers."""
        size = len(scores)
        counts = np.bincount(self.generator, minlength=size)
        raters = np.bincount(self.reply)[self.reply]
        of_ratings = rows.score - scores[rows.generator]
        of_ratings /= raters * counts[rows.generator]
        del raters
        of_replies = (self.metric - metric[self.generator]) / counts[self.generator]

        def summed(codes: Codes, generator: Codes, influences: Floats) -> Floats:
            cells = codes.astype(np.int64) * size + generator
            length = int(codes.max(initial=-1)) + 1
            found = np.bincount(cells, weights=influences, minlength=length * size)
            return np.asarray(found.reshape(length, size), np.float64)

        by_dialog = [
            summed(rows.dialog, rows.generator, of_ratings),
            summed(rows.dialog[self.first], self.generator, of_replies),
        ]
        both = np.hstack(by_dialog)
        products = [both.T @ both]
        for codes in (rows.worker, rows.answer):
            of_scores = summed(codes, rows.generator, of_ratings)
            products.append(np.zeros((2 * size, 2 * size)))
            products[-1][:size, :size] = of_scores.T @ of_scores
        return products


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


def _of_generators(rows: CodedRatings, replies: _Replies, seed: int) -> Estimate | Undefined:
    """Correlate the generators' means. `rows` are the ratings of these replies."""
    scores, metric = replies.generator_means(len(rows.generators))
    rated = ~np.isnan(scores)
    if rated.sum() < FEWEST_GENERATORS:
        return Undefined(f"fewer than {FEWEST_GENERATORS} generators have the metric and ratings")
    value = _correlations(scores[None, rated], metric[None, rated])[0]
    if np.isnan(value):
        return Undefined("all generators have the same mean")
    if rows.dialog_count < 2:
        return Estimate(float(value), Undefined("all ratings are of one dialog"))
    clusters = Clusters.of_ratings(rows)
    products = replies.products_of_influences(rows, scores, metric)
    roots, vectors = np.linalg.eigh(widened_covariance(products, clusters))
    rng = np.random.Generator(np.random.SFC64(seed))
    drawn = rng.standard_normal((DRAWS, len(roots))) * np.sqrt(np.maximum(roots, 0)) @ vectors.T
    of_scores, of_metric = np.split(drawn, 2, axis=1)
    found = _correlations((scores + of_scores)[:, rated], (metric + of_metric)[:, rated])
    low, high = np.quantile(found[~np.isnan(found)], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(float(value), Interval(float(low), float(high)))


def _correlations(x: Floats, y: Floats) -> Floats:
    """Correlate row by row; NaN if a row is constant or has a NaN."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))
