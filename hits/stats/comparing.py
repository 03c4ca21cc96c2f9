"""Tests which generator is better, by paired comparisons within the same worker and dialog.

For each pair of generators: the mean difference of the planned outcome (hits.stats.planned_tests), and beside it those
of the share of the best value and of the score, and the probability of superiority

    P(first is rated higher) + P(both alike) / 2

(Grissom 1994; 1/2 is no difference), all with two-way cluster-robust intervals (hits.stats.clusters), that of the
superiority symmetric on the log-odds (hits.stats.share_intervals). A permutation test of the planned outcome decides
(hits.stats.sign_flips). With fewer than ten effective workers (hits.stats.too_few) it is the larger of its p-value and
that of the two-way t test; with very many answers it is the two-way t test alone, which then gives the same. Two
generators that nobody rated in the same dialog, or hardly anybody (hits.stats.pair_sizes), are
compared by their means (hits.stats.unpaired); if that is impossible too, they are not compared.

The planned pairs over all datasets are the primary family, and are corrected by Holm's method; all other tests are a
second, exploratory family. Generators that the corrected test can't tell apart share a letter (hits.stats.letters).

Where workers compared two replies, each comparison is one answer about the pair, and the outcome is the win rate.

A worker puts A into good and B into bad in one dialog, both into okay in another: the difference is (2 + 0) / 2 = 1,
the superiority of A (1 + 1/2) / 2 = 3/4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from hits.stats.answers import Answers, answers_of
from hits.stats.clusters import Clusters, Spread, difference_interval, spread_of, t_p_value
from hits.stats.coded_ratings import NO_ORDER, NOT_FOR_COMPARISONS, CodedRatings
from hits.stats.comparison_tables import comparisons_table, corrected, family_sizes
from hits.stats.estimates import Estimate, Undefined
from hits.stats.outcomes import (
    LARGER_OF_BOTH,
    PERMUTATION,
    TWO_WAY_T,
    Comparison,
    Comparisons,
    Lettered,
    PairSize,
    PairTest,
)
from hits.stats.pair_sizes import PairSizes
from hits.stats.planned_tests import MEAN_SCORE, SHARE_OF_BEST, WIN_RATE, Plan
from hits.stats.share_intervals import share_interval
from hits.stats.sign_flips import Differences, SignFlips, sign_flip_test
from hits.stats.too_few import FEW_WORKERS, smallest_p_value
from hits.stats.unpaired import rows_of_two, unpaired_difference

Floats = npt.NDArray[np.float64]

NOBODY_RATED_BOTH = "no worker rated both in the same dialog"
NOBODY_COMPARED_THEM = "no worker compared the two"
FEW_RATED_BOTH = "too few ratings of them stand side by side"
ONE_DIALOG = "both were rated in one dialog only"
FEWEST = 2  # dialogs: from one, nothing can be said about others
MOST_ANSWERS_TURNED = 50_000  # of a pair in a dataset; with more, permutation and t give the same p-value


def compare_generators(
    ratings: CodedRatings, seed: int = 1, plan: Plan | None = None, criterion: str = ""
) -> list[Comparisons]:
    """Compare in all datasets together if there are several, then in each."""
    if ratings.is_nominal:
        return _of_labels(ratings)
    plan, ratings = plan or Plan(), ratings.by_generators
    outcome = _outcome(ratings, plan)
    scopes = _scopes(ratings, plan, criterion)
    sizes = [PairSizes.of(scope.rows) for scope in scopes]
    families = _families(ratings, scopes, sizes)
    found = corrected(_Compared.of(ratings, outcome, seed).in_scopes(scopes, sizes, families))
    tested = family_sizes(found)
    return [
        comparisons_table(scope.dataset, scope.rows, pairs, outcome, tested)
        for scope, pairs in zip(scopes, found, strict=True)
    ]


@dataclass(frozen=True)
class _Scope:
    """All datasets together, or one: `part` is its number, and beyond the last one all of them together."""

    dataset: str | None
    part: int
    ratings: CodedRatings
    is_primary: bool
    plan: Plan
    criterion: str

    @property
    def rows(self) -> CodedRatings:
        """The ratings of this scope. Those of all scopes would be another copy of all ratings, so nobody keeps them."""
        return self.ratings if self.dataset is None else self.ratings.in_dataset(self.part)

    def has_primary(self, first: str, second: str) -> bool:
        return self.is_primary and self.plan.has_primary(first, second, self.criterion)


def _scopes(ratings: CodedRatings, plan: Plan, criterion: str) -> list[_Scope]:
    """Return the scopes. The plan says which of them is primary; without a plan, datasets are primary only where all of
    them together mean nothing."""
    count = len(ratings.datasets)
    is_pooled = (not ratings.pooling_problem) if plan.is_pooled is None else plan.is_pooled
    single = [
        _Scope(name, code, ratings, count == 1 or not is_pooled, plan, criterion)
        for code, name in enumerate(ratings.datasets)
    ]
    return [_Scope(None, count, ratings, is_pooled, plan, criterion), *single] if count > 1 else single


def _families(ratings: CodedRatings, scopes: Sequence[_Scope], sizes: Sequence[PairSizes]) -> dict[bool, int]:
    """Count the pairs that may be tested in the primary family (True) and in the exploratory one. Both generators of
    such a pair were rated."""
    names = ratings.generators
    marks = [
        scope.has_primary(names[first], names[second])
        for scope, size in zip(scopes, sizes, strict=True)
        for first, second in combinations(range(len(names)), 2)
        if size.are_rated(first, second)
    ]
    return {True: sum(marks), False: len(marks) - sum(marks)}


def _of_labels(ratings: CodedRatings) -> list[Comparisons]:
    """Return comparisons without a test: labels have no order, so no model can be better than another."""
    names: list[str | None] = [*ratings.datasets]
    pairs = tuple(_not_compared(*pair, NO_ORDER) for pair in combinations(ratings.generators, 2))
    letters = tuple(Lettered(name, Undefined(NO_ORDER), "") for name in ratings.generators)
    return [Comparisons(name, pairs, letters, "", 0.0, ()) for name in ([None, *names] if len(names) > 1 else names)]


def _outcome(ratings: CodedRatings, plan: Plan) -> str:
    return WIN_RATE if ratings.opponent is not None else plan.outcome


# --- One pair --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pair:
    """Two generators' answers. Each row of `differences` is one answer that rates both."""

    first: int
    second: int
    answers: Answers
    score: Floats  # differences of the scores
    best: Floats  # differences of having the best value
    most: float  # the largest difference of scores that there can be

    @staticmethod
    def of(answers: Answers, first: int, second: int, ratings: CodedRatings) -> "_Pair":
        difference = answers.difference(first, second)
        has_both = ~np.isnan(difference)
        score = difference[has_both]
        best = np.zeros(0)
        if answers.pairs is None:
            one, other = answers.scores[has_both, first], answers.scores[has_both, second]
            good = ratings.scores[0]  # of a long scale, the lowest score of the best bin
            best = (one >= good).astype(np.float64) - (other >= good)
        low, high = ratings.score_ends
        return _Pair(first, second, answers.without_scores.of(has_both), score, best, high - low)

    def in_part(self, part: int, parts: int) -> "_Pair":
        """Return one dataset's part; beyond the last dataset, return everything."""
        if part == parts or parts == 1:
            return self
        rows = self.answers.dataset == part
        best = self.best[rows] if len(self.best) else self.best
        return replace(self, answers=self.answers.of(rows), score=self.score[rows], best=best)

    def differences(self, outcome: str) -> Floats:
        """Return what decides: differences of the outcome. Those of win rates are 1, 0 or -1."""
        if outcome == WIN_RATE:
            return np.asarray(np.sign(self.score), np.float64)
        return self.best if outcome == SHARE_OF_BEST else self.score

    def to_turn(self, outcome: str, parts: int) -> Differences:
        """Return what the permutation test turns, without datasets that are too large for it."""
        counts = np.bincount(self.answers.dataset, minlength=parts)
        rows = (counts <= MOST_ANSWERS_TURNED)[self.answers.dataset]
        some, difference = self.answers.of(rows), self.differences(outcome)[rows]
        return Differences(some.dialog, some.worker, some.dataset, difference)


