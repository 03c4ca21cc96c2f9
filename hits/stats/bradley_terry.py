"""Ranks generators from paired comparisons with ties: Bradley and Terry's model as Davidson extends it.

    P(i before j) = w_i / (w_i + w_j + v sqrt(w_i w_j))        P(alike) = v sqrt(w_i w_j) / (...)

(Davidson 1970, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments"). Each
answer compares the generators whose replies it rates: one higher, or both alike; or it says so itself, where workers
compare replies. Half a tie is added to each pair (`with_half_ties`). `strength` is the natural logarithm of w, with
mean 0 over the generators; the likelihood is concave in strengths and log v, so Newton's method finds its one maximum.
Intervals are robust to answers of one dialog or one worker belonging together: the influence of an answer is its score
times the inverse information (Huber's sandwich), summed as hits.stats.clusters does.

Two generators, 30 answers for the first, 10 for the second, 20 alike: w_1 / w_2 = 30 / 10, v = 20.5 / sqrt(30 * 10).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hits.stats.answers import Answers, answers_of
from hits.stats.clusters import Clusters, interval_of, spread_of
from hits.stats.coded_ratings import NO_ORDER, CodedRatings
from hits.stats.estimates import Estimate, Undefined
from hits.stats.inverting import pseudo_inverse
from hits.stats.outcomes import Ranked, Ranking

Floats = npt.NDArray[np.float64]

MOST_STEPS = 100
SMALL = 1e-10
OUTCOMES = 3  # first higher, alike, second higher


@dataclass(frozen=True)
class Fitted:
    """The strengths of the generators with these codes, and each answer's influence on them."""

    codes: list[int]
    strengths: Floats
    log_ties: float
    influences: Floats  # (answers, generators)
    clusters: Clusters


def rank_generators(ratings: CodedRatings, dataset: str | None) -> Ranking:
    fitted, comparisons = fit_strengths(ratings, is_pooled=dataset is None)
    if isinstance(fitted, Undefined):
        return Ranking(dataset, comparisons, fitted, fitted)
    strengths = fitted.strengths
    spread = spread_of(fitted.influences, fitted.clusters)
    order = sorted(range(len(strengths)), key=lambda index: -strengths[index])
    shares = np.exp(strengths) / np.exp(strengths).sum()
    ranked = tuple(
        Ranked(
            rank,
            ratings.generators[fitted.codes[index]],
            Estimate(float(strengths[index]), interval_of(float(strengths[index]), spread, index)),
            float(shares[index]),
        )
        for rank, index in enumerate(order, start=1)
    )
    return Ranking(dataset, comparisons, ranked, float(np.exp(fitted.log_ties)))


def fit_strengths(ratings: CodedRatings, is_pooled: bool) -> tuple[Fitted | Undefined, int]:
    """Return the strengths, or why there are none, and how many comparisons they rest on."""
    if ratings.is_nominal:
        return Undefined(NO_ORDER), 0
    answers, codes = answers_of(ratings), _rankable(ratings, is_pooled)
    outcomes = _Outcomes.of(answers, codes)
    counts = outcomes.counts
    comparisons = int(counts.sum())
    problem = _problem(counts)
    if is_pooled and ratings.pooling_problem and len(codes) < 2:
        problem = ratings.pooling_problem
    if problem:
        return Undefined(problem), comparisons
    strengths, log_ties = fit(with_half_ties(counts))
    influences = _influences(outcomes, strengths, log_ties)
    return Fitted(codes, strengths, log_ties, influences, answers.clusters), comparisons


def _rankable(ratings: CodedRatings, is_pooled: bool) -> list[int]:
    """Return the generators that can be ranked: those that were rated or, in all datasets together, those that were
    rated in each."""
    rows = ratings.by_generators.from_both_sides
    counts = np.bincount(rows.generator, minlength=len(ratings.generators))
    problems = ratings.pooling_problems if is_pooled else ("",) * len(counts)
    return [code for code, problem in enumerate(problems) if counts[code] and not problem]


def with_half_ties(counts: Floats) -> Floats:
    """Add half a tie to each pair that was compared. A generator that never won or never lost would otherwise have an
    infinite strength, and leave those of all others undefined."""
    added = counts.copy()
    added[:, :, 1] += 0.5 * (counts.sum(axis=2) > 0)
    return added


def fit(counts: Floats) -> tuple[Floats, float]:
    """Fit the strengths and log v. `counts` is indexed by first generator, second generator (the one with the higher
    code) and outcome."""
    size = len(counts)
    has_ties = bool(counts[:, :, 1].sum())
    found = np.zeros(size + 1)
    found[size] = 0.0 if has_ties else -np.inf
    free = np.arange(size + 1 if has_ties else size)
    likelihood = _log_likelihood(counts, found)
    for _ in range(MOST_STEPS):
        gradient, information = _derivatives(counts, found)
        step = np.zeros(size + 1)
        # The sum of the strengths is free; the pseudo-inverse leaves it at 0.
        step[free] = pseudo_inverse(information[np.ix_(free, free)]) @ gradient[free]
        while (better := _log_likelihood(counts, found + step)) < likelihood - SMALL * abs(likelihood):
            step /= 2
        found, likelihood = found + step, better
        if np.abs(step).max() < SMALL:
            break
    return found[:size] - found[:size].mean(), float(found[size])


