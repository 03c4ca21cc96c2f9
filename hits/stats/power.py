"""Finds which difference between two generators a study can detect, by simulating the study many times.

In: how large a study is, and what its ratings may look like (hits.stats.planned_study). Out: the share of simulated
studies whose test finds the difference, the two reverse questions, and when a study that may stop would stop.
Guaranteed: the same seed gives the same answer, every question about one setting and seed is asked of the same random
numbers, and memory grows with the number of workers only.

>>> power_curve(Setting(dialogs=100, raters=4), [.15])[0].power
0.8825
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy  # which loads its parts when they are first used: that takes a second, and few processes plan studies

from hits.stats.intervals import wilson_interval
from hits.stats.planned_detection import detected_shares
from hits.stats.planned_study import GRID, LARGEST_SHIFT, Setting, components_of, unit_of
from hits.stats.planned_tests import SHARE_OF_BEST
from hits.stats.sequence import TAU_FACTOR, half_width
from hits.stats.simulated_studies import shifts_of

Floats = npt.NDArray[np.floating]
Integers = npt.NDArray[np.integer]

DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15)
SIMULATIONS = 400
MOST_DIALOGS_NEEDED = 100_000
SECANTS = 4

# Around a guess, these many points are tried at a time: drawing the ratings takes longer than cutting them.
POINTS = 8


@dataclass(frozen=True)
class Power:
    """The share of simulated studies that detect the difference, and its 95 % Wilson interval."""

    difference: float
    power: float
    low: float
    high: float


def power_curve(
    setting: Setting, differences: Sequence[float] = DIFFERENCES, simulations: int = SIMULATIONS, seed: int = 1
) -> list[Power]:
    shares = detected_shares(setting, differences, simulations, seed)
    return [
        Power(difference, share, *wilson_interval(share, simulations))
        for difference, share in zip(differences, shares, strict=True)
    ]


def detectable_difference(
    setting: Setting, power: float = 0.8, simulations: int = SIMULATIONS, seed: int = 1
) -> float | None:
    """Return the smallest difference, to a tenth of a percentage point, that is detected with this power.

    A bracket is narrowed until its two ends are neighbours on the grid: the lower is not detected, the upper is. None
    where even the largest possible difference is not.
    """
    _check_power(power)
    above_grid = round(setting.largest_difference * GRID) + 1
    low, high = 0, above_grid
    points = _points_around(_difference_by_normal_approximation(setting, power), above_grid)
    while points := points or _points_between(low, high):
        shares = detected_shares(setting, [point / GRID for point in points], simulations, seed)
        detected = next((index for index, share in enumerate(shares) if share >= power), len(points))
        low, high = [low, *points, high][detected : detected + 2]
        points = []
    return high / GRID if high < above_grid else None


def dialogs_needed(
    setting: Setting,
    difference: float,
    power: float = 0.8,
    most: int = MOST_DIALOGS_NEEDED,
    simulations: int = SIMULATIONS,
    seed: int = 1,
) -> int | None:
    """Return the fewest dialogs in whole HITs that detect the difference with this power; None above `most`.

    The normal approximation gives a first guess, and each simulation a better one, until a size has the power that is
    at most a fiftieth larger than one that has not. The `dialogs` of the setting do not matter; the number of workers
    grows with them, unless it was said.
    """
    _check_power(power)
    [shift] = shifts_of(setting, [difference])
    most_hits = most // setting.pair_dialogs_per_hit
    guess = _hits_by_normal_approximation(setting, shift, power, 2 * most_hits)
    if guess is None:
        return None

    def power_with(hits: int) -> float:
        dialogs = hits * setting.pair_dialogs_per_hit
        if dialogs < 2:
            return 0.0
        return detected_shares(replace(setting, dialogs=dialogs), [difference], simulations, seed)[0]

    quantile = _critical_quantile(setting)
    low, high, hits = 0, most_hits + 1, min(guess, most_hits)  # low is too small, high is large enough or too large
    while high - low > max(1, high // 50):
        found = power_with(hits)
        low, high = (low, hits) if found >= power else (hits, high)
        # The expected statistic grows with the root of the size: it is the quantile of alpha plus that of the power.
        reached = quantile + float(scipy.special.ndtri(min(max(found, 1 / simulations), 1 - 1 / simulations)))
        wanted = quantile + float(scipy.special.ndtri(power))
        hits = math.ceil(hits * min(max(wanted / max(reached, 0.1), 0.5), 2) ** 2 * (1.01 if found < power else 0.99))
        hits = min(max(hits, low + 1), high - 1)
    return None if high > most_hits else high * setting.pair_dialogs_per_hit


def approximate_dialogs_needed(
    setting: Setting, gain: float, power: float = 0.8, most: int = MOST_DIALOGS_NEEDED
) -> int | None:
    """Return about how many dialogs in whole HITs detect this gain of the outcome with this power; None above `most`.

    It is the normal approximation alone, in a second instead of a minute. In thirteen settings it lay between an eighth
    below and a twentieth above what `dialogs_needed` simulates; with seven workers it was half of it, because below ten
    of them the t test decides, too. Unlike a difference, which is meant in *good*, `gain` is in the outcome's own
    units.
    """
    _check_power(power)
    shift = _shift_of_gain(setting, gain)
    hits = _hits_by_normal_approximation(setting, shift, power, most // setting.pair_dialogs_per_hit) if shift else None
    return None if hits is None else max(2, hits * setting.pair_dialogs_per_hit)


def _shift_of_gain(setting: Setting, gain: float) -> float | None:
    """Return the shift of the better generator's latent that gains so much of the outcome; None if none does."""
    if gain <= 0:
        return None
    if setting.outcome == SHARE_OF_BEST:
        return shifts_of(setting, [gain])[0] if gain <= setting.largest_difference else None
    shift = LARGEST_SHIFT / 4
    for _ in range(SECANTS):  # the gain is nearly proportional to the shift where it is small
        shift *= gain / (components_of(setting, shift).gain * unit_of(setting))
        if shift > LARGEST_SHIFT:
            return None
    return shift


