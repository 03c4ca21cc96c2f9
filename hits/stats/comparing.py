"""Tests which generator is better, by paired comparisons within the same worker and dialog.

For each pair of generators: the mean difference of the planned outcome (hits.stats.planned_tests), and beside it those
of the share of the best value and of the score, and the probability of superiority

    P(first is rated higher) + P(both alike) / 2

(Grissom 1994; 1/2 is no difference), all with two-way cluster-robust intervals (hits.stats.clusters), that of the
superiority symmetric on the log-odds (hits.stats.share_intervals). A permutation test of the planned outcome decides
(hits.stats.sign_flips). With fewer than ten effective workers (hits.stats.too_few) it is the larger of its p-value and
that of the two-way t test; with very many answers it is the two-way t test alone, which then gives the same. Two
generators that no worker rated in the same dialog are compared by their means (hits.stats.unpaired); if that is
impossible too, they are not compared.

The planned pairs over all datasets are the primary family, and are corrected by Holm's method; all other tests are a
second, exploratory family. Generators that the corrected test can't tell apart share a letter (hits.stats.letters).

Where workers compared two replies, each comparison is one answer about the pair, and the outcome is the win rate.

A worker puts A into good and B into bad in one dialog, both into okay in another: the difference is (2 + 0) / 2 = 1,
the superiority of A (1 + 1/2) / 2 = 3/4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from hits.stats.answers import Answers, answers_of
from hits.stats.clusters import Clusters, Spread, interval_of, spread_of, t_p_value
from hits.stats.coded_ratings import NO_ORDER, NOT_FOR_COMPARISONS, CodedRatings
from hits.stats.estimates import Estimate, Undefined
from hits.stats.letters import letter_display
from hits.stats.outcomes import (
    LARGER_OF_BOTH,
    PERMUTATION,
    TWO_WAY_T,
    Comparison,
    Comparisons,
    Lettered,
    PairTest,
)
from hits.stats.planned_tests import MEAN_SCORE, SHARE_OF_BEST, WIN_RATE, Plan
from hits.stats.share_intervals import share_interval
from hits.stats.sign_flips import Differences, SignFlips, holm, sign_flip_test
from hits.stats.too_few import (
    FEW_WORKERS,
    effective_number,
    few_dialogs_warning,
    few_workers_warning,
    smallest_p_value,
)
from hits.stats.unpaired import rows_of_two, unpaired_difference

Floats = npt.NDArray[np.float64]

NOBODY_RATED_BOTH = "no worker rated both in the same dialog"
NOBODY_COMPARED_THEM = "no worker compared the two"
NO_RATING = "there is no rating"
MOST_ANSWERS_TURNED = 50_000  # of a pair in a dataset; with more, permutation and t give the same p-value


def compare_generators(
    ratings: CodedRatings, seed: int = 1, plan: Plan | None = None, criterion: str = ""
) -> list[Comparisons]:
    """Compare in all datasets together if there are several, then in each."""
    if ratings.is_nominal:
        return _of_labels(ratings)
    outcome = _outcome(ratings, plan or Plan())
    scopes: list[tuple[str | None, CodedRatings]] = [
        (name, ratings.in_dataset(code)) for code, name in enumerate(ratings.datasets)
    ]
    compared = _Compared.of(ratings, outcome, seed)
    made = [compared.in_part(part, rows) for part, (_, rows) in enumerate(scopes)]
    is_primary = [True] * len(scopes)
    if len(scopes) > 1:
        scopes.insert(0, (None, ratings))
        made.insert(0, compared.in_part(len(ratings.datasets), ratings))
        # Datasets are primary only where all of them together mean nothing.
        is_primary = [not ratings.pooling_problem, *[bool(ratings.pooling_problem)] * (len(scopes) - 1)]
    marked = [
        [
            replace(one, is_primary=primary and (plan or Plan()).has_primary(one.first, one.second, criterion))
            for one in pairs
        ]
        for pairs, primary in zip(made, is_primary, strict=True)
    ]
    families = _family_sizes(marked)
    tables = _corrected(marked)
    return [_table(name, rows, pairs, outcome, families) for (name, rows), pairs in zip(scopes, tables, strict=True)]


def _of_labels(ratings: CodedRatings) -> list[Comparisons]:
    """Labels have no order: no model can be better than another."""
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

    @staticmethod
    def of(answers: Answers, first: int, second: int, best_score: float) -> "_Pair":
        difference = answers.difference(first, second)
        has_both = ~np.isnan(difference)
        score = difference[has_both]
        best = np.zeros(0)
        if answers.pairs is None:
            one, other = answers.scores[has_both, first], answers.scores[has_both, second]
            best = (one >= best_score).astype(np.float64) - (other >= best_score)  # of a long scale, the best bin
        return _Pair(first, second, answers.of(has_both), score, best)

    def in_part(self, part: int, parts: int) -> "_Pair":
        """Return one dataset's part; beyond the last dataset, return everything."""
        if part == parts or parts == 1:
            return self
        rows = self.answers.dataset == part
        best = self.best[rows] if len(self.best) else self.best
        return _Pair(self.first, self.second, self.answers.of(rows), self.score[rows], best)

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
    """All pairs, and what the permutation test says of them."""

    ratings: CodedRatings
    outcome: str
    pairs: Sequence[_Pair]
    flips: SignFlips

    @staticmethod
    def of(ratings: CodedRatings, outcome: str, seed: int) -> "_Compared":
        answers, parts = answers_of(ratings), len(ratings.datasets)
        codes = combinations(range(len(ratings.generators)), 2)
        pairs = [_Pair.of(answers, first, second, ratings.scores[0]) for first, second in codes]
        family = len(pairs) * (parts + 1 if parts > 1 else 1)
        flips = sign_flip_test([pair.to_turn(outcome, parts) for pair in pairs], parts, family, seed)
        return _Compared(ratings, outcome, pairs, flips)

    def in_part(self, part: int, rows: CodedRatings) -> list[Comparison]:
        """Compare in one dataset, whose ratings are `rows`, or beyond the last dataset in all of them together."""
        parts = len(self.ratings.datasets)
        is_pooled = part == parts
        found = []
        for place, pair in enumerate(self.pairs):
            first, second = self.ratings.generators[pair.first], self.ratings.generators[pair.second]
            here = pair.in_part(part, parts)
            if is_pooled and self.ratings.pooling_problem:
                found.append(_not_compared(first, second, self.ratings.pooling_problem))
            elif len(here.score):
                # A drawn p-value is an estimate: it must not fall below what the dialogs can give.
                least = smallest_p_value(len(here.answers.clusters.sizes[0]))
                p_value = max(float(self.flips.p_values[place, part]), least)
                found.append(_paired(first, second, here, self.outcome, p_value, self.flips.floor))
            else:
                found.append(_unpaired(first, second, here, rows.by_generators, self.outcome))
        return found


