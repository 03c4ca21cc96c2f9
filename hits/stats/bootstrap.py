"""Draws the cluster bootstrap over dialogs and workers at once, for statistics that are computed from totals.

Each draw gives every dialog and every worker a weight of its own, as good as Poisson with mean and variance 1, and a
rating the product of the two: the pigeonhole bootstrap (Owen 2007, "The pigeonhole bootstrap"; product weights: Owen
and Eckles 2012, "Bootstrapping data arrays of arbitrary order"). A total over ratings in dialog d and by worker w is
then

    T* = sum_dw u_d Y_dw v_w        Y_dw the sum of the ratings' amounts

which is a product of sparse and dense matrices: a million ratings and a thousand draws take about a second.

Its variance counts three times what neither dialogs nor workers share (Owen 2007, theorem 3), so its intervals are too
wide: `calibrated_interval` keeps the shape of the draws, and takes the width from hits.stats.clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from hits.stats.coded_ratings import Codes
from hits.stats.estimates import CONFIDENCE, Interval

Floats = npt.NDArray[np.float64]

# Many ratings get fewer draws, which are close to normal anyway.
DRAWS, FEWEST_DRAWS, MOST_PRODUCTS = 1000, 500, 400_000_000
DRAWS_AT_ONCE = 125  # so that the weights of a hundred thousand dialogs take 50 MB

# A weight for each of 256 equally likely bytes: Poisson's shares rounded, so that mean and variance are exactly 1. This
# is ten times as fast as drawing from Poisson.
WEIGHTS = np.repeat(np.arange(6, dtype=np.float32), [94, 95, 46, 16, 4, 1])


def draw_totals(dialog: Codes, worker: Codes, groups: Codes, group_count: int, rng: np.random.Generator) -> Floats:
    """Return the weight that each group of ratings has in each draw, (draws, groups).

    >>> totals = draw_totals(np.zeros(3, int), np.arange(3), np.array([0, 0, 1]), 2, np.random.default_rng(1))
    >>> totals.shape, totals.mean(axis=0).round(1).tolist()
    ((1000, 2), [2.0, 1.0])
    """
    (dialog, dialogs), (worker, workers) = _dense(dialog), _dense(worker)
    shape = (dialogs, workers)
    made = [_group(dialog, worker, groups == group, shape) for group in range(group_count)]
    draws = min(DRAWS, max(FEWEST_DRAWS, MOST_PRODUCTS // max(len(dialog), 1)))
    totals = [_totals(made, shape, rng, DRAWS_AT_ONCE) for _ in range(0, draws, DRAWS_AT_ONCE)]
    return np.concatenate(totals)


def _dense(codes: Codes) -> tuple[Codes, int]:
    found, uniques = pd.factorize(codes)
    return found, len(uniques)


@dataclass(frozen=True)
class _Group:
    """How many of the group's ratings each worker (columns) gave in each of its own dialogs (rows)."""

    dialogs: Codes
    amounts: csr_array


def _group(dialog: Codes, worker: Codes, rows: npt.NDArray[np.bool_], shape: tuple[int, int]) -> _Group:
    amounts = csr_array((np.ones(int(rows.sum()), np.float32), (dialog[rows], worker[rows])), shape=shape)
    dialogs = np.flatnonzero(np.diff(amounts.indptr))
    return _Group(dialogs, amounts[dialogs])


def _totals(groups: Sequence[_Group], shape: tuple[int, int], rng: np.random.Generator, draws: int) -> Floats:
    of_dialogs, of_workers = (WEIGHTS[rng.integers(0, 256, (count, draws), dtype=np.uint8)] for count in shape)
    totals = [np.einsum("db,db->b", of_dialogs[one.dialogs], one.amounts @ of_workers) for one in groups]
    return np.array(totals, np.float64).T


def calibrated_interval(deviations: Floats, half_width: float) -> Interval:
    """Return an interval around 0 from draws minus the estimate, on a scale where they are about symmetric: their
    percentiles, stretched so that a normal sample would reach `half_width` to both sides.

    >>> calibrated_interval(np.array([-1.0, 1.0]), 1.0)         # 0.95 / 1.96 of a deviation of 1 to both sides
    Interval(low=-0.484..., high=0.484...)
    """
    deviation = float(deviations.std())
    if deviation == 0:
        return Interval(-half_width, half_width)
    tails = np.array([(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    low, high = np.quantile(deviations, tails) * half_width / (1.959963984540054 * deviation)
    return Interval(float(low), float(high))
