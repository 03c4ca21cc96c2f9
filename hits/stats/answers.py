"""Answers: a worker's scores of all generators' replies to one dialog, side by side."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from hits.stats.clusters import Clusters
from hits.stats.coded_ratings import CodedRatings, Codes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """A row for each answer; dialogs and workers are numbered from 0 without gaps. `scores` has a column for each
    generator, NaN where the answer does not rate it."""

    dialog: Codes
    worker: Codes
    dataset: Codes
    scores: Floats

    @property
    def clusters(self) -> Clusters:
        return Clusters(self.dialog, self.worker, np.arange(len(self.dialog)))

    def of(self, rows: npt.NDArray[np.bool_]) -> "Answers":
        return Answers(self.dialog[rows], self.worker[rows], self.dataset[rows], self.scores[rows])


def answers_of(ratings: CodedRatings) -> Answers:
    """
    Two ratings by one worker in one dialog, 3 for the first generator and 1 for the second, are one row [3, 1].
    """
    rows = ratings.by_generators
    answer, found = pd.factorize(rows.answer)
    scores = np.full((len(found), len(rows.generators)), np.nan)
    scores[answer, rows.generator] = rows.score
    first = np.zeros(len(found), np.int64)
    first[answer] = np.arange(len(answer))
    dialog, worker = (pd.factorize(codes[first])[0] for codes in (rows.dialog, rows.worker))
    return Answers(dialog, worker, rows.dataset[first], scores)
