"""Tests which generator is better, by paired comparisons within the same worker and dialog.

For each pair of generators: the mean difference of their scores, and the probability of superiority

    P(first is rated higher) + P(both alike) / 2

(Grissom 1994; 1/2 is no difference), both with two-way cluster-robust intervals (hits.stats.clusters); a permutation
test (hits.stats.sign_flips), which decides, and beside it Wilcoxon's signed-rank test over the dialogs' mean
differences (Wilcoxon 1945, zeros as Pratt 1959 has them). Both are corrected by Holm over all pairs of all tables
that are made together. Generators that the corrected permutation test can't tell apart share a letter
(hits.stats.letters).

Where workers compared two replies, each comparison is one answer about the pair, and there is no difference of scores.

A worker puts A into good and B into bad in one dialog, both into okay in another: the difference is (2 + 0) / 2 = 1,
the superiority of A (1 + 1/2) / 2 = 3/4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from hits.stats.answers import Answers, answers_of
from hits.stats.clusters import estimate
from hits.stats.coded_ratings import NOT_FOR_COMPARISONS, CodedRatings
from hits.stats.estimates import Estimate, Undefined
from hits.stats.letters import letter_display
from hits.stats.outcomes import Comparison, Comparisons, Lettered, PairedTest
from hits.stats.sign_flips import Differences, holm, sign_flip_p_values
from hits.stats.signed_rank import signed_rank_p_value

NOBODY_RATED_BOTH = "no worker rated both in the same dialog"
NO_DIFFERENCE = "no worker rated them differently"


def compare_generators(ratings: CodedRatings, seed: int = 1) -> list[Comparisons]:
    """Compare in all datasets together if there are several, then in each. The tests over all datasets are one family,
    those in single datasets another."""
    datasets = ratings.datasets
    made = _compare(ratings, seed)
    single = _corrected([one for comparisons in made[:-1] for one in comparisons])
    count = math.comb(len(ratings.generators), 2)
    found = [
        Comparisons(
            name, tuple(own := single[code * count : (code + 1) * count]), _letters(ratings.in_dataset(code), own)
        )
        for code, name in enumerate(datasets)
    ]
    if len(datasets) == 1:
        return found
    together = _corrected(made[-1])
    return [Comparisons(None, tuple(together), _letters(ratings, together)), *found]


def _compare(ratings: CodedRatings, seed: int) -> list[list[Comparison]]:
    """Compare in each dataset, and then in all of them together."""
    answers, names, parts = answers_of(ratings), ratings.generators, len(ratings.datasets)
    pairs = [_Pair.of(answers, first, second) for first, second in combinations(range(len(names)), 2)]
    family = parts * len(pairs)
    p_values = sign_flip_p_values([pair.differences for pair in pairs], parts, family, seed)
    return [
        [_comparison(pair.in_part(part, parts), names, float(p_values[row, part])) for row, pair in enumerate(pairs)]
        for part in range(parts + 1)
    ]


@dataclass(frozen=True)
class _Pair:
    first: int
    second: int
    answers: Answers
    difference: np.ndarray[tuple[int], np.dtype[np.float64]]

    @staticmethod
    def of(answers: Answers, first: int, second: int) -> "_Pair":
        difference = answers.difference(first, second)
        has_both = ~np.isnan(difference)
        return _Pair(first, second, answers.of(has_both), difference[has_both])

    @property
    def differences(self) -> Differences:
        return Differences(self.answers.dialog, self.answers.worker, self.answers.dataset, self.difference)

    def in_part(self, part: int, parts: int) -> "_Pair":
        """Return one dataset's part; beyond the last dataset, return everything."""
        if part == parts or parts == 1:
            return self
        rows = self.answers.dataset == part
        return _Pair(self.first, self.second, self.answers.of(rows), self.difference[rows])


def _comparison(pair: _Pair, names: Sequence[str], p_value: float) -> Comparison:
    first, second = names[pair.first], names[pair.second]
    if not len(pair.difference):
        nothing = Undefined(NOBODY_RATED_BOTH)
        return Comparison(first, second, 0, 0, 0, 0, nothing, nothing, nothing, nothing)
    difference, count, clusters = pair.difference, len(pair.difference), pair.answers.clusters
    higher, lower = int((difference > 0).sum()), int((difference < 0).sum())
    mean = float(difference.mean())
    wins = (np.sign(difference) + 1) / 2
    superiority = float(wins.mean())
    return Comparison(
        first,
        second,
        count,
        higher,
        count - higher - lower,
        lower,
        _not_of_comparisons(pair, estimate(mean, (difference - mean) / count, clusters)),
        estimate(superiority, (wins - superiority) / count, clusters, 0, 1),
        PairedTest(p_value, p_value),
        _signed_rank(pair),
    )


def _not_of_comparisons(pair: _Pair, difference: Estimate) -> Estimate | Undefined:
    return difference if pair.answers.pairs is None else Undefined(NOT_FOR_COMPARISONS)


def _signed_rank(pair: _Pair) -> PairedTest | Undefined:
    counts = np.bincount(pair.answers.dialog)
    sums = np.bincount(pair.answers.dialog, weights=pair.difference)
    means = sums[counts > 0] / counts[counts > 0]
    if not means.any():
        return Undefined(NO_DIFFERENCE)
    p_value = signed_rank_p_value(means)
    return PairedTest(p_value, p_value)


def _corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    found = list(comparisons)
    for name in ("permutation", "signed_rank"):
        tests = {
            index: one
            for index, comparison in enumerate(found)
            if isinstance(one := getattr(comparison, name), PairedTest)
        }
        corrected = holm([one.p_value for one in tests.values()])
        for (index, one), p_value in zip(tests.items(), corrected, strict=True):
            changes: dict[str, Any] = {name: PairedTest(one.p_value, p_value)}
            found[index] = replace(found[index], **changes)
    return found


def _letters(ratings: CodedRatings, comparisons: Sequence[Comparison]) -> tuple[Lettered, ...]:
    rows = ratings.by_generators.from_both_sides
    counts = np.bincount(rows.generator, minlength=len(rows.generators))
    sums = np.bincount(rows.generator, weights=rows.score, minlength=len(rows.generators))
    means = {
        name: float(total / count) for name, total, count in zip(rows.generators, sums, counts, strict=True) if count
    }
    order = sorted(means, key=lambda name: -means[name])
    different = {(one.first, one.second) for one in comparisons if one.is_different}
    letters = letter_display(order, different)
    # The mean of comparisons orders the models, but it is no score: it depends on which opponents each one met.
    scores = {name: mean if rows.opponent is None else Undefined(NOT_FOR_COMPARISONS) for name, mean in means.items()}
    rated = [Lettered(name, scores[name], letters[name]) for name in order]
    unrated = [Lettered(name, Undefined("there is no rating"), "") for name in rows.generators if name not in means]
    return (*rated, *unrated)
