"""Simulates studies of two generators, and adds up what a test needs of their differences.

In: a setting (hits.stats.planned_study) and how far the better generator is ahead. Out: `Sums` of many studies, after
each block of dialogs if wanted. Guaranteed: the same seed gives the same studies, the first dialogs of a larger study
are those of a smaller one, and memory grows with the number of workers only.

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
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy  # which loads its parts when they are first used: that takes a second, and few processes plan studies

from hits.stats.planned_study import Scores, Setting, outcome_difference, shift_of

Floats = npt.NDArray[np.floating]
Integers = npt.NDArray[np.integer]

# A block is what one stream of random numbers fills, always whole: so the first dialogs of a larger study are those of
# a smaller one. Simulations are made in chunks of this many cells.
BLOCK_DIALOGS = 200
CHUNK_CELLS = 100_000
WORKER_CELLS = 4_000_000


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
        """Return sum / sqrt(V_dialogs + max(0, V_workers - V_answers)), as hits.stats.sign_flips has it."""
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


def simulate_scores(setting: Setting, difference: float, seed: int = 1) -> Integers:
    """Simulate one study's scores: (weaker or better generator, rater, dialog), each 0 bad, 1 okay or 2 good."""
    [shift] = shifts_of(setting, [difference])
    crowd = _Crowd.draw(setting, stream(seed), 1)
    hits = np.arange(setting.hits)
    by_rater = [
        [_scores(setting, weaker), _scores(setting, better, shift)]
        for weaker, better in _latents_by_rater(setting, crowd, stream(seed, 1), hits)
    ]
    return np.array(by_rater)[:, :, 0, : setting.dialogs].swapaxes(0, 1)


def simulate_differences(setting: Setting, seed: int = 1) -> Integers:
    """Simulate the differences of one study whose generators are alike: (rater, dialog)."""
    crowd = _Crowd.draw(setting, stream(seed), 1)
    by_rater = [
        next(_differences(setting, weaker, better, [0.0]))
        for weaker, better in _latents_by_rater(setting, crowd, stream(seed, 1), np.arange(setting.hits))
    ]
    return np.array(by_rater)[:, 0, : setting.dialogs]


def shifts_of(setting: Setting, differences: Sequence[float]) -> list[float]:
    for difference in differences:
        if not 0 <= difference <= setting.largest_difference:
            raise ValueError(_out_of_reach(setting, difference))
    return [shift_of(setting, difference) for difference in differences]


def _out_of_reach(setting: Setting, difference: float) -> str:
    unit = setting.score_range if setting.is_by_mean else 100
    most, given = (f"{unit * one:.3g} points" for one in (setting.largest_difference, difference))
    if setting.is_by_mean:
        return f"The better generator's mean can be 0 to {most} higher, not {given}."
    if setting.is_comparison:
        return f"The better generator can win 0 to {most} more of the comparisons than it loses, not {given}."
    return (
        f"The better generator can have 0 to {100 * setting.largest_difference:.1f} points more of good, since "
        f"the other has {100 * setting.proportions[0]:.1f} %, not {100 * difference:g} points."
    )


def workers_of_hits(setting: Setting, hits: Integers) -> Integers:
    """Return who rates these HITs, (HIT, rater): the workers in turn."""
    return np.asarray((hits[:, None] * setting.raters + np.arange(setting.raters)) % setting.worker_count)


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


