"""Puts what a worker said about all generators' replies to one dialog side by side, as one answer."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from hits.stats.clusters import Clusters
from hits.stats.coded_ratings import CodedRatings, Codes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """A row for each answer; dialogs and workers are numbered from 0 without gaps. `scores` has a column for each
    generator, NaN where the answer does not rate it. Where replies were compared, it has a column for each pair of
    generators instead: how far the first is above the second."""

    dialog: Codes
    worker: Codes
    dataset: Codes
    scores: Floats
    pairs: dict[tuple[int, int], int] | None = None  # the column of each pair, if replies were compared

    def difference(self, first: int, second: int) -> Floats:
        """Return how far each answer puts the first generator above the second; NaN if it says nothing about the
        two."""
        if self.pairs is None:
            return np.asarray(self.scores[:, first] - self.scores[:, second])
        return self.scores[:, self.pairs[first, second]]

    @property
    def clusters(self) -> Clusters:
        return Clusters(self.dialog, self.worker, np.arange(len(self.dialog)))

    def of(self, rows: npt.NDArray[np.bool_]) -> "Answers":
        if rows.all():
            return self
        return Answers(self.dialog[rows], self.worker[rows], self.dataset[rows], self.scores[rows], self.pairs)

    @property
    def without_scores(self) -> "Answers":
        """Return the answers without their scores, for a caller that has the differences of a pair already."""
        return Answers(self.dialog, self.worker, self.dataset, self.scores[:, :0], self.pairs)


def answers_of(ratings: CodedRatings) -> Answers:
    """Put the ratings of each answer into one row.

    Two ratings by one worker in one dialog, 3 for the first generator and 1 for the second, are one row [3, 1].
    """
    rows = ratings.by_generators
    answer, found = pd.factorize(rows.answer)
    pairs = None
    if rows.opponent is None:
        scores = np.full((len(found), len(rows.generators)), np.nan)
        scores[answer, rows.generator] = rows.score
    else:
        pairs = {pair: index for index, pair in enumerate(combinations(range(len(rows.generators)), 2))}
        columns = np.zeros((len(rows.generators),) * 2, np.int64)
        columns[np.triu_indices(len(columns), 1)] = np.arange(len(pairs))
        scores = np.full((len(found), len(pairs)), np.nan)
        scores[answer, columns[rows.generator, rows.opponent]] = rows.score
    first = np.zeros(len(found), np.int64)
    first[answer] = np.arange(len(answer))
    dialog, worker = (pd.factorize(codes[first])[0].astype(np.int32) for codes in (rows.dialog, rows.worker))
    return Answers(dialog, worker, rows.dataset[first], scores, pairs)
