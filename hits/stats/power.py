"""Finds which difference between two generators a study can detect, by simulating the study many times.

In: how large a study is, and what its ratings may look like. Out: the share of simulated studies whose test finds the
difference, and the two reverse questions. Guaranteed: the same seed gives the same answer, every question about one
setting and seed is asked of the same random numbers, and memory does not grow with the number of dialogs.

A rating is bad < okay < good: a standard normal latent, cut at the normal quantiles of the generator's proportions
(the ordered probit model with crossed random effects: Agresti, Analysis of Ordinal Categorical Data, 2010, chapter 10).
The latent's variance is 1, so the proportions hold exactly, whatever the effects:

    z = sqrt(a) D[dialog] + sqrt(b) R[dialog, generator] + sqrt(c) W[worker] + sqrt(1 - a - b - c) e

D is shared by the generators of a dialog, R by the raters of a reply, W by all ratings that a worker gives in a HIT,
whose workers all rate the same dialogs. D and W cancel in the difference of two latents, but not in the difference of
two cut ones, which is why this is simulated and not computed.

A difference d is meant in *good*: the better generator's latent is shifted by

    quantile(good + d) - quantile(good)

so that its share of good is good + d; okay and bad follow from the same shift.

The test: good is 2, okay 1, bad 0. Each worker's difference of the two scores in a dialog is averaged within the
dialog; a two-sided one-sample t test over the dialogs' means is made at alpha divided by the number of pairs of
generators (Bonferroni). Holm's procedure rejects whatever Bonferroni rejects, so a study that is analysed with Holm has
at least this power. Where the means of all dialogs are the same, t does not exist and nothing counts as detected.

>>> power_of(Setting(dialogs=100, raters=4), .10).power
0.8775
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import scipy  # which loads scipy.special when it is first used: that takes a second, and few processes plan studies

from hits.stats.estimates import ALPHA
from hits.stats.intervals import wilson_interval

Floats = npt.NDArray[np.floating]
Integers = npt.NDArray[np.integer]

DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15)
SIMULATIONS = 400
MOST_SIMULATIONS = 100_000
MOST_DIALOGS_NEEDED = 100_000

# With more than these, memory would run out, or 64-bit sums of squares would overflow.
LIMITS = {"dialogs": (2, 1_000_000), "raters": (1, 1000), "generators": (2, 1000), "dialogs_per_hit": (1, 1000)}

# Differences are searched for on a grid of tenths of a percentage point, at so many points at a time: drawing the
# ratings takes longer than cutting them, and 26 points find one of 680 in two passes.
GRID = 1000
POINTS = 26

# A block is what one stream of random numbers fills, always whole: so the first dialogs of a larger study are those of
# a smaller one. Where the simulations of a block would fill more cells than this, they are drawn in several chunks.
BLOCK_DIALOGS = 200
CHUNK_CELLS = 100_000


@dataclass(frozen=True)
class Effects:
    """Shares of the latent's variance. The defaults are moderate guesses, not measurements: change them at will.

    `taste` is what a worker likes about one generator's replies more than others do. It is 0 unless it is said, as in a
    simulated crowd; studies are planned with `PLANNED_EFFECTS`.
    """

    dialog: float = 0.10
    reply: float = 0.15
    worker: float = 0.10
    taste: float = 0.0

    def __post_init__(self) -> None:
        shares = (self.dialog, self.reply, self.worker, self.taste)
        if not (all(share >= 0 for share in shares) and sum(shares) < 1):
            raise ValueError(
                "The effects of dialog, reply, worker and taste are shares of the variance: none below 0, and "
                f"together below 1. They are {', '.join(f'{share:g}' for share in shares)}."
            )

    @property
    def rest(self) -> float:
        return 1 - self.dialog - self.reply - self.worker - self.taste


# How large tastes are is unknown until a study has measured them. 5 % is a guess that errs on the safe side.
PLANNED_EFFECTS = Effects(taste=0.05)


@dataclass(frozen=True)
class Setting:
    """A study, and what is assumed of its ratings. `proportions` are good, okay and bad of the weaker generator."""

    dialogs: int
    raters: int
    generators: int = 2
    proportions: tuple[float, float, float] = (0.32, 0.31, 0.37)
    effects: Effects = field(default_factory=Effects)
    dialogs_per_hit: int = 10
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        for name, (least, most) in LIMITS.items():
            if not least <= (count := getattr(self, name)) <= most:
                raise ValueError(f"There must be {least} to {most:,} {name.replace('_', ' ')}, not {count:,}.")
        if not 0 < self.alpha < 1:
            raise ValueError(f"The significance level must lie between 0 and 1, not at {self.alpha:g}.")
        object.__setattr__(self, "proportions", _normalised(self.proportions))

    @property
    def pairs(self) -> int:
        return math.comb(self.generators, 2)

    @property
    def alpha_per_pair(self) -> float:
        return self.alpha / self.pairs

    @property
    def largest_difference(self) -> float:
        """The largest difference on the grid that leaves the better generator some okay and bad."""
        return (math.ceil((1 - self.proportions[0]) * GRID - 1e-9) - 1) / GRID


def _normalised(proportions: tuple[float, float, float]) -> tuple[float, float, float]:
    total = sum(proportions)
    if not (all(share > 0 for share in proportions) and abs(total - 1) <= 0.01 + 1e-9):
        raise ValueError(
            f"The proportions of good, okay and bad must be above 0 and add up to 1; "
            f"{' + '.join(f'{share:g}' for share in proportions)} = {total:g}."
        )
    good, okay, bad = (share / total for share in proportions)
    return good, okay, bad


@dataclass(frozen=True)
class Power:
    """The share of simulated studies that detect the difference, and its 95 % Wilson interval."""

    difference: float
    power: float
    low: float
    high: float


def power_of(setting: Setting, difference: float, simulations: int = SIMULATIONS, seed: int = 1) -> Power:
    return power_curve(setting, [difference], simulations, seed)[0]


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
    while points := _points_between(low, high):
        shares = _detected_shares(setting, [point / GRID for point in points], simulations, seed)
        detected = next((index for index, share in enumerate(shares) if share >= power), len(points))
        low, high = [low, *points, high][detected : detected + 2]
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

    The simulated studies grow HIT by HIT and are tested after each, so one pass answers for every size. The `dialogs`
    of the setting do not matter.
    """
    _check_power(power)
    setting = replace(setting, dialogs=most)
    [shift] = _shifts(setting, [difference])
    if _is_hopeless(setting, shift, power, simulations, seed):
        return None
    for totals, squares, dialogs in _growing_sums(setting, shift, simulations, seed):
        enough = (_is_detected(setting, totals, squares, dialogs).mean(axis=0) >= power) & (dialogs <= most)
        if enough.any():
            return int(dialogs[enough.argmax()])
    return None


