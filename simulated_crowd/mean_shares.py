"""Turns a mean on five points into the shares of the points, because papers print means and no distributions.

The share of point k is proportional to exp(-(k - m)^2 / 2 s^2), a bell cut at the ends of the scale, with s such that
ratings in the middle of the scale deviate by about 1.15, as in published standard errors; m is found so that the mean
is the one that was asked for.

A mean of 3 has the shares .099, .240, .323, .240, .099.
"""

import math

POINTS = 5
WIDTH = 1.3
FARTHEST = 60.0


def shares_of_mean(mean: float) -> tuple[float, ...]:
    """Return the shares of 5, 4, 3, 2 and 1. Raises ValueError if no ratings have this mean.

    >>> [round(share, 3) for share in shares_of_mean(3)]
    [0.099, 0.24, 0.323, 0.24, 0.099]
    """
    if not 1 < mean < POINTS:
        raise ValueError(f"must be a mean between 1 and {POINTS}, or shares of the levels, best first")
    low, high = -FARTHEST, FARTHEST
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _mean_at(middle) < mean else (low, middle)
    return _shares_at((low + high) / 2)


def _shares_at(centre: float) -> tuple[float, ...]:
    exponents = [-((point - centre) ** 2) / (2 * WIDTH**2) for point in range(POINTS, 0, -1)]
    weights = [math.exp(one - max(exponents)) for one in exponents]
    return tuple(weight / sum(weights) for weight in weights)


def _mean_at(centre: float) -> float:
    shares = _shares_at(centre)
    return sum(share * point for share, point in zip(shares, range(POINTS, 0, -1), strict=True))