def _hits_by_normal_approximation(setting: Setting, shift: float, power: float, most: int) -> int | None:
    """Return the HITs at which gain / deviation = critical quantile + quantile(power); None above `most`."""
    components = components_of(setting, shift)
    quantiles = _critical_quantile(setting) + float(scipy.special.ndtri(power))

    def is_enough(hits: int) -> bool:
        sized = replace(setting, dialogs=max(2, hits * setting.pair_dialogs_per_hit))
        return bool(components.gain > quantiles * math.sqrt(components.variance_of_mean(sized)))

    if shift <= 0 or not is_enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _check_power(power: float) -> None:
    if not 0 < power < 1:
        raise ValueError(f"The power must lie between 0 and 1, not at {power:g}.")


def _points_between(low: int, high: int) -> list[int]:
    count = min(POINTS, high - low - 1)
    return sorted({low + round((high - low) * index / (count + 1)) for index in range(1, count + 1)} - {low, high})


def _points_around(difference: float, above_grid: int) -> list[int]:
    """Return points of the grid within a tenth of a difference, closer together near it."""
    wanted = (0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1)
    return sorted({round(difference * GRID * share) for share in wanted} & set(range(1, above_grid)))


def _critical_quantile(setting: Setting) -> float:
    """Return how many deviations a difference must be large: the normal quantile, or what the sequence takes where the
    variance is as planned."""
    if setting.is_by_sequence:
        return half_width(1.0, TAU_FACTOR, setting.alpha_per_pair)
    return float(scipy.special.ndtri(1 - setting.alpha_per_pair / 2))


def _difference_by_normal_approximation(setting: Setting, power: float) -> float:
    """Return the difference at which gain / deviation = critical quantile + quantile(power)."""
    quantiles = _critical_quantile(setting) + float(scipy.special.ndtri(power))
    largest = setting.largest_difference
    middle = largest / 2
    [shift] = shifts_of(setting, [middle])
    components = components_of(setting, shift)
    return float(min(middle * quantiles * math.sqrt(components.variance_of_mean(setting)) / components.gain, largest))