def study_sums(setting: Setting, shifts: Sequence[float], simulations: int, seed: int) -> Iterator[Sums]:
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
    crowd = _Crowd.draw(setting, stream(*key), simulations)
    sums = Sums(
        total=np.zeros(shape),
        of_dialogs=np.zeros(shape),
        of_answers=np.zeros(shape),
        by_worker=np.zeros((*shape, setting.worker_count)),
        dialogs=0,
        answers_of_workers=np.zeros(setting.worker_count),
    )
    for block in range(math.ceil(setting.dialogs / size)):
        hits = block * size // setting.pair_dialogs_per_hit + np.arange(size // setting.pair_dialogs_per_hit)
        left = min(size, setting.dialogs - block * size)
        workers, indexes = np.unique(workers_of_hits(setting, hits), return_inverse=True)
        who = np.zeros((len(hits) * setting.raters, len(workers)), np.float32)
        who[np.arange(len(who)), indexes.ravel()] = 1
        by_dialog = np.zeros((*shape, size), np.int32)
        by_slot = np.zeros((*shape, len(hits), setting.raters), np.float32)
        rng = stream(*key, block + 1)
        for rater, (weaker, better) in enumerate(_latents_by_rater(setting, crowd, rng, hits)):
            for index, difference in enumerate(_differences(setting, weaker, better, shifts)):
                # A dialog that counts as 0 adds nothing to any sum: so a study may end within a block or a HIT.
                difference[:, left:] = 0
                by_dialog[index] += difference
                sums.of_answers[index] += np.einsum("ij,ij->i", difference, difference, dtype=np.int64)
                by_slot[index, :, :, rater] = difference.reshape(simulations, len(hits), -1).sum(axis=-1)
        sums.total += by_dialog.sum(axis=-1)
        sums.of_dialogs += np.einsum("...i,...i", by_dialog, by_dialog, dtype=np.int64)
        sums.by_worker[..., workers] += by_slot.reshape(*shape, -1) @ who
        sums.dialogs += left
        in_hit = np.clip(left - setting.pair_dialogs_per_hit * np.arange(len(hits)), 0, setting.pair_dialogs_per_hit)
        sums.answers_of_workers[workers] += in_hit.repeat(setting.raters) @ who
        yield sums


def block_dialogs(setting: Setting) -> int:
    """Return how many dialogs a block has, in whole HITs."""
    return max(1, BLOCK_DIALOGS // setting.pair_dialogs_per_hit) * setting.pair_dialogs_per_hit


def stream(*key: int) -> np.random.Generator:
    if min(key) < 0:
        raise ValueError(f"The seed must be 0 or above, not {min(key)}.")
    return np.random.Generator(np.random.SFC64(key))


def _latents_by_rater(setting: Setting, crowd: _Crowd, rng: np.random.Generator, hits: Integers) -> Iterator[Floats]:
    """Yield each rater's latents before the shift: (generator, simulation, dialog)."""

    def draw(share: float, *shape: int) -> Floats:
        return rng.standard_normal(shape, dtype=np.float32) * np.float32(math.sqrt(share))

    effects, dialogs, simulations = setting.effects, len(hits) * setting.pair_dialogs_per_hit, len(crowd.severity)
    replies = draw(effects.dialog, simulations, dialogs) + draw(effects.reply, 2, simulations, dialogs)
    for workers in workers_of_hits(setting, hits).T:
        of_worker = crowd.severity[:, workers] + crowd.taste[:, :, workers]
        yield (
            replies
            + of_worker.repeat(setting.pair_dialogs_per_hit, axis=-1)
            + draw(effects.rest, 2, simulations, dialogs)
        )


def _differences(setting: Setting, weaker: Floats, better: Floats, shifts: Sequence[float]) -> Iterator[Scores]:
    """Yield what the outcome gains in each answer, for each shift of the better generator."""
    if setting.is_comparison:
        lead, tied = better - weaker, setting.tied_below
        for shift in shifts:
            is_win, is_loss = lead > np.float32(tied - shift), lead < np.float32(-tied - shift)
            yield is_win.view(np.int8) - is_loss.view(np.int8)
        return
    scores = _scores(setting, weaker)
    for shift in shifts:
        yield outcome_difference(setting, _scores(setting, better, shift), scores)


def _scores(setting: Setting, latents: Floats, shift: float = 0) -> Scores:
    scores = np.zeros(latents.shape, np.int8)
    for cut in setting.cuts:
        scores += (latents > np.float32(cut - shift)).view(np.int8)
    return scores
