"""Decides which simulated studies find the difference: what the planner does in place of the results' own test.

The test is the one that decides in the results (hits.stats.sign_flips), on the primary outcome: a sum of differences
divided by its two-way deviation, compared with the same sum after the signs of whole dialogs are turned. Turning them
in every simulated study would take minutes. So we turn them in a few, and use the critical value that these give for
all. Below ten effective workers, the two-way t test has to find the difference as well. Both are made at alpha divided
by the number of primary pairs (Bonferroni). Holm's procedure rejects whatever Bonferroni rejects, so a study that is
analysed with Holm has at least this power. In a study that may stop by itself, the confidence sequence decides: then
the power is that of its end, at which it is 1.6 times as wide as an interval, and wider with several pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy  # which loads its parts when they are first used: that takes a second, and few processes plan studies

from hits.stats.estimates import CONFIDENCE, NORMAL_QUANTILE
from hits.stats.planned_study import Setting, planned_variance, unit_of
from hits.stats.sequence import TAU_FACTOR, half_width
from hits.stats.simulated_studies import Sums, shifts_of, simulate_differences, stream, study_sums, workers_of_hits
from hits.stats.too_few import FEW_WORKERS

MOST_SIMULATIONS = 100_000

# How many simulated studies are turned, how often, and how large they are at most: the critical value hardly changes
# beyond.
TURNED_CELLS, FEWEST_TURNED, MOST_TURNED, TURNS, MOST_DIALOGS_TURNED = 16_000, 4, 24, 1000, 4_000


def detected_shares(setting: Setting, differences: Sequence[float], simulations: int, seed: int) -> list[float]:
    """Return, for each difference, the share of simulated studies that find it."""
    shifts = shifts_of(setting, differences)
    if not 1 <= simulations <= MOST_SIMULATIONS:
        raise ValueError(f"There must be 1 to {MOST_SIMULATIONS:,} simulations, not {simulations:,}.")
    if not setting.can_find:
        return [0.0] * len(shifts)
    is_found = _found_by_sequence(setting) if setting.is_by_sequence else _found_by_test(setting, seed)
    detected = np.zeros(len(shifts))
    for sums in study_sums(setting, shifts, simulations, seed):
        detected += is_found(sums).sum(axis=-1)
    return [float(share) for share in detected / simulations]


def _found_by_test(setting: Setting, seed: int) -> Callable[[Sums], npt.NDArray[np.bool_]]:
    critical = _critical_value(setting, seed)

    def is_found(sums: Sums) -> npt.NDArray[np.bool_]:
        found = np.abs(sums.statistic()) >= critical
        if setting.worker_count < FEW_WORKERS:
            found &= np.abs(sums.total) > sums.half_width(setting.alpha_per_pair)
        return np.asarray(found)

    return is_found


def _found_by_sequence(setting: Setting) -> Callable[[Sums], npt.NDArray[np.bool_]]:
    """Say which studies have a sequence without 0 at their end (hits.stats.sequence). Earlier looks could only add to
    them, so that a study finds at least as much."""
    tau2 = TAU_FACTOR * planned_variance(setting) / unit_of(setting) ** 2

    def is_found(sums: Sums) -> npt.NDArray[np.bool_]:
        mean, variance, freedom = sums.spread()
        quantiles = scipy.special.stdtrit(freedom, (1 + CONFIDENCE) / 2)
        widened = np.maximum(variance * (quantiles / NORMAL_QUANTILE) ** 2, np.finfo(float).tiny)
        halves = np.vectorize(lambda one: half_width(one, tau2, setting.alpha_per_pair))(widened)
        return np.asarray(np.abs(mean) > halves)

    return is_found


@lru_cache(maxsize=64)
def _critical_value(setting: Setting, seed: int) -> float:
    """Return the size that the statistic has to reach: its quantile after the signs of whole dialogs are turned.

    Studies without a difference are turned, since a difference hardly changes it.
    """
    setting = replace(setting, dialogs=min(setting.dialogs, MOST_DIALOGS_TURNED), workers=setting.worker_count)
    count = min(MOST_TURNED, max(FEWEST_TURNED, TURNED_CELLS // setting.dialogs))
    hits = np.arange(setting.hits)
    slots = workers_of_hits(setting, hits).ravel()
    sparse = scipy.sparse.csr_array((np.ones(len(slots), np.float32), (np.arange(len(slots)), slots)))
    rng = stream(seed, 7)
    found = []
    for number in range(count):
        difference = np.zeros((setting.raters, setting.hits * setting.pair_dialogs_per_hit), np.float32)
        difference[:, : setting.dialogs] = simulate_differences(setting, seed + number)
        by_hit = difference.reshape(setting.raters, setting.hits, -1).transpose(1, 2, 0)  # (HIT, dialog, rater)
        signs = rng.integers(0, 2, (setting.hits, TURNS, setting.pair_dialogs_per_hit), dtype=np.int8) * 2 - 1
        turned = (signs.astype(np.float32) @ by_hit).transpose(1, 0, 2)  # (turn, HIT, rater)
        by_dialog = difference.sum(axis=0)
        sums = Sums(
            total=turned.sum(axis=(1, 2)).astype(np.float64),
            of_dialogs=np.full(TURNS, float(by_dialog @ by_dialog)),
            of_answers=np.full(TURNS, float((difference**2).sum())),
            by_worker=np.asarray(turned.reshape(TURNS, -1) @ sparse, np.float64),
            dialogs=setting.dialogs,
            answers_of_workers=np.ones(1),
        )
        found.append(np.abs(sums.statistic()))
    return float(np.quantile(np.concatenate(found), 1 - setting.alpha_per_pair)) + 1e-9
