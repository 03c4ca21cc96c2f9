"""Tests whether two labels depend on each other within strata, for many units at once: position bias, for example."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2

Codes = np.ndarray[Any, np.dtype[np.integer[Any]]]
Matrix = np.ndarray[Any, np.dtype[np.float64]]


def association_within_strata(unit: Codes, stratum: Codes, row: Codes, column: Codes) -> pd.DataFrame:
    """Make the generalised Cochran-Mantel-Haenszel test of general association, for each unit by itself.

    In each stratum (of one unit), the rows 0 .. n-1 stand once each: the places of a dialog's n cards, say. Under the
    hypothesis the columns (what was said of them) are dealt to them at random, so that with c_a of n in column a

        E[n_pa] = c_a / n        Cov[n_pa, n_qb] = (n [p = q] - 1) (n c_a [a = b] - c_a c_b) / (n^2 (n - 1))

    and d' V^+ d, of the summed differences d and their summed covariance V, is chi-squared with rank(V) degrees of
    freedom (Landis, Heyman and Koch 1978; Agresti, Categorical Data Analysis, 8.4). Strata that are not complete, and
    those of one card, say nothing. `strength` is Cramér's V of the pooled table, 0 to 1.

    One unit, ten strata of two, the first row always in column 0: d = 5 and V = 2.5 on the diagonal, so the statistic
    is 10 with 1 degree of freedom, and the strength 1.

    Return a row for each unit: statistic, freedom, p_value (1 if nothing varies), strength, count.
    """
    stratum = np.unique(stratum, return_inverse=True)[1]
    sizes = np.bincount(stratum)
    last_row = np.zeros(len(sizes), np.int64)
    np.maximum.at(last_row, stratum, row)
    is_used = ((sizes > 1) & (last_row == sizes - 1))[stratum]
    units, unit = np.unique(unit[is_used], return_inverse=True)
    if not len(units):
        return pd.DataFrame({name: [] for name in ("statistic", "freedom", "p_value", "strength", "count")})
    row, column = row[is_used], column[is_used]
    stratum = np.unique(stratum[is_used], return_inverse=True)[1]
    observed = _table(unit, row, column, (len(units), int(row.max()) + 1, int(column.max()) + 1))
    difference, covariance = _moments(unit, stratum, column, observed)
    statistic, freedom = _quadratic(difference, covariance)
    return pd.DataFrame(
        {
            "statistic": statistic,
            "freedom": freedom,
            "p_value": np.where(freedom > 0, chi2.sf(statistic, np.maximum(freedom, 1)), 1.0),
            "strength": _cramers_v(observed),
            "count": np.bincount(unit),
        },
        index=units,
    )


def _table(unit: Codes, row: Codes, column: Codes, shape: tuple[int, int, int]) -> Matrix:
    cell = (unit * shape[1] + row) * shape[2] + column
    return np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(float)


def _moments(unit: Codes, stratum: Codes, column: Codes, observed: Matrix) -> tuple[Matrix, Matrix]:
    """Return the differences from what is expected (units x cells), and their covariances (units x cells x cells)."""
    units, rows, columns = observed.shape
    sizes = np.bincount(stratum)
    unit_of = np.zeros(len(sizes), np.int64)
    unit_of[stratum] = unit
    counts = np.bincount(stratum * columns + column, minlength=len(sizes) * columns).reshape(-1, columns).astype(float)
    difference = observed.copy()
    covariance = np.zeros((units, rows, columns, rows, columns))
    for size in np.unique(sizes):
        of_size = sizes == size
        here, who = counts[of_size], unit_of[of_size]
        sums = _sums(here, who, units)  # units x columns
        spread = size * sums[:, :, None] * np.eye(columns) - _sums(here[:, :, None] * here[:, None, :], who, units)
        difference[:, :size] -= sums[:, None] / size
        between_rows = (size * np.eye(size) - 1) / (size**2 * (size - 1))
        covariance[:, :size, :, :size] += np.einsum("pq,uab->upaqb", between_rows, spread)
    cells = rows * columns
    return difference.reshape(units, cells), covariance.reshape(units, cells, cells)


def _sums(values: Matrix, who: Codes, units: int) -> Matrix:
    sums = np.zeros((units, *values.shape[1:]))
    np.add.at(sums, who, values)
    return sums


def _quadratic(difference: Matrix, covariance: Matrix) -> tuple[Matrix, Codes]:
    """Return d' V^+ d and rank(V). The covariance is singular, since what one row has another lacks."""
    values, vectors = np.linalg.eigh(covariance)
    is_real = values > 1e-9 * np.maximum(values.max(axis=1, keepdims=True), 1e-9)
    along = np.einsum("uc,ucv->uv", difference, vectors) ** 2
    statistic = np.where(is_real, along / np.where(is_real, values, 1), 0).sum(axis=1)
    return statistic, is_real.sum(axis=1)


def _cramers_v(observed: Matrix) -> Matrix:
    """Return Cramér's V of each table; 0 if only one row or one column is used."""
    total = observed.sum(axis=(1, 2))
    rows, columns = observed.sum(axis=2), observed.sum(axis=1)
    expected = rows[:, :, None] * columns[:, None, :] / total[:, None, None]
    squares = np.where(expected > 0, (observed - expected) ** 2 / np.where(expected > 0, expected, 1), 0)
    least = np.minimum((rows > 0).sum(axis=1), (columns > 0).sum(axis=1)) - 1
    return np.where(least > 0, np.sqrt(squares.sum(axis=(1, 2)) / (total * np.maximum(least, 1))), 0.0)
