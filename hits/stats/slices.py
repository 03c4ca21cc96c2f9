"""Counts ratings in slices: by the dialog's emotion, by its number of turns, by its dataset.

Each slice has the same share of the best value, mean score and intervals as the main table (hits.stats.proportions),
from the ratings of that slice alone. Slices are looked at after the fact and are many, so there are no tests and no
letters: a reader sees how many ratings, dialogs and workers each number rests on. A model that was rated on other
datasets than the others in a slice has no share there, as in all datasets together.

Two ratings of dialogs labelled "angry", good and bad: the slice "angry" has a share of good of 1/2 and n = 2.
"""

from collections.abc import Mapping

import numpy as np

from hits.stats.coded_ratings import HUMAN, CodedRatings, Codes, pooling_problems_of
from hits.stats.estimates import Estimate, Undefined
from hits.stats.outcomes import Slice, Slices
from hits.stats.proportions import row_of

MOST_LEVELS = 40  # in a table that people read; those with the most ratings are shown

Levels = tuple[Codes, tuple[str, ...]]  # the code of each rating's level, -1 where it has none, and the levels' names


def slice_rows(ratings: CodedRatings, columns: Mapping[str, Levels]) -> list[Slices]:
    """Return the slices by each column; one with fewer than two levels has nothing to compare and is left out."""
    rows = ratings.from_both_sides
    found = []
    for by, (codes, names) in columns.items():
        level = np.concatenate([codes, codes]) if ratings.opponent is not None else codes
        counted = (rows.generator != HUMAN) & (level >= 0)
        sizes = np.bincount(level[counted], minlength=len(names))
        shown = np.sort(np.argsort(-sizes, kind="stable")[:MOST_LEVELS])
        shown = shown[sizes[shown] > 0]
        if len(shown) > 1:
            omitted = int(np.count_nonzero(sizes)) - len(shown)
            found.append(Slices(by, tuple(_slices(rows.of(counted), level[counted], names, shown)), omitted))
    return found


def _slices(rows: CodedRatings, level: Codes, names: tuple[str, ...], shown: Codes) -> list[Slice]:
    count = len(rows.generators)
    cells = level.astype(np.int32) * count + rows.generator
    problems = _problems(rows, cells, len(names))
    is_shown = np.isin(np.arange(len(names)), shown)
    return [
        _slice(names[cell // count], rows.generators[cell % count], part, problems[cell // count][cell % count])
        for cell, part in enumerate(rows.by_group(cells, len(names) * count))
        if is_shown[cell // count] and len(part)
    ]


def _problems(rows: CodedRatings, cells: Codes, levels: int) -> list[tuple[str, ...]]:
    """Return, for each level, which generators were rated there on other datasets than the others."""
    count, datasets = len(rows.generators), len(rows.datasets)
    if rows.opponent is not None:
        return [("",) * count] * levels
    counts = np.bincount(cells.astype(np.int64) * datasets + rows.dataset, minlength=levels * count * datasets)
    return [pooling_problems_of(one.T > 0) for one in counts.reshape(levels, count, datasets)]


def _slice(level: str, generator: str, part: CodedRatings, problem: str) -> Slice:
    row = row_of(part, None, generator, problem)
    share = row.shares if isinstance(row.shares, Undefined) else Estimate(row.shares[0].share, row.shares[0].interval)
    return Slice(level, generator, row.ratings, row.dialogs, row.workers, share, row.mean_score)
