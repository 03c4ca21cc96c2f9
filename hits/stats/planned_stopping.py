"""Simulates how many ratings a study with a stopping rule needs on average, and how often it errs.

In: a setting as the planner has it, and how the models differ. Out: the mean share of the ratings that are asked for
until every pair is decided, with and without dropping, and how often a claim is false. Guaranteed: the same seed gives
the same answer. All models are simulated together, in dialogs that all of them answer, as hits.stats.simulated_studies
does it for two (which explains the model of a rating); looks come after each wave.

A rating costs what a card costs: a study that drops a model shows fewer cards in later HITs. Assignments are counted
beside, because they are what is paid for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import scipy  # which loads its parts when they are first used

from hits.stats.estimates import Estimate, Interval
from hits.stats.planned_study import Setting, outcome_difference, planned_variance, shift_of, unit_of
from hits.stats.sequence import FEWEST_DIALOGS, TAU_FACTOR, SequenceFinding, sequence_finding
from hits.stats.simulated_studies import workers_of_hits
from hits.stats.stopping_rule import carry_on, rule_on
from hits.stats.too_few import FEW_WORKERS, effective_number

Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.int8]
Integers = npt.NDArray[np.integer]

LOOKS = 10
STUDIES = 100


@dataclass(frozen=True)
class Stopped:
    """How simulated studies ended: mean shares of the ratings and of the assignments that a fixed study would ask for,
    the share of studies that decided every pair, and the shares with a false elimination and with any false claim."""

    ratings: float
    assignments: float
    decided: float
    false_eliminations: float
    false_claims: float


def simulate_stopping(
    setting: Setting,
    gains: Sequence[float],
    studies: int = STUDIES,
    looks: int = LOOKS,
    *,
    drops: bool = True,
    equal_within: float = 0.0,
    seed: int = 1,
    pairs: Sequence[tuple[int, int]] = (),
    reference: int | None = None,
) -> Stopped:
    """Simulate studies of models whose shares of good are the weakest one's plus `gains`. `pairs` is the primary
    family, by the models' indexes, and none means all; a `reference` is never dropped."""
    rng = np.random.Generator(np.random.PCG64(seed))
    family = tuple(pairs) or tuple(combinations(range(len(gains)), 2))
    rule = _Rule(family, "" if reference is None else str(reference), drops, equal_within)
    tau2 = TAU_FACTOR * planned_variance(setting)
    ended = np.array([_one(setting, gains, looks, rule, tau2, rng) for _ in range(studies)])
    return Stopped(*(float(one) for one in ended.mean(axis=0)))


@dataclass(frozen=True)
class _Rule:
    family: tuple[tuple[int, int], ...]
    reference: str
    drops: bool
    equal_within: float


def _one(
    setting: Setting, gains: Sequence[float], looks: int, rule: _Rule, tau2: float, rng: np.random.Generator
) -> tuple[float, float, bool, bool, bool]:
    names = [str(number) for number in range(len(gains))]
    scores, workers = _draw(setting, gains, rng)
    dialogs = np.arange(setting.dialogs).repeat(setting.raters)  # of each answer
    living, wave = list(names), math.ceil(setting.hits / looks) * setting.pair_dialogs_per_hit
    shown_until = dict.fromkeys(names, setting.dialogs)
    findings: tuple[SequenceFinding, ...] = ()
    eliminated: list[str] = []
    asked, is_over = setting.dialogs, False
    for until in range(wave, setting.dialogs + wave, wave):
        until = min(until, setting.dialogs)
        now = [
            _look(
                setting,
                scores,
                dialogs,
                workers,
                (names[first], names[second]),
                min(until, shown_until[names[first]], shown_until[names[second]]),
                tau2,
                rule,
            )
            for first, second in rule.family
        ]
        findings = carry_on(findings, now)
        ruling = rule_on(findings, living, rule.drops, rule.reference)
        living = list(ruling.living)
        for loser, _ in ruling.dropped:
            eliminated.append(loser)
            shown_until[loser] = until
        if ruling.is_over:
            asked, is_over = until, True
            break
    ratings = sum(min(asked, shown_until[name]) for name in names) / (setting.dialogs * len(names))
    best = max(gains)
    return (
        ratings,
        asked / setting.dialogs,
        is_over,
        any(gains[int(name)] == best for name in eliminated),
        any(_is_false(one, gains, rule.equal_within) for one in findings),
    )