@dataclass(frozen=True)
class _Compared:
    """All answers, and what the permutation test says of the pairs."""

    ratings: CodedRatings
    outcome: str
    answers: Answers
    flips: SignFlips

    @staticmethod
    def of(ratings: CodedRatings, outcome: str, seed: int) -> "_Compared":
        answers, parts = answers_of(ratings), len(ratings.datasets)
        turned = [pair.to_turn(outcome, parts) for pair in _pairs(answers, ratings)]
        family = len(turned) * (parts + 1 if parts > 1 else 1)
        return _Compared(ratings, outcome, answers, sign_flip_test(turned, parts, family, seed))

    def in_scopes(
        self, scopes: Sequence[_Scope], sizes: Sequence[PairSizes], families: dict[bool, int]
    ) -> list[list[Comparison]]:
        """Compare all pairs in each scope."""
        found: list[list[Comparison]] = [[] for _ in scopes]
        for index, pair in enumerate(_pairs(self.answers, self.ratings)):
            for pairs, scope, size in zip(found, scopes, sizes, strict=True):
                one = self._compare(index, pair, scope, size, families)
                pairs.append(replace(one, is_primary=scope.has_primary(one.first, one.second)))
        return found

    def _compare(
        self, index: int, pair: _Pair, scope: _Scope, sizes: PairSizes, families: dict[bool, int]
    ) -> Comparison:
        first, second = (self.ratings.generators[code] for code in (pair.first, pair.second))
        here = pair.in_part(scope.part, len(self.ratings.datasets))
        problems = [self.ratings.pooling_problems[code] for code in (pair.first, pair.second)]
        if scope.dataset is None and any(problems):
            return _not_compared(first, second, problems[0] or problems[1])
        paired = sizes.side_by_side(here.answers, pair.first, pair.second)
        family = families[scope.has_primary(first, second)]
        by_raters: Comparison | None = None
        if not paired.side_by_side or not sizes.can_be_paired(here.answers, pair.first, pair.second, family):
            apart = sizes.apart(pair.first, pair.second, paired.side_by_side)
            by_raters = _unpaired(first, second, here, scope.rows, self.outcome, apart)
            if not paired.side_by_side or by_raters.kind == "unpaired":
                return by_raters
        if paired.side_by_side < FEWEST:
            return by_raters or _not_compared(first, second, ONE_DIALOG)
        # A drawn p-value is an estimate: it must not fall below what the dialogs can give.
        p_value = max(float(self.flips.p_values[index, scope.part]), smallest_p_value(paired.dialogs))
        return _paired(first, second, here, self.outcome, p_value, self.flips.floor, paired)