def simulate_scores(setting: Setting, difference: float, seed: int = 1) -> Integers:
    """Simulate one study's scores: (weaker or better generator, rater, dialog), each 0 bad, 1 okay or 2 good."""
    [shift] = _shifts(setting, [difference])
    hits = math.ceil(setting.dialogs / setting.dialogs_per_hit)
    by_rater = [
        [_scores(setting, weaker), _scores(setting, better, shift)]
        for weaker, better in _latents_by_rater(setting, _stream(seed), 1, hits)
    ]
    return np.array(by_rater)[:, :, 0, : setting.dialogs].swapaxes(0, 1)


def _check_power(power: float) -> None:
    if not 0 < power < 1:
        raise ValueError(f"The power must lie between 0 and 1, not at {power:g}.")


def _points_between(low: int, high: int) -> list[int]:
    """Return at most POINTS whole numbers between the two, evenly spread, without the ends."""
    spread = np.linspace(low, high, min(high - low, POINTS + 1) + 1)[1:-1]
    return [round(point) for point in spread]


def _shifts(setting: Setting, differences: Sequence[float]) -> list[float]:
    good = setting.proportions[0]
    for difference in differences:
        if not 0 <= difference < 1 - good:
            raise ValueError(
                f"The better generator can have 0 to {100 * setting.largest_difference:.1f} points more of good, since "
                f"the other has {100 * good:.1f} %, not {100 * difference:g} points."
            )
    return [float(scipy.special.ndtri(good + difference) - scipy.special.ndtri(good)) for difference in differences]


def _is_hopeless(setting: Setting, shift: float, power: float, simulations: int, seed: int) -> bool:
    """Tell if the normal approximation needs more than twice the dialogs, so that simulating them would be in vain.

    n = ((quantile(1 - alpha/2) + quantile(power)) deviation / gain)^2, with the deviation of the dialogs' differences
    as the first block has it, and the gain in score that follows from the shift.
    """
    totals, squares = (sums.sum() for sums in next(_hit_sums(setting, [shift], simulations, seed)))
    count = simulations * min(setting.dialogs, _block_dialogs(setting))
    variance = squares / count - (totals / count) ** 2
    gain = setting.raters * sum(scipy.special.ndtr(shift - cut) - scipy.special.ndtr(-cut) for cut in _cuts(setting))
    quantiles = scipy.special.ndtri(1 - setting.alpha_per_pair / 2) + scipy.special.ndtri(power)
    return bool(quantiles > 0 and quantiles**2 * variance > 2 * setting.dialogs * gain**2)


