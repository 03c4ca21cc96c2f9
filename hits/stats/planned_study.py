"""Describes a study that is being planned: its size, what its ratings may look like, and who rates.

In: numbers that a researcher knows or guesses. Out: a `Setting`, from which hits.stats.simulated_studies simulates, and
the variance that its paired difference will have. Needs no pandas: forms and pages plan studies too.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy  # which loads scipy.special when it is first used: that takes a second, and few processes plan studies

from hits.stats.estimates import ALPHA
from hits.stats.planned_tests import MEAN_SCORE, SHARE_OF_BEST
from hits.stats.sequence import too_early

# Differences are searched for on a grid of tenths of a percentage point.
GRID = 1000
LARGEST_SHIFT = 4.0  # of the latent, whose deviation is 1
BISECTIONS = 50

# With more than these, memory would run out, or sums of squares would lose digits.
LIMITS = {
    "dialogs": (2, 1_000_000),
    "raters": (1, 1000),
    "generators": (2, 1000),
    "dialogs_per_hit": (1, 1000),
    "most_hits": (1, 1_000_000),
}

# If loads fall off like 1/rank from the largest one that is allowed, then sum n^2 / sum n, the load of an effective
# worker, is about a quarter of that largest one.
SHARE_OF_ALLOWED_HITS = 0.25


Scores = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]


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
    """A study, and what is assumed of its ratings. `proportions` are those of the values of the weaker generator, best
    first: good, okay and bad. Where two replies are compared (`is_comparison`), they are those of wins, ties and losses
    of two equals, or of wins and losses.

    A *difference* is meant in the share of the best value, of a scale whose points have equal distances (`is_by_mean`)
    in the mean, as a part of the scale's length, and of comparisons in one's win rate minus the other's.

    `workers` is the effective number of workers (1 / sum of their squared shares of the ratings). If it is 0, it
    follows from `most_hits`, the HITs that a worker may do: an effective worker does a quarter of them.
    `family` is the number of primary pairs; 0 means all pairs of generators. `score_range` is the distance from the
    worst to the best score of the scale, on which values have equal distances: 2 for three values, 6 for seven points.
    A dialog may show the pair in one of several items only, as many as `line_ups`.
    `is_by_sequence` says that the study may stop by itself, so that its confidence sequences decide and not a test.
    """

    dialogs: int
    raters: int
    generators: int = 2
    proportions: tuple[float, ...] = (0.32, 0.31, 0.37)
    effects: Effects = field(default=PLANNED_EFFECTS)
    dialogs_per_hit: int = 10
    alpha: float = ALPHA
    workers: int = 0
    most_hits: int = 50
    family: int = 0
    outcome: str = SHARE_OF_BEST
    score_range: float = 2.0
    is_by_sequence: bool = False
    is_comparison: bool = False
    is_by_mean: bool = False
    line_ups: float = 1.0

    def __post_init__(self) -> None:
        for name, (least, most) in LIMITS.items():
            if not least <= (count := getattr(self, name)) <= most:
                raise ValueError(f"There must be {least} to {most:,} {name.replace('_', ' ')}, not {count:,}.")
        if not self.score_range > 0:
            raise ValueError(f"The best score must be above the worst, and not {self.score_range:g} away from it.")
        if self.line_ups < 1:
            raise ValueError(f"A dialog shows the pair in 1 item or more, not in {self.line_ups:g}.")
        if not 0 < self.alpha < 1:
            raise ValueError(f"The significance level must lie between 0 and 1, not at {self.alpha:g}.")
        if self.workers and not self.raters <= self.workers <= 1_000_000:
            raise ValueError(f"{self.raters} raters a dialog are {self.raters} workers or more, not {self.workers:,}.")
        object.__setattr__(self, "proportions", _normalised(self.proportions))

    @property
    def pairs(self) -> int:
        return self.family or math.comb(self.generators, 2)

    @property
    def alpha_per_pair(self) -> float:
        return self.alpha / self.pairs

    @property
    def pair_dialogs_per_hit(self) -> int:
        """Return about how many dialogs of a HIT show the pair."""
        return max(1, round(self.dialogs_per_hit / self.line_ups))

    @property
    def hits(self) -> int:
        return math.ceil(self.dialogs / self.pair_dialogs_per_hit)

    @property
    def worker_count(self) -> int:
        """Return the effective number of workers that was given, or else the one that is assumed."""
        slots = self.hits * self.raters
        if self.workers:
            return min(self.workers, slots)
        load = max(1.0, SHARE_OF_ALLOWED_HITS * min(self.most_hits, self.hits))
        return max(self.raters, round(slots / load))

    @property
    def largest_difference(self) -> float:
        """Return the largest difference on the grid that leaves the better generator something worse than the best."""
        if self.is_comparison or self.is_by_mean:
            return math.floor(difference_of(self, LARGEST_SHIFT) * GRID) / GRID
        return (math.ceil((1 - self.proportions[0]) * GRID - 1e-9) - 1) / GRID

    @property
    def cuts(self) -> tuple[float, ...]:
        """Return the latents from which the weaker generator's rating is okay, and from which it is good."""
        good, *_, bad = self.proportions
        between = [bad, *self.proportions[-2:1:-1]] if len(self.proportions) > 2 else []
        lower = [float(scipy.special.ndtri(sum(between[: count + 1]))) for count in range(len(between))]
        return (*lower, float(scipy.special.ndtri(1 - good)))

    @property
    def lead_deviation(self) -> float:
        """Return the deviation of one latent minus another, of two equals in one dialog by one worker."""
        effects = self.effects
        return math.sqrt(2 * (effects.reply + effects.taste + effects.rest))

    @property
    def tied_below(self) -> float:
        """Return how far two latents must be apart for a comparison that is no tie."""
        tied = self.proportions[1] if len(self.proportions) > 2 else 0.0
        return self.lead_deviation * float(scipy.special.ndtri((1 + tied) / 2))

    @property
    def can_find(self) -> bool:
        """Return whether the permutation test can give a small enough p-value at all: with n dialogs, none is below 2 /
        2^n. A confidence sequence takes some dialogs and workers to begin."""
        if self.is_by_sequence:
            return not too_early(self.dialogs, self.worker_count)
        return 2.0 ** (1 - self.dialogs) <= self.alpha_per_pair