def _pairs(answers: Answers, ratings: CodedRatings) -> Iterator[_Pair]:
    """Make the pairs one by one: all pairs of many generators would take far more memory than the ratings."""
    for first, second in combinations(range(len(ratings.generators)), 2):
        yield _Pair.of(answers, first, second, ratings)


def _paired(
    first: str, second: str, pair: _Pair, outcome: str, p_value: float, floor: float, size: PairSize
) -> Comparison:
    count, clusters = len(pair.score), pair.answers.clusters
    higher, lower = int((pair.score > 0).sum()), int((pair.score < 0).sum())
    wins = (np.sign(pair.score) + 1) / 2
    decisive = pair.differences(outcome)
    has_scores = pair.answers.pairs is None
    columns = [decisive, wins, *([pair.best, pair.score] if has_scores else [])]
    means = [float(column.mean()) for column in columns]
    influences = np.empty((len(columns), count)).T
    for index, (column, mean) in enumerate(zip(columns, means, strict=True)):
        np.divide(column - mean, count, out=influences[:, index])
    spread = spread_of(influences, clusters)
    of_outcome = pair.most if outcome == MEAN_SCORE and has_scores else 1.0
    most = (of_outcome, 1.0, 1.0, pair.most)
    intervals = [difference_interval(mean, spread, index, most[index]) for index, mean in enumerate(means)]
    intervals[1] = share_interval(means[1], spread, 1, min(map(len, clusters.sizes)))  # superiority is a share
    difference, superiority, *others = map(Estimate, means, intervals)
    best, score = others if has_scores else (Undefined(NOT_FOR_COMPARISONS),) * 2
    return Comparison(
        first,
        second,
        "paired",
        True,
        count,
        higher,
        count - higher - lower,
        lower,
        difference,
        best,
        score,
        superiority,
        _decide(p_value, floor, means[0], spread, size, count),
        size,
    )


def _decide(p_value: float, floor: float, mean: float, spread: Spread, size: PairSize, count: int) -> PairTest:
    is_floor = p_value <= floor
    has_t = not spread.problem and spread.variance[0] > 0
    if not has_t:  # one worker, or all differences alike
        return PairTest(PERMUTATION, p_value, p_value, is_floor)
    other = t_p_value(mean, spread)
    if count > MOST_ANSWERS_TURNED:
        return PairTest(TWO_WAY_T, other, other)
    if size.effective_workers < FEW_WORKERS:
        larger = max(p_value, other)
        return PairTest(LARGER_OF_BOTH, larger, larger, is_floor and other <= p_value)
    return PairTest(PERMUTATION, p_value, p_value, is_floor)


def _unpaired(first: str, second: str, pair: _Pair, rows: CodedRatings, outcome: str, size: PairSize) -> Comparison:
    if rows.opponent is not None:
        return _not_compared(first, second, NOBODY_COMPARED_THEM)
    together = FEW_RATED_BOTH if size.side_by_side else NOBODY_RATED_BOTH
    if outcome == WIN_RATE:
        return _not_compared(first, second, together)
    both = rows_of_two(rows, pair.first, pair.second)
    is_first, clusters = both.generator == pair.first, Clusters.of_ratings(both)
    best = unpaired_difference((both.value == 0).astype(np.float64), is_first, clusters, 1.0)
    score = unpaired_difference(both.score, is_first, clusters, pair.most)
    decisive = best if outcome == SHARE_OF_BEST else score
    if isinstance(decisive, Undefined):
        return _not_compared(first, second, f"{together}, and {decisive.reason}")
    test = PairTest(TWO_WAY_T, decisive.p_value, decisive.p_value)
    return Comparison(
        first,
        second,
        "unpaired",
        True,
        *(0, 0, 0, 0),
        difference=decisive.estimate,
        best_difference=best if isinstance(best, Undefined) else best.estimate,
        score_difference=score if isinstance(score, Undefined) else score.estimate,
        superiority=Undefined(together),
        test=test,
        size=size,
    )


def _not_compared(first: str, second: str, reason: str) -> Comparison:
    nothing = Undefined(reason)
    return Comparison(first, second, "not compared", True, 0, 0, 0, 0, nothing, nothing, nothing, nothing, nothing)