def _growing_sums(
    setting: Setting, shift: float, simulations: int, seed: int
) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Yield, for each block, the sums of each simulation after each HIT, and the number of dialogs up to there."""
    total = squares = np.zeros((simulations, 1), dtype=np.int64)
    dialogs = np.arange(0, _block_dialogs(setting), setting.dialogs_per_hit) + setting.dialogs_per_hit
    for totals_of_hits, squares_of_hits in _hit_sums(setting, [shift], simulations, seed):
        totals, all_squares = total + totals_of_hits[0].cumsum(axis=-1), squares + squares_of_hits[0].cumsum(axis=-1)
        yield totals, all_squares, dialogs
        total, squares, dialogs = totals[:, -1:], all_squares[:, -1:], dialogs + _block_dialogs(setting)


def _detected_shares(setting: Setting, differences: Sequence[float], simulations: int, seed: int) -> list[float]:
    total = squares = np.zeros((len(differences), simulations), dtype=np.int64)
    for totals_of_hits, squares_of_hits in _hit_sums(setting, _shifts(setting, differences), simulations, seed):
        total, squares = total + totals_of_hits.sum(axis=-1), squares + squares_of_hits.sum(axis=-1)
    detected = _is_detected(setting, total, squares, np.array(setting.dialogs))
    return [float(share) for share in detected.mean(axis=-1)]


def _is_detected(setting: Setting, total: Integers, squares: Integers, dialogs: Integers) -> npt.NDArray[np.bool_]:
    """t^2 = S^2 (n - 1) / (n Q - S^2) for S the sum of n values and Q that of their squares.

    The values are sums over raters and not means: t is the same, and whole numbers find a spread of 0 exactly.
    """
    freedom = np.maximum(dialogs - 1, 1)
    critical = scipy.special.stdtrit(freedom, 1 - setting.alpha_per_pair / 2)
    spread = dialogs * squares - total**2
    return np.asarray((spread > 0) & (total**2 > critical**2 * spread / freedom))


def _hit_sums(
    setting: Setting, shifts: Sequence[float], simulations: int, seed: int
) -> Iterator[tuple[Integers, Integers]]:
    """Yield, for each block, the sums of a HIT's differences and of their squares: (shift, simulation, HIT)."""
    if not 1 <= simulations <= MOST_SIMULATIONS:
        raise ValueError(f"There must be 1 to {MOST_SIMULATIONS:,} simulations, not {simulations:,}.")
    size = _block_dialogs(setting)
    chunk = max(1, CHUNK_CELLS // size)
    for block in range(math.ceil(setting.dialogs / size)):
        sums = []
        for first in range(0, simulations, chunk):
            rng = _stream(seed, first, block)
            differences = _dialog_differences(setting, shifts, rng, min(chunk, simulations - first))
            # A dialog that counts as 0 adds nothing to either sum: so a study may end within a block, or within a HIT.
            differences[..., setting.dialogs - block * size :] = 0
            by_hit = differences.reshape(*differences.shape[:2], -1, setting.dialogs_per_hit)
            sums.append((by_hit.sum(axis=-1), np.einsum("...i,...i", by_hit, by_hit, dtype=np.int64)))
        totals, squares = zip(*sums, strict=True)
        yield np.concatenate(totals, axis=1), np.concatenate(squares, axis=1)


def _block_dialogs(setting: Setting) -> int:
    """Return how many dialogs a block has, in whole HITs."""
    return max(1, BLOCK_DIALOGS // setting.dialogs_per_hit) * setting.dialogs_per_hit


def _stream(*key: int) -> np.random.Generator:
    if min(key) < 0:
        raise ValueError(f"The seed must be 0 or above, not {min(key)}.")
    return np.random.Generator(np.random.SFC64(key))


def _dialog_differences(
    setting: Setting, shifts: Sequence[float], rng: np.random.Generator, simulations: int
) -> Integers:
    """Return the better generator's scores minus the other's, summed over raters: (shift, simulation, dialog)."""
    differences = np.zeros((len(shifts), simulations, _block_dialogs(setting)), dtype=np.int32)
    hits = _block_dialogs(setting) // setting.dialogs_per_hit
    for weaker, better in _latents_by_rater(setting, rng, simulations, hits):
        scores = _scores(setting, weaker)
        for index, shift in enumerate(shifts):
            differences[index] += _scores(setting, better, shift) - scores
    return differences


def _latents_by_rater(setting: Setting, rng: np.random.Generator, simulations: int, hits: int) -> Iterator[Floats]:
    """Yield each rater's latents before the shift: (generator, simulation, dialog)."""

    def draw(share: float, *shape: int) -> Floats:
        return rng.standard_normal(shape, dtype=np.float32) * np.float32(math.sqrt(share))

    effects, dialogs = setting.effects, hits * setting.dialogs_per_hit
    replies = draw(effects.dialog, simulations, dialogs) + draw(effects.reply, 2, simulations, dialogs)
    for _ in range(setting.raters):
        worker = draw(effects.worker, simulations, hits).repeat(setting.dialogs_per_hit, axis=-1)
        yield replies + worker + draw(effects.rest, 2, simulations, dialogs)


def _scores(setting: Setting, latents: Floats, shift: float = 0) -> npt.NDArray[np.int8]:
    is_okay_or_good, is_good = (latents > np.float32(cut - shift) for cut in _cuts(setting))
    return is_okay_or_good.view(np.int8) + is_good.view(np.int8)


def _cuts(setting: Setting) -> tuple[float, float]:
    good, _, bad = setting.proportions
    return float(scipy.special.ndtri(bad)), float(scipy.special.ndtri(1 - good))