def _normalised(proportions: tuple[float, ...]) -> tuple[float, ...]:
    total = sum(proportions)
    if not (len(proportions) > 1 and all(share > 0 for share in proportions) and abs(total - 1) <= 0.01 + 1e-9):
        names = "good, okay and bad" if len(proportions) == 3 else "two values or more"
        raise ValueError(
            f"The proportions of {names} must be above 0 and add up to 1; "
            f"{' + '.join(f'{share:g}' for share in proportions)} = {total:g}."
        )
    return tuple(share / total for share in proportions)


def difference_of(setting: Setting, shift: float) -> float:
    """Return which difference a shift of the better generator's latent makes."""
    if setting.is_comparison:
        deviation, tied = setting.lead_deviation, setting.tied_below
        ends = ((shift - tied) / deviation, -(shift + tied) / deviation)
        win, loss = (float(scipy.special.ndtr(end)) for end in ends)
        return win - loss
    cuts = setting.cuts if setting.is_by_mean else setting.cuts[-1:]
    return sum(float(scipy.special.ndtr(shift - cut) - scipy.special.ndtr(-cut)) for cut in cuts) / len(cuts)


def shift_of(setting: Setting, difference: float) -> float:
    """Return the shift that makes this difference, from 0 to the largest one."""
    if not (setting.is_comparison or setting.is_by_mean):
        good = setting.proportions[0]
        return float(scipy.special.ndtri(good + difference) - scipy.special.ndtri(good))
    low, high = 0.0, LARGEST_SHIFT
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if difference_of(setting, middle) < difference else (low, middle)
    return high if difference else 0.0


def outcome_difference(setting: Setting, better: Scores, weaker: Scores) -> Scores:
    """Return what the outcome gains, from scores of 2 good, 1 okay and 0 bad. Of two that are compared, one's win rate
    minus the other's is 1 for a win, 0 for a tie and -1 for a loss."""
    best = len(setting.proportions) - 1
    if setting.outcome == MEAN_SCORE:
        difference: Scores = better - weaker
        return difference
    if setting.outcome == SHARE_OF_BEST:
        return np.subtract(better == best, weaker == best, dtype=np.int8)  # type: ignore[no-any-return]
    return np.subtract(better > weaker, better < weaker, dtype=np.int8)


def unit_of(setting: Setting) -> float:
    """Return what 1 of `outcome_difference` means in the outcome's own units.

    >>> unit_of(Setting(100, 4, outcome=MEAN_SCORE, score_range=6))
    3.0
    """
    return setting.score_range / (len(setting.proportions) - 1) if setting.outcome == MEAN_SCORE else 1.0


@dataclass(frozen=True)
class Components:
    """What two answers about a pair share: the mean difference, its variance, and the covariance of two answers about
    the same dialog, and of two answers by the same worker. In the units of `outcome_difference`."""

    gain: float
    variance: float
    same_dialog: float
    same_worker: float

    def variance_of_mean(self, setting: Setting) -> float:
        """Return the variance of the mean difference of all answers, with all workers equally busy."""
        answers = setting.dialogs * setting.raters
        by_worker = max(answers / setting.worker_count - 1, 0)
        together = (setting.raters - 1) * self.same_dialog + by_worker * self.same_worker
        return max(self.variance + together, 1e-12) / answers


