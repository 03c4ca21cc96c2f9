"""Finds which difference between two generators a study can detect, by simulating the study many times.

In: how large a study is, and what its ratings may look like (hits.stats.planned_study). Out: the share of simulated
studies whose test finds the difference, the two reverse questions, and when a study that may stop would stop.
Guaranteed: the same seed gives the same answer, every question about one setting and seed is asked of the same random
numbers, and memory grows with the number of workers only.

A rating is bad < okay < good: a standard normal latent, cut at the normal quantiles of the generator's proportions
(the ordered probit model with crossed random effects: Agresti, Analysis of Ordinal Categorical Data, 2010, chapter 10).
The latent's variance is 1, so the proportions hold exactly, whatever the effects:

    z = sqrt(a) D[dialog] + sqrt(b) R[dialog, generator] + sqrt(c) W[worker] + sqrt(t) T[worker, generator]
        + sqrt(1 - a - b - c - t) e

D is shared by the generators of a dialog, R by the raters of a reply, W and T (a worker's taste) by all ratings of a
worker. Workers take turns, so that all do the same number of HITs, give or take one: as many as there are effective
workers. A difference d is meant in *good*: the better generator's latent is shifted by

    quantile(good + d) - quantile(good)

so that its share of good is good + d; okay and bad follow from the same shift.

The test is the one that decides in the results (hits.stats.sign_flips), on the primary outcome: a sum of differences
divided by its two-way deviation, compared with the same sum after the signs of whole dialogs are turned. Turning them
in every simulated study would take minutes. So we turn them in a few, and use the critical value that these give for
all. Below ten effective workers, the two-way t test has to find the difference as well. Both are made at alpha divided
by the number of primary pairs (Bonferroni). Holm's procedure rejects whatever Bonferroni rejects, so a study that is
analysed with Holm has at least this power. In a study that may stop by itself, the confidence sequence decides: then
the power is that of its end, at which it is 1.6 times as wide as an interval.

>>> power_curve(Setting(dialogs=100, raters=4), [.15])[0].power
0.8825
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy  # which loads its parts when they are first used: that takes a second, and few processes plan studies

from hits.stats.estimates import CONFIDENCE, NORMAL_QUANTILE
from hits.stats.intervals import wilson_interval
from hits.stats.planned_study import GRID, Setting, components_of, outcome_difference, planned_variance, unit_of
from hits.stats.planned_tests import SHARE_OF_BEST
from hits.stats.sequence import TAU_FACTOR, half_width
from hits.stats.too_few import FEW_WORKERS

Floats = npt.NDArray[np.floating]
Integers = npt.NDArray[np.integer]

DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15)
SIMULATIONS = 400
MOST_SIMULATIONS = 100_000
MOST_DIALOGS_NEEDED = 100_000
LARGEST_SHIFT, SECANTS = 4.0, 4  # of the latent, whose deviation is 1

# Around a guess, these many points are tried at a time: drawing the ratings takes longer than cutting them.
POINTS = 8

# A block is what one stream of random numbers fills, always whole: so the first dialogs of a larger study are those of
# a smaller one. Simulations are made in chunks of this many cells.
BLOCK_DIALOGS = 200
CHUNK_CELLS = 100_000
WORKER_CELLS = 4_000_000

# How many simulated studies are turned, how often, and how large they are at most: the critical value hardly changes
# beyond.
TURNED_CELLS, FEWEST_TURNED, MOST_TURNED, TURNS, MOST_DIALOGS_TURNED = 16_000, 4, 24, 1000, 4_000


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
    shares = _detected_shares(setting, differences, simulations, seed)
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
        shares = _detected_shares(setting, [point / GRID for point in points], simulations, seed)
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
    [shift] = _shifts(setting, [difference])
    most_hits = most // setting.dialogs_per_hit
    guess = _hits_by_normal_approximation(setting, shift, power, 2 * most_hits)
    if guess is None:
        return None

    def power_with(hits: int) -> float:
        dialogs = hits * setting.dialogs_per_hit
        if dialogs < 2:
            return 0.0
        return _detected_shares(replace(setting, dialogs=dialogs), [difference], simulations, seed)[0]

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
    return None if high > most_hits else high * setting.dialogs_per_hit


def approximate_dialogs_needed(
    setting: Setting, gain: float, power: float = 0.8, most: int = MOST_DIALOGS_NEEDED
) -> int | None:
    """Return about how many dialogs in whole HITs detect this gain of the outcome with this power; None above `most`.

    It is the normal approximation alone, in a second instead of a minute. In seven settings it lay between a quarter
    below and a sixth above what `dialogs_needed` simulates. Unlike a difference, which is meant in *good*, `gain` is in
    the outcome's own units.
    """
    _check_power(power)
    shift = _shift_of_gain(setting, gain)
    hits = _hits_by_normal_approximation(setting, shift, power, most // setting.dialogs_per_hit) if shift else None
    return None if hits is None else max(2, hits * setting.dialogs_per_hit)


def _shift_of_gain(setting: Setting, gain: float) -> float | None:
    """Return the shift of the better generator's latent that gains so much of the outcome; None if none does."""
    if gain <= 0:
        return None
    if setting.outcome == SHARE_OF_BEST:
        return _shifts(setting, [gain])[0] if gain <= setting.largest_difference else None
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
        sized = replace(setting, dialogs=max(2, hits * setting.dialogs_per_hit))
        return bool(components.gain > quantiles * math.sqrt(components.variance_of_mean(sized)))

    if shift <= 0 or not is_enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def simulate_scores(setting: Setting, difference: float, seed: int = 1) -> Integers:
    """Simulate one study's scores: (weaker or better generator, rater, dialog), each 0 bad, 1 okay or 2 good."""
    [shift] = _shifts(setting, [difference])
    crowd = _Crowd.draw(setting, _stream(seed), 1)
    hits = np.arange(setting.hits)
    by_rater = [
        [_scores(setting, weaker), _scores(setting, better, shift)]
        for weaker, better in _latents_by_rater(setting, crowd, _stream(seed, 1), hits)
    ]
    return np.array(by_rater)[:, :, 0, : setting.dialogs].swapaxes(0, 1)