def _paired(first: str, second: str, pair: _Pair, outcome: str, p_value: float, floor: float) -> Comparison:
    count, clusters = len(pair.score), pair.answers.clusters
    higher, lower = int((pair.score > 0).sum()), int((pair.score < 0).sum())
    wins = (np.sign(pair.score) + 1) / 2
    decisive = pair.differences(outcome)
    has_scores = pair.answers.pairs is None
    columns = [decisive, wins, *([pair.best, pair.score] if has_scores else [])]
    means = [float(column.mean()) for column in columns]
    influences = np.column_stack([(column - mean) / count for column, mean in zip(columns, means, strict=True)])
    spread = spread_of(influences, clusters)
    intervals = [interval_of(mean, spread, index) for index, mean in enumerate(means)]
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
        _decide(p_value, floor, means[0], spread, clusters, count),
    )


def _decide(p_value: float, floor: float, mean: float, spread: Spread, clusters: Clusters, count: int) -> PairTest:
    is_floor = p_value <= floor
    has_t = not spread.problem and spread.variance[0] > 0
    if not has_t:  # one worker, or all differences alike
        return PairTest(PERMUTATION, p_value, p_value, is_floor)
    other = t_p_value(mean, spread)
    if count > MOST_ANSWERS_TURNED:
        return PairTest(TWO_WAY_T, other, other)
    if effective_number(clusters.sizes[1]) < FEW_WORKERS:
        larger = max(p_value, other)
        return PairTest(LARGER_OF_BOTH, larger, larger, is_floor and other <= p_value)
    return PairTest(PERMUTATION, p_value, p_value, is_floor)


def _unpaired(first: str, second: str, pair: _Pair, rows: CodedRatings, outcome: str) -> Comparison:
    if rows.opponent is not None:
        return _not_compared(first, second, NOBODY_COMPARED_THEM)
    if outcome == WIN_RATE:
        return _not_compared(first, second, NOBODY_RATED_BOTH)
    both = rows_of_two(rows, pair.first, pair.second)
    is_first, clusters = both.generator == pair.first, Clusters.of_ratings(both)
    best = unpaired_difference((both.value == 0).astype(np.float64), is_first, clusters)
    score = unpaired_difference(both.score, is_first, clusters)
    decisive = best if outcome == SHARE_OF_BEST else score
    if isinstance(decisive, Undefined):
        return _not_compared(first, second, f"{NOBODY_RATED_BOTH}, and {decisive.reason}")
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
        superiority=Undefined(NOBODY_RATED_BOTH),
        test=test,
    )