# Where normal effects are summed over, in deviations: sums of smooth functions at these points are as good as exact.
POINTS = np.linspace(-8, 8, 49)
WEIGHTS = np.exp(-(POINTS**2) / 2) / np.exp(-(POINTS**2) / 2).sum()


def components_of(setting: Setting, shift: float = 0.0) -> Components:
    """Compute what two answers share: about one dialog by two workers, about two dialogs by one worker.

    `shift` is what the better generator's latent has on top. Given what two answers share, they are independent: so
    their covariance is the variance of the mean answer given that, which is a sum over few normal effects.
    """
    if setting.is_comparison:
        return _components_of_comparison(setting, shift)
    effects = setting.effects
    scores = np.arange(len(setting.proportions), dtype=np.int8)
    gains = outcome_difference(setting, scores[:, None], scores).astype(np.float64)  # (better's, weaker's score)
    of_both = effects.dialog + effects.worker

    def answer_given(both: float, each: float) -> Floats:
        """Return the mean answer where two answers share effects: one on both generators, one on each of them.
        (effect on both, effect on the better, effect on the weaker)"""
        free = max(of_both - both, 0)
        rest = 1 - of_both - each
        known = math.sqrt(both) * POINTS[:, None, None] + math.sqrt(each) * POINTS[:, None]
        latents = known + math.sqrt(free) * POINTS  # (effect on both, effect on each, what else is on both)
        weaker, better = (_chances(setting, latents + ahead, rest) for ahead in (0.0, shift))
        parts = zip(np.tensordot(gains.T, better, 1) * WEIGHTS, weaker, strict=True)
        return np.asarray(sum(of_better @ of_weaker.swapaxes(1, 2) for of_better, of_weaker in parts))

    def variance_given(both: float, each: float) -> float:
        spread = (answer_given(both, each) - gain) ** 2
        return float(np.einsum("cbw,c,b,w", spread, WEIGHTS, WEIGHTS, WEIGHTS, optimize=True))

    latents = math.sqrt(of_both) * POINTS
    weaker, better = (_chances(setting, latents + ahead, 1 - of_both) * WEIGHTS**0.5 for ahead in (0.0, shift))
    shares = better @ weaker.T  # (better's, weaker's score)
    gain = float((shares * gains).sum())
    return Components(
        gain=gain,
        variance=float((shares * (gains - gain) ** 2).sum()),
        same_dialog=variance_given(effects.dialog, effects.reply),
        same_worker=variance_given(effects.worker, effects.taste),
    )


def _components_of_comparison(setting: Setting, shift: float) -> Components:
    """Compute the same where two replies are compared: what both share, such as the dialog, cancels."""
    effects, whole, tied = setting.effects, setting.lead_deviation**2, setting.tied_below

    def chances_given(known: float) -> tuple[Floats, Floats]:
        """Return the chances of a win and of a loss, where this much of the lead's variance is known."""
        leads, rest = math.sqrt(known) * POINTS + shift, math.sqrt(whole - known)
        return scipy.special.ndtr((leads - tied) / rest), scipy.special.ndtr((-leads - tied) / rest)

    def variance_given(known: float) -> float:
        win, loss = chances_given(known)
        return float(((win - loss - gain) ** 2) @ WEIGHTS)

    win, loss = (float(one @ WEIGHTS) for one in chances_given(0.0))
    gain = win - loss
    return Components(
        gain=gain,
        variance=win + loss - gain**2,
        same_dialog=variance_given(2 * effects.reply),
        same_worker=variance_given(2 * effects.taste),
    )


def _chances(setting: Setting, latents: Floats, rest: float) -> Floats:
    """Return the chances of the scores from 0 on, where the rest of the latents has this variance."""
    above = [scipy.special.ndtr((latents - cut) / math.sqrt(rest)) for cut in setting.cuts]
    return np.stack([high - low for high, low in zip([np.ones_like(latents), *above], [*above, 0], strict=True)])


def planned_variance(setting: Setting) -> float:
    """Return the variance of the paired difference in the outcome's units, if the two generators are equally good.

    That of a mean score grows with the square of the scale's length: seven points have 9 times the variance of three.
    Rounded to three digits, so that the same plan gives the same number on every machine.
    """
    return float(f"{components_of(setting).variance_of_mean(setting) * unit_of(setting) ** 2:.3g}")