def workers_of_hits(setting: Setting, hits: Integers) -> Integers:
    """Return who rates these HITs, (HIT, rater): the workers in turn."""
    return np.asarray((hits[:, None] * setting.raters + np.arange(setting.raters)) % setting.worker_count)


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
    [shift] = _shifts(setting, [middle])
    components = components_of(setting, shift)
    return float(min(middle * quantiles * math.sqrt(components.variance_of_mean(setting)) / components.gain, largest))


def _shifts(setting: Setting, differences: Sequence[float]) -> list[float]:
    good = setting.proportions[0]
    for difference in differences:
        if not 0 <= difference <= setting.largest_difference:
            raise ValueError(
                f"The better generator can have 0 to {100 * setting.largest_difference:.1f} points more of good, since "
                f"the other has {100 * good:.1f} %, not {100 * difference:g} points."
            )
    return [float(scipy.special.ndtri(good + difference) - scipy.special.ndtri(good)) for difference in differences]


# --- The test --------------------------------------------------------------------------------------------------------


@dataclass
class Sums:
    """What a test needs of a study's differences: their sum, the sums of squares by dialog, by worker and by answer."""

    total: Floats
    of_dialogs: Floats
    of_answers: Floats
    by_worker: Floats  # (..., worker): each worker's sum of differences
    dialogs: int
    answers_of_workers: Floats

    def statistic(self) -> Floats:
        """sum / sqrt(V_dialogs + max(0, V_workers - V_answers)), as hits.stats.sign_flips has it."""
        of_workers = np.einsum("...w,...w", self.by_worker, self.by_worker)
        variance = self.of_dialogs + np.maximum(of_workers - self.of_answers, 0)
        found: Floats = np.divide(self.total, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
        return found

    def spread(self) -> tuple[Floats, Floats, Floats]:
        """Return mean, variance and degrees of freedom of the mean, as hits.stats.clusters has them."""
        variance, freedom, _ = self._spread_of_total()
        answers = float(self.answers_of_workers.sum())
        return self.total / answers, variance / answers**2, freedom

    def half_width(self, alpha: float) -> Floats:
        """Return half the width of the total's interval with few workers: the wider of Satterthwaite's and
        Banerjee's."""
        variance, freedom, of_workers = self._spread_of_total()
        loads = self.answers_of_workers
        workers = max(float(loads.sum()) ** 2 / float(loads @ loads) - 1, 1)
        few, many = (scipy.special.stdtrit(one, 1 - alpha / 2) for one in (workers, max(self.dialogs - 1, 1)))
        part = np.minimum(of_workers, variance)
        by_banerjee = few**2 * part + many**2 * (variance - part)
        by_satterthwaite = scipy.special.stdtrit(freedom, 1 - alpha / 2) ** 2 * variance
        return np.asarray(np.sqrt(np.maximum(by_banerjee, by_satterthwaite)))

    def _spread_of_total(self) -> tuple[Floats, Floats, Floats]:
        """Return variance and degrees of freedom of the total, and the workers' term of the variance."""
        loads = self.answers_of_workers
        answers = float(loads.sum())
        mean = self.total / answers
        workers = max(answers**2 / float(loads @ loads), 1.0 + 1e-9)
        of_dialogs = (self.of_dialogs - self.total**2 / self.dialogs) * self.dialogs / max(self.dialogs - 1, 1)
        centred = self.by_worker - mean[..., None] * loads
        of_workers = np.einsum("...w,...w", centred, centred) * workers / (workers - 1)
        of_answers = self.of_answers - self.total**2 / answers
        variance = np.maximum(of_dialogs + of_workers - of_answers, 0.8 * np.maximum(of_dialogs, of_workers))
        weight = of_dialogs**2 / max(self.dialogs - 1, 1) + of_workers**2 / max(workers - 1, 1)
        freedom = np.divide(variance**2, weight, out=np.ones_like(variance), where=weight > 0)
        return variance, np.maximum(freedom, 1), of_workers


def _detected_shares(setting: Setting, differences: Sequence[float], simulations: int, seed: int) -> list[float]:
    shifts = _shifts(setting, differences)
    if not 1 <= simulations <= MOST_SIMULATIONS:
        raise ValueError(f"There must be 1 to {MOST_SIMULATIONS:,} simulations, not {simulations:,}.")
    if not setting.can_find:
        return [0.0] * len(shifts)
    is_found = _found_by_sequence(setting) if setting.is_by_sequence else _found_by_test(setting, seed)
    detected = np.zeros(len(shifts))
    for sums in _study_sums(setting, shifts, simulations, seed):
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
    rng = _stream(seed, 7)
    found = []
    for number in range(count):
        weaker, better = simulate_scores(setting, 0, seed + number)
        difference = np.zeros((setting.raters, setting.hits * setting.dialogs_per_hit), np.float32)
        difference[:, : setting.dialogs] = outcome_difference(setting, better, weaker)
        by_hit = difference.reshape(setting.raters, setting.hits, -1).transpose(1, 2, 0)  # (HIT, dialog, rater)
        signs = rng.integers(0, 2, (setting.hits, TURNS, setting.dialogs_per_hit), dtype=np.int8) * 2 - 1
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


# --- The studies -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Crowd:
    """What workers bring along: severity (simulation, worker), and taste (generator, simulation, worker)."""

    severity: Floats
    taste: Floats

    @staticmethod
    def draw(setting: Setting, rng: np.random.Generator, simulations: int) -> "_Crowd":
        effects, workers = setting.effects, setting.worker_count
        # Workers come first, so that the first workers of a larger crowd are those of a smaller one.
        drawn = rng.standard_normal((workers, 3, simulations), dtype=np.float32)
        severity = drawn[:, 0].T * np.float32(math.sqrt(effects.worker))
        return _Crowd(severity, drawn[:, 1:].transpose(1, 2, 0) * np.float32(math.sqrt(effects.taste)))


def _study_sums(setting: Setting, shifts: Sequence[float], simulations: int, seed: int) -> Iterator[Sums]:
    """Yield the sums of whole studies, (shift, simulation), a chunk of simulations at a time."""
    chunk = chunk_size(setting, len(shifts))
    for first in range(0, simulations, chunk):
        *_, whole = grow_studies(setting, shifts, min(chunk, simulations - first), (seed, first))
        yield whole


def chunk_size(setting: Setting, shifts: int) -> int:
    """Return how many simulations are made at a time, for the memory that dialogs and workers take."""
    of_dialogs = CHUNK_CELLS // block_dialogs(setting)
    return max(1, min(of_dialogs, WORKER_CELLS // (setting.worker_count * max(shifts, 1))))


def grow_studies(
    setting: Setting, shifts: Sequence[float], simulations: int, key: tuple[int, int], dialogs_at_once: int = 0
) -> Iterator[Sums]:
    """Yield the sums of growing studies after each block of dialogs."""
    size = dialogs_at_once or block_dialogs(setting)
    shape = (len(shifts), simulations)
    crowd = _Crowd.draw(setting, _stream(*key), simulations)
    sums = Sums(
        total=np.zeros(shape),
        of_dialogs=np.zeros(shape),
        of_answers=np.zeros(shape),
        by_worker=np.zeros((*shape, setting.worker_count)),
        dialogs=0,
        answers_of_workers=np.zeros(setting.worker_count),
    )
    for block in range(math.ceil(setting.dialogs / size)):
        hits = block * size // setting.dialogs_per_hit + np.arange(size // setting.dialogs_per_hit)
        left = min(size, setting.dialogs - block * size)
        workers, indexes = np.unique(workers_of_hits(setting, hits), return_inverse=True)
        who = np.zeros((len(hits) * setting.raters, len(workers)), np.float32)
        who[np.arange(len(who)), indexes.ravel()] = 1
        by_dialog = np.zeros((*shape, size), np.int32)
        by_slot = np.zeros((*shape, len(hits), setting.raters), np.float32)
        rng = _stream(*key, block + 1)
        for rater, (weaker, better) in enumerate(_latents_by_rater(setting, crowd, rng, hits)):
            scores = _scores(setting, weaker)
            for index, shift in enumerate(shifts):
                difference = outcome_difference(setting, _scores(setting, better, shift), scores)
                # A dialog that counts as 0 adds nothing to any sum: so a study may end within a block or a HIT.
                difference[:, left:] = 0
                by_dialog[index] += difference
                sums.of_answers[index] += np.einsum("ij,ij->i", difference, difference, dtype=np.int64)
                by_slot[index, :, :, rater] = difference.reshape(simulations, len(hits), -1).sum(axis=-1)
        sums.total += by_dialog.sum(axis=-1)
        sums.of_dialogs += np.einsum("...i,...i", by_dialog, by_dialog, dtype=np.int64)
        sums.by_worker[..., workers] += by_slot.reshape(*shape, -1) @ who
        sums.dialogs += left
        in_hit = np.clip(left - setting.dialogs_per_hit * np.arange(len(hits)), 0, setting.dialogs_per_hit)
        sums.answers_of_workers[workers] += in_hit.repeat(setting.raters) @ who
        yield sums


def block_dialogs(setting: Setting) -> int:
    """Return how many dialogs a block has, in whole HITs."""
    return max(1, BLOCK_DIALOGS // setting.dialogs_per_hit) * setting.dialogs_per_hit


def _stream(*key: int) -> np.random.Generator:
    if min(key) < 0:
        raise ValueError(f"The seed must be 0 or above, not {min(key)}.")
    return np.random.Generator(np.random.SFC64(key))


def _latents_by_rater(setting: Setting, crowd: _Crowd, rng: np.random.Generator, hits: Integers) -> Iterator[Floats]:
    """Yield each rater's latents before the shift: (generator, simulation, dialog)."""

    def draw(share: float, *shape: int) -> Floats:
        return rng.standard_normal(shape, dtype=np.float32) * np.float32(math.sqrt(share))

    effects, dialogs, simulations = setting.effects, len(hits) * setting.dialogs_per_hit, len(crowd.severity)
    replies = draw(effects.dialog, simulations, dialogs) + draw(effects.reply, 2, simulations, dialogs)
    for workers in workers_of_hits(setting, hits).T:
        of_worker = crowd.severity[:, workers] + crowd.taste[:, :, workers]
        yield replies + of_worker.repeat(setting.dialogs_per_hit, axis=-1) + draw(effects.rest, 2, simulations, dialogs)


def _scores(setting: Setting, latents: Floats, shift: float = 0) -> npt.NDArray[np.int8]:
    is_okay_or_good, is_good = (latents > np.float32(cut - shift) for cut in setting.cuts)
    return is_okay_or_good.view(np.int8) + is_good.view(np.int8)