@dataclass(frozen=True)
class _Outcomes:
    """What each answer says of each pair of generators: 0 if the first is higher, 1 if both are alike, 2 if the second
    is higher, 3 if it says nothing of the pair."""

    pairs: list[tuple[int, int]]
    codes: npt.NDArray[np.int8]  # pair x answer
    generators: int

    @staticmethod
    def of(answers: Answers, chosen: Sequence[int]) -> "_Outcomes":
        """Count `chosen` generators only, which are numbered anew."""
        pairs = list(combinations(range(len(chosen)), 2))
        codes = np.full((len(pairs), len(answers.scores)), OUTCOMES, np.int8)
        for number, (first, second) in enumerate(pairs):
            difference = answers.difference(chosen[first], chosen[second])
            has_both = ~np.isnan(difference)
            codes[number, has_both] = 1 - np.sign(difference[has_both])
        return _Outcomes(pairs, codes, len(chosen))

    @property
    def counts(self) -> Floats:
        counts = np.zeros((self.generators, self.generators, OUTCOMES))
        for (first, second), codes in zip(self.pairs, self.codes, strict=True):
            counts[first, second] = np.bincount(codes, minlength=OUTCOMES + 1)[:OUTCOMES]
        return counts


def _problem(counts: Floats) -> str:
    compared = counts.sum(axis=2)
    if len(counts) < 2 or not compared.sum():
        return "no worker rated replies of two generators in the same dialog"
    pieces, _ = connected_components(csr_array(compared > 0), directed=False)
    if pieces > 1:
        return "some generators were never compared with the others"
    wins = counts[:, :, 0] + counts[:, :, 2].T  # row over column
    if not wins.sum():
        return "no worker rated any two generators differently"
    # Otherwise strengths and v would grow together without end: each win says "more", and no loss says "less".
    if not (wins.any(axis=0) & wins.any(axis=1)).any():
        return "no generator has both won and lost"
    return ""


def _probabilities(found: Floats, first: int, second: int) -> Floats:
    """Return the probabilities of the three outcomes, for these strengths and log v."""
    size = len(found) - 1
    logs = np.array([found[first], found[size] + (found[first] + found[second]) / 2, found[second]])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _directions(size: int, first: int, second: int) -> Floats:
    """Return how each outcome's logarithm grows with the strengths and log v, apart from what all outcomes share."""
    directions = np.zeros((OUTCOMES, size + 1))
    directions[0, first] = directions[2, second] = directions[1, size] = 1
    directions[1, first] = directions[1, second] = 0.5
    return directions


def _log_likelihood(counts: Floats, found: Floats) -> float:
    total = 0.0
    for first, second in combinations(range(len(counts)), 2):
        here, chances = counts[first, second], _probabilities(found, first, second)
        total += float(here[here > 0] @ np.log(chances[here > 0]))
    return total


def _derivatives(counts: Floats, found: Floats) -> tuple[Floats, Floats]:
    size = len(counts)
    gradient, information = np.zeros(size + 1), np.zeros((size + 1, size + 1))
    for first, second in combinations(range(size), 2):
        chances, directions = _probabilities(found, first, second), _directions(size, first, second)
        here = counts[first, second]
        mean = chances @ directions
        gradient += here @ directions - here.sum() * mean
        information += here.sum() * ((directions.T * chances) @ directions - np.outer(mean, mean))
    return gradient, information


def _influences(outcomes: _Outcomes, strengths: Floats, log_ties: float) -> Floats:
    """Return the influence of each answer on each strength: (answers, generators)."""
    size = len(strengths)
    found = np.append(strengths, log_ties)
    free = np.arange(size + 1 if np.isfinite(log_ties) else size)
    _, information = _derivatives(with_half_ties(outcomes.counts), found)
    inverse = np.zeros((size + 1, size + 1))
    inverse[np.ix_(free, free)] = pseudo_inverse(information[np.ix_(free, free)])
    influences = np.zeros((outcomes.codes.shape[1], size))
    for (first, second), codes in zip(outcomes.pairs, outcomes.codes, strict=True):
        chances, directions = _probabilities(found, first, second), _directions(size, first, second)
        scores = np.vstack([directions - chances @ directions, np.zeros(size + 1)])  # nothing said, no influence
        influences += (scores @ inverse)[codes, :size]
    return np.asarray(influences - influences.mean(axis=1, keepdims=True))