def _not_compared(first: str, second: str, reason: str) -> Comparison:
    nothing = Undefined(reason)
    return Comparison(first, second, "not compared", True, 0, 0, 0, 0, nothing, nothing, nothing, nothing, nothing)


# --- Families and tables ---------------------------------------------------------------------------------------------


def _family_sizes(tables: Sequence[Sequence[Comparison]]) -> dict[bool, int]:
    """Count the tests of the primary family (True) and of the exploratory one (False)."""
    tested = [one.is_primary for pairs in tables for one in pairs if isinstance(one.test, PairTest)]
    return {True: sum(tested), False: len(tested) - sum(tested)}


def _corrected(tables: Sequence[Sequence[Comparison]]) -> list[list[Comparison]]:
    found = [list(pairs) for pairs in tables]
    for family in (True, False):
        tests = {
            (table, place): one.test
            for table, pairs in enumerate(found)
            for place, one in enumerate(pairs)
            if one.is_primary is family and isinstance(one.test, PairTest)
        }
        corrected = holm([test.p_value for test in tests.values()])
        for ((table, place), test), p_value in zip(tests.items(), corrected, strict=True):
            found[table][place] = replace(found[table][place], test=replace(test, corrected_p_value=p_value))
    return found


def _table(
    name: str | None, ratings: CodedRatings, pairs: Sequence[Comparison], outcome: str, families: dict[bool, int]
) -> Comparisons:
    rows = ratings.by_generators.from_both_sides
    effective = effective_number(np.bincount(rows.worker)) if len(rows) else 0.0
    warnings: list[str] = []
    if any(isinstance(one.test, PairTest) for one in pairs):
        warnings.append(few_workers_warning(effective, any(one.kind == "paired" for one in pairs)))
        family = min(families[one.is_primary] for one in pairs if isinstance(one.test, PairTest))
        if all(one.kind != "unpaired" for one in pairs):
            warnings.append(few_dialogs_warning(rows.dialog_count, family))
    is_pooled_in_vain = name is None and ratings.pooling_problem
    letters = _order(rows, outcome, ratings.pooling_problem) if is_pooled_in_vain else _letters(rows, pairs, outcome)
    told = tuple(warning for warning in warnings if warning)
    return Comparisons(name, tuple(pairs), letters, outcome, effective, told)


def _order(rows: CodedRatings, outcome: str, problem: str) -> tuple[Lettered, ...]:
    return tuple(Lettered(name, Undefined(problem), "") for name in _means(rows, outcome))


def _letters(rows: CodedRatings, pairs: Sequence[Comparison], outcome: str) -> tuple[Lettered, ...]:
    outcomes, scores = _means(rows, outcome), _means(rows, MEAN_SCORE)
    order = sorted(outcomes, key=lambda name: -outcomes[name])
    between = [one for one in pairs if one.first in outcomes and one.second in outcomes]
    letters = dict.fromkeys(order, "")
    if all(one.verdict != "not compared" for one in between):
        letters = letter_display(order, {(one.first, one.second) for one in between if one.is_different})
    # The mean of comparisons orders the models, but it is no score: it depends on which opponents each one met.
    nothing = Undefined(NOT_FOR_COMPARISONS)
    rated = [Lettered(name, scores[name] if rows.opponent is None else nothing, letters[name]) for name in order]
    unrated = [Lettered(name, Undefined(NO_RATING), "") for name in rows.generators if name not in outcomes]
    return (*rated, *unrated)


def _means(rows: CodedRatings, outcome: str) -> dict[str, float]:
    """Return the mean outcome of each generator that was rated. Win rates come from scores, whose sign says who won."""
    amounts = rows.score
    if outcome == SHARE_OF_BEST:
        amounts = (rows.value == 0).astype(np.float64)
    elif outcome == WIN_RATE and rows.opponent is not None:
        amounts = np.sign(rows.score)
    counts = np.bincount(rows.generator, minlength=len(rows.generators))
    sums = np.bincount(rows.generator, weights=amounts, minlength=len(rows.generators))
    return {
        name: float(total / count) for name, total, count in zip(rows.generators, sums, counts, strict=True) if count
    }