def _is_false(one: SequenceFinding, gains: Sequence[float], equal_within: float) -> bool:
    difference = gains[int(one.first)] - gains[int(one.second)]
    if one.better:
        return difference == 0 or (difference > 0) != (one.better == one.first)
    return bool(one.decided) and abs(difference) > equal_within


def _draw(setting: Setting, gains: Sequence[float], rng: np.random.Generator) -> tuple[Scores, Integers]:
    """Return scores (model, answer) and who gave each answer; the answers of a dialog stand together."""
    effects, models = setting.effects, len(gains)
    workers = workers_of_hits(setting, np.arange(setting.dialogs) // setting.pair_dialogs_per_hit).ravel()

    def draw(share: float, *shape: int) -> Floats:
        return np.asarray(math.sqrt(share) * rng.standard_normal(shape))

    about = draw(effects.dialog, 1, setting.dialogs) + draw(effects.reply, models, setting.dialogs)
    by = draw(effects.worker, 1, setting.worker_count) + draw(effects.taste, models, setting.worker_count)
    latent = about.repeat(setting.raters, axis=1) + by[:, workers] + draw(effects.rest, models, len(workers))
    latent += np.array([shift_of(setting, gain) for gain in gains])[:, None]
    return np.asarray(sum((latent > cut).view(np.int8) for cut in setting.cuts)), workers


def _look(
    setting: Setting,
    scores: Scores,
    dialogs: Integers,
    workers: Integers,
    pair: tuple[str, str],
    until: int,
    tau2: float,
    rule: _Rule,
) -> SequenceFinding:
    """Return the pair's sequence after so many dialogs, from the two-way variance (hits.stats.clusters)."""
    answers = until * setting.raters
    first, second = int(pair[0]), int(pair[1])
    difference = outcome_difference(setting, scores[first, :answers], scores[second, :answers]) * unit_of(setting)
    mean, variance, freedom = _spread(np.asarray(difference, np.float64), dialogs[:answers], workers[:answers])
    half = float(scipy.special.stdtrit(freedom, 0.975)) * math.sqrt(variance)
    busy = effective_number(np.bincount(workers[:answers]))
    problem = "too early" if until < FEWEST_DIALOGS or busy < FEW_WORKERS else ""
    return sequence_finding(
        pair,
        Estimate(mean, Interval(mean - half, mean + half)),
        tau2,
        setting.alpha / len(rule.family),
        equal_within=rule.equal_within,
        problem=problem or ("" if variance > 0 else "no spread"),
    )


def _spread(difference: Floats, dialogs: Integers, workers: Integers) -> tuple[float, float, float]:
    """Return mean, two-way variance and degrees of freedom."""
    count, mean = len(difference), float(difference.mean())
    centred = difference - mean
    loads = np.bincount(workers)
    number, busy = int(dialogs.max()) + 1, max(effective_number(loads), 1 + 1e-9)
    of_dialogs = float((np.bincount(dialogs, centred) ** 2).sum()) * number / max(number - 1, 1)
    of_workers = float((np.bincount(workers, centred) ** 2).sum()) * busy / (busy - 1)
    of_answers = float((centred**2).sum())
    variance = max(of_dialogs + of_workers - of_answers, 0.8 * max(of_dialogs, of_workers))
    weight = of_dialogs**2 / max(number - 1, 1) + of_workers**2 / max(busy - 1, 1)
    return mean, variance / count**2, max(variance**2 / weight if weight else 1.0, 1.0)
