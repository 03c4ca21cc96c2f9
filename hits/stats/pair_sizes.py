"""Counts the dialogs and workers that a comparison of two generators rests on, and chooses how to compare them.

In: the ratings of a scope. Out: a `PairSize` for each pair, which tests, warnings and confidence sequences all read.
Guaranteed: the choice is made from who rated what, never from how, so that it can't favour a finding.

Two generators are compared within the same worker and dialog

- if at least half of the ratings of each of them stand side by side: that is the study's design; or
- if at least a quarter of the ratings of the one that has fewer do, by two workers or more, in enough dialogs for a
  finding: 2 / 2^n times the number of tests <= .05.

Otherwise they are compared by all their ratings (hits.stats.unpaired). A few ratings by people who also rated the other
generator must not replace hundreds by different raters: a test of 8 dialogs out of 150 told equal models apart in none
of 400 simulated studies, where 5 % is meant, so that it hardly finds anything. From a quarter on, a standard error at
most doubles, and what raters differ by is no part of the difference.

Both were rated 100 times by different people, and by two people side by side in 5 dialogs: all 110 ratings of each
count. If ten people rated both there, half of the ratings would stand side by side, and only those would count.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hits.stats.answers import Answers
from hits.stats.coded_ratings import CodedRatings
from hits.stats.outcomes import PairSize
from hits.stats.too_few import effective_number, no_finding_is_possible

MOST, PART = 1 / 2, 1 / 4  # of a generator's ratings
FEWEST_WORKERS = 2  # from one worker's differences, nothing can be said about others


@dataclass(frozen=True)
class PairSizes:
    """What was rated in a scope: in which dialogs each generator was rated, (generator, dialog), and how often by each
    worker, (generator, worker)."""

    dialogs: npt.NDArray[np.bool_]
    workers: npt.NDArray[np.int64]

    @staticmethod
    def of(ratings: CodedRatings) -> "PairSizes":
        rows, count = ratings.by_generators.from_both_sides, len(ratings.generators)
        shape = [int(codes.max(initial=-1)) + 1 for codes in (rows.dialog, rows.worker)]
        dialogs = np.zeros((count, shape[0]), bool)
        dialogs[rows.generator, rows.dialog] = True
        cells = rows.generator.astype(np.int64) * shape[1] + rows.worker
        workers = np.bincount(cells, minlength=count * shape[1]).reshape(count, shape[1])
        return PairSizes(dialogs, workers)

    @cached_property
    def _is_rated(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.dialogs.any(axis=1))

    def are_rated(self, first: int, second: int) -> bool:
        return bool(self._is_rated[first] and self._is_rated[second])

    def side_by_side(self, answers: Answers, first: int, second: int) -> PairSize:
        """Return the size of a comparison within `answers`, each of which rates both."""
        of_dialogs, of_workers = answers.clusters.sizes
        rated = self._count_rated(first, second)
        return PairSize(len(of_dialogs), effective_number(of_workers), len(of_dialogs), rated)

    def apart(self, first: int, second: int, side_by_side: int) -> PairSize:
        """Return the size of a comparison by all ratings of each: that of the generator with less."""
        dialogs = min(int(self.dialogs[code].sum()) for code in (first, second))
        workers = min(effective_number(self.workers[code]) for code in (first, second))
        return PairSize(dialogs, workers, side_by_side, self._count_rated(first, second))

    def can_be_paired(self, answers: Answers, first: int, second: int, family: int) -> bool:
        """Say whether the answers that rate both are enough. Replies that were compared can't be taken apart."""
        if answers.pairs is not None:
            return True
        fewer, more = sorted(int(self.workers[code].sum()) for code in (first, second))
        if len(answers.dialog) >= MOST * more:
            return True
        of_dialogs, of_workers = answers.clusters.sizes
        is_part = len(answers.dialog) >= PART * fewer and len(of_workers) >= FEWEST_WORKERS
        return is_part and not no_finding_is_possible(len(of_dialogs), family)

    def _count_rated(self, first: int, second: int) -> int:
        return int((self.dialogs[first] | self.dialogs[second]).sum())
