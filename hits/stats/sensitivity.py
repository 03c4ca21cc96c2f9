"""Compares ways of asking: how much each needs to tell two generators apart, and how far they rank generators alike.

A study sees a difference d of its outcome, with an interval of half-width h. Its *signal* is z = 1.96 d / h: how many
standard errors the difference is away from 0. It grows with the root of the study's size, so a test at level alpha
finds the difference with the given power in a study that is

    f = ((z_(1 - alpha/2) + z_power) / |z|)^2        times as large,

with as many times its ratings, minutes and money. The signal of one study has an error of 1, and that of the mean of S
simulated studies their deviation / sqrt(S): from |z| +- 1.96 errors follows the interval of f, which has no upper end
where 0 is within reach. Two ways that need f_A a and f_B b (minutes, say) need the ratio (z_B / z_A)^2 a / b. Its
interval is Fieller's (1954) of z_B / z_A. It takes both signals as independent: replies to the same dialogs make both
larger or smaller, so that the interval is rather too wide.

>>> needed_size(Signal(4.0), alpha=.05)
Needed(value=0.49055, low=0.22096, high=1.886)
>>> ratio_of_needs(Signal(4.0), Signal(3.0))
Needed(value=0.5625, low=0.060252, high=2.9876)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from hits.stats.estimates import NORMAL_QUANTILE, Estimate, Interval, Undefined
from hits.stats.outcomes import Comparison

Floats = npt.NDArray[np.float64]

POWER = 0.8
NO_DIFFERENCE_SEEN = "no difference is seen"
NO_ERROR = "how sure its difference is can't be said"


@dataclass(frozen=True)
class Signal:
    """A difference in standard errors, and how far this number itself may be off."""

    value: float
    error: float = 1.0


@dataclass(frozen=True)
class Needed:
    """A multiple of something, with its 95 % interval; `high` is infinite where the interval has no upper end."""

    value: float
    low: float
    high: float

    def times(self, amount: float) -> "Needed":
        return Needed(self.value * amount, self.low * amount, self.high * amount)


def signal_of(comparison: Comparison) -> Signal | Undefined:
    """Return how clearly one study sees this pair's difference, with the sign of the first generator's lead."""
    found = comparison.difference
    if isinstance(found, Undefined):
        return found
    if isinstance(found.interval, Undefined):
        return Undefined(f"{NO_ERROR}: {found.interval.reason}")
    # One side may be cut off at the largest possible difference.
    half = max(found.interval.high - found.value, found.value - found.interval.low)
    return Signal(NORMAL_QUANTILE * found.value / half) if half > 0 else Undefined(NO_ERROR)


def mean_signal(signals: Sequence[Signal | Undefined]) -> Signal | Undefined:
    """Return the signal of a study of this kind, from several simulated ones."""
    values = np.array([one.value for one in signals if isinstance(one, Signal)])
    if len(values) < 2:
        return next(one for one in signals if isinstance(one, Undefined))
    return Signal(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))))


def needed_size(signal: Signal, alpha: float, power: float = POWER) -> Needed | Undefined:
    """Return how many times as large a study would have to be to find this difference with this power."""
    if not signal.value:
        return Undefined(NO_DIFFERENCE_SEEN)
    wanted = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    reach = NORMAL_QUANTILE * signal.error
    least, most = abs(signal.value) - reach, abs(signal.value) + reach
    return _rounded(
        (wanted / abs(signal.value)) ** 2, (wanted / most) ** 2, (wanted / least) ** 2 if least > 0 else math.inf
    )


def ratio_of_needs(first: Signal, second: Signal) -> Needed | Undefined:
    """Return how many times as large a study of the first kind would have to be, compared with one of the second."""
    if not first.value:
        return Undefined(NO_DIFFERENCE_SEEN)
    ratio = _fieller(abs(second.value), second.error, abs(first.value), first.error)
    return _rounded((second.value / first.value) ** 2, ratio.low**2, ratio.high**2)


def _fieller(above: float, above_error: float, below: float, below_error: float) -> Interval:
    """Return the interval of above / below, of which both are at least 0: where |above - r below| is no larger than
    1.96 of its own errors."""
    square = below**2 - (NORMAL_QUANTILE * below_error) ** 2
    product = above * below
    rest = above**2 - (NORMAL_QUANTILE * above_error) ** 2
    root = product**2 - square * rest
    if square > 0:  # both ends are there
        low, high = ((product + sign * math.sqrt(max(root, 0.0))) / square for sign in (-1, 1))
        return Interval(max(low, 0.0), high)
    # The one below may be 0. Only a lower end can be left, and none is where the one above may be 0 as well.
    if rest <= 0:
        return Interval(0.0, math.inf)
    return Interval(rest / (product + math.sqrt(root)), math.inf)


def _rounded(value: float, low: float, high: float) -> Needed:
    return Needed(*(float(f"{one:.5g}") for one in (value, low, high)))


def rank_agreement(first: Floats, second: Floats, of_first: Floats, of_second: Floats) -> Estimate | Undefined:
    """Return Kendall's tau of two rankings, and its 95 % interval from draws of both: (draws, generators) each. 1 means
    the same order, -1 the reverse."""
    if len(first) < 2:
        return Undefined("there are fewer than two generators to rank")
    value = float(_tau(first[None], second[None])[0])
    low, high = np.quantile(_tau(of_first, of_second), [0.025, 0.975])
    return Estimate(value, Interval(float(low), float(high)))


def _tau(first: Floats, second: Floats) -> Floats:
    one, other = np.triu_indices(first.shape[1], 1)
    alike = np.sign(first[:, one] - first[:, other]) * np.sign(second[:, one] - second[:, other])
    return np.asarray(alike.mean(axis=1))
