"""Computes the paper's table 5: which shares of a generator's ratings in a dataset are good, okay and bad.

    share = ratings of this value / all ratings of this dataset and generator

"Numbers have been normalized across the three quality categories on each test set" (Xie and Pu 2021, table 5). A reply
that several generators gave counts for each of them. The interval is that of a cluster bootstrap over dialogs and
workers (hits.stats.bootstrap) on the log-odds, where shares near 0 and 1 are about symmetric too; its width is that of
the two-way cluster-robust variance (hits.stats.clusters), whose square root is the `standard_error`.

Two dialogs, rated by the same two workers as good, good and good, bad: the share of good is 3/4.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from hits.stats.bootstrap import calibrated_interval, draw_totals
from hits.stats.clusters import Clusters, Spread, estimate, spread_of_shares, t_quantile
from hits.stats.coded_ratings import HUMAN, NOT_FOR_COMPARISONS, CodedRatings
from hits.stats.estimates import CONFIDENCE, Estimate, Interval, Undefined
from hits.stats.outcomes import Share, ShareRow

Floats = npt.NDArray[np.float64]


def table_rows(ratings: CodedRatings, seed: int = 1) -> list[ShareRow]:
    """Return a row for each generator, in all datasets together if there are several, then in each."""
    rows = ratings.by_generators.from_both_sides
    shape = (len(rows.datasets), len(rows.generators), len(rows.values))
    groups = (rows.dataset * shape[1] + rows.generator) * shape[2] + rows.value
    rng = np.random.default_rng(seed)
    draws = draw_totals(rows.dialog, rows.worker, groups, math.prod(shape), rng).reshape(-1, *shape)
    together = rows.by_group(rows.generator, shape[1]) if shape[0] > 1 else []
    all_draws = draws.sum(axis=1)
    found = [row_of(one, None, rows.generators[code], all_draws[:, code]) for code, one in enumerate(together)]
    for place, one in enumerate(rows.by_group(rows.dataset * shape[1] + rows.generator, shape[0] * shape[1])):
        dataset, code = divmod(place, shape[1])
        found.append(row_of(one, rows.datasets[dataset], rows.generators[code], draws[:, dataset, code]))
    return found


def quick_rows(ratings: CodedRatings) -> list[ShareRow]:
    """Return rows by dataset only, for tables that are made many times: without bootstrap draws, with intervals that
    are symmetric on the log-odds."""
    rows, count = _of_generators(ratings), len(ratings.generators)
    return [
        row_of(one, rows.datasets[place // count], rows.generators[place % count])
        for place, one in enumerate(rows.by_group(rows.dataset * count + rows.generator, len(rows.datasets) * count))
    ]


def _of_generators(ratings: CodedRatings) -> CodedRatings:
    """Return the ratings of generators' replies, even those that were compared with the human reply."""
    return ratings.from_both_sides.by_generators


def human_row(ratings: CodedRatings, dataset: str | None) -> ShareRow:
    return row_of(ratings.of(ratings.generator == HUMAN), dataset, None)


def row_of(ratings: CodedRatings, dataset: str | None, generator: str | None, draws: Floats | None = None) -> ShareRow:
    """Make one row. `draws` has the weight of each value in each draw: (draws, values)."""
    count = len(ratings)
    sizes = (count, ratings.dialog_count, ratings.worker_count)
    if not count:
        return ShareRow(dataset, generator, *sizes, Undefined("there is no rating"), Undefined("there is no rating"))
    clusters = Clusters.of_ratings(ratings)
    counts = np.bincount(ratings.value, minlength=len(ratings.values))
    shares = counts / count
    spread = spread_of_shares(ratings.value, len(counts), clusters)
    mean = float(ratings.score.mean())
    low, high = min(ratings.scores), max(ratings.scores)
    mean_score: Estimate | Undefined = Undefined(NOT_FOR_COMPARISONS)
    if ratings.opponent is None:
        mean_score = estimate(mean, (ratings.score - mean) / count, clusters, low, high)
    found = tuple(
        Share(
            value=name,
            count=int(counts[code]),
            share=float(shares[code]),
            standard_error=Undefined(spread.problem) if spread.problem else math.sqrt(spread.variance[code]),
            interval=_interval(float(shares[code]), spread, code, sizes, draws),
        )
        for code, name in enumerate(ratings.values)
    )
    return ShareRow(dataset, generator, *sizes, found, mean_score)


def _interval(
    share: float, spread: Spread, code: int, sizes: tuple[int, int, int], draws: Floats | None
) -> Interval | Undefined:
    if spread.problem:
        return Undefined(spread.problem)
    if share in (0.0, 1.0):
        return _of_nothing(share, min(sizes[1:]))
    centre = float(logit(share))
    half = t_quantile(spread.freedom[code]) * math.sqrt(spread.variance[code]) / (share * (1 - share))
    around = Interval(-half, half)
    if draws is not None:
        totals = draws.sum(axis=1)
        drawn = draws[totals > 0, code] / totals[totals > 0]
        least = 0.5 / sizes[0]
        around = calibrated_interval(logit(np.clip(drawn, least, 1 - least)) - centre, half)
    return Interval(float(expit(centre + around.low)), float(expit(centre + around.high)))


def _of_nothing(share: float, clusters: int) -> Interval:
    """Return Clopper and Pearson's interval for a value that all or none of the ratings have, where the variance would
    be 0. Clusters count as trials."""
    far = 1 - ((1 - CONFIDENCE) / 2) ** (1 / clusters)
    return Interval(0.0, far) if share == 0 else Interval(1 - far, 1.0)
