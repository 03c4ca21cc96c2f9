"""Draw random numbers that depend only on what they are about (a seed, a worker, a dialog), never on earlier draws."""

import math
from statistics import NormalDist

from hits.designing import order_key

_STANDARD_NORMAL = NormalDist()


def uniform(*about: object) -> float:
    """Return a number between 0 and 1, but never either of them."""
    return ((int.from_bytes(order_key(*about)[:8], "big") >> 12) + 0.5) / 2**52


def normal(*about: object) -> float:
    return _STANDARD_NORMAL.inv_cdf(uniform(*about))


def lognormal(median: float, spread: float, *about: object) -> float:
    """Draw from a log-normal distribution. `spread` is the standard deviation of the logarithm."""
    return median * math.exp(spread * normal(*about))


def happens(chance: float, *about: object) -> bool:
    return uniform(*about) < chance
