"""Computes the paper's table 5: which shares of a generator's ratings in a dataset are good, okay and bad.

    share = ratings of this value / all ratings of this dataset and generator

"Numbers have been normalized across the three quality categories on each test set" (Xie and Pu 2021, table 5). A reply
that several generators gave counts for each of them. Intervals of shares and of mean scores are symmetric on the
log-odds (hits.stats.share_intervals), from the two-way cluster-robust variance (hits.stats.clusters), whose square root
is the `standard_error`. All datasets together are undefined for a generator that was not rated on each.

Two dialogs, rated by the same two workers as good, good and good, bad: the share of good is 3/4.
"""

import math

import numpy as np

from hits.stats.clusters import Clusters, spread_of, spread_of_shares
from hits.stats.coded_ratings import HUMAN, CodedRatings
from hits.stats.estimates import Estimate, Undefined
from hits.stats.outcomes import Share, ShareRow
from hits.stats.share_intervals import position_interval, share_interval

NO_RATING = "there is no rating"
ONLY_FOR_COMPARISONS = "replies were rated one by one"


def table_rows(ratings: CodedRatings) -> list[ShareRow]:
    """Return a row for each generator, in all datasets together if there are several, then in each. Comparisons with
    the human reply don't count: they say nothing about which generator is better."""
    ratings = ratings.by_generators
    by_dataset = rows_by_dataset(ratings)
    rows = _of_generators(ratings)
    if len(rows.datasets) == 1:
        return by_dataset
    together = rows.by_group(rows.generator, len(rows.generators))
    made = [
        row_of(one, None, name, problem)
        for one, name, problem in zip(together, rows.generators, ratings.pooling_problems, strict=True)
    ]
    return [*made, *by_dataset]


def rows_by_dataset(ratings: CodedRatings) -> list[ShareRow]:
    rows, count = _of_generators(ratings), len(ratings.generators)
    return [
        row_of(one, rows.datasets[index // count], rows.generators[index % count])
        for index, one in enumerate(rows.by_group(rows.cells, len(rows.datasets) * count))
    ]


def _of_generators(ratings: CodedRatings) -> CodedRatings:
    """Return the ratings of generators' replies, even those that were compared with the human reply."""
    return ratings.from_both_sides.by_generators


def human_row(ratings: CodedRatings, dataset: str | None) -> ShareRow:
    return row_of(ratings.of(ratings.generator == HUMAN), dataset, None)


def row_of(ratings: CodedRatings, dataset: str | None, generator: str | None, problem: str = "") -> ShareRow:
    """Make one row. `problem` says why its numbers would mean nothing."""
    count = len(ratings)
    sizes = (count, ratings.dialog_count, ratings.worker_count)
    if problem or not count:
        nothing = Undefined(problem if count else NO_RATING)
        return ShareRow(dataset, generator, *sizes, nothing, nothing, nothing, nothing, nothing)
    clusters = Clusters.of_ratings(ratings)
    counts = np.bincount(ratings.value, minlength=len(ratings.values))
    shares = counts / count
    spread = spread_of_shares(ratings.value, len(counts), clusters)
    found = tuple(
        Share(
            value=name,
            count=int(counts[code]),
            share=float(shares[code]),
            standard_error=Undefined(spread.problem) if spread.problem else math.sqrt(spread.variance[code]),
            interval=share_interval(float(shares[code]), spread, code, min(sizes[1:])),
        )
        for code, name in enumerate(ratings.values)
    )
    score = _mean_score(ratings, clusters)
    return ShareRow(dataset, generator, *sizes, found, *score, _win_rate(ratings, clusters), _published_error(ratings))


def _mean_score(ratings: CodedRatings, clusters: Clusters) -> tuple[Estimate | Undefined, float | Undefined]:
    """Return the mean score with its interval, and its standard error."""
    if problem := ratings.no_score_because:
        return Undefined(problem), Undefined(problem)
    mean = float(ratings.score.mean())
    spread = spread_of((ratings.score - mean) / len(ratings), clusters)
    fewest = min(ratings.dialog_count, ratings.worker_count)
    error = Undefined(spread.problem) if spread.problem else math.sqrt(spread.variance[0])
    return Estimate(mean, position_interval(mean, *ratings.score_ends, spread, fewest)), error


def _published_error(ratings: CodedRatings) -> float | Undefined:
    """Return the standard error that papers print, which takes all ratings as independent: s / sqrt(n)."""
    if problem := ratings.no_score_because or ("there is one rating only" if len(ratings) == 1 else ""):
        return Undefined(problem)
    return float(ratings.score.std(ddof=1)) / math.sqrt(len(ratings))


def _win_rate(ratings: CodedRatings, clusters: Clusters) -> Estimate | Undefined:
    """Return the share of comparisons that were won, where a tie is half a win."""
    if ratings.opponent is None:
        return Undefined(ONLY_FOR_COMPARISONS)
    wins = (np.sign(ratings.score) + 1) / 2
    rate = float(wins.mean())
    spread = spread_of((wins - rate) / len(ratings), clusters)
    return Estimate(rate, share_interval(rate, spread, 0, min(ratings.dialog_count, ratings.worker_count)))
