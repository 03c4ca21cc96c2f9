"""Compares how the same generator was rated at two levels of something that raters brought along, such as an offering.

Each difference is between the means of all ratings at the one level and at the other, on the dialogs that were rated at
both: dialogs that only one of them had would look like a difference of raters. Raters and dialogs that the two have in
common are respected (hits.stats.unpaired). Nobody was assigned to a level by lot, and there are as many differences as
pairs of levels and generators, so they have intervals and no tests, and no correction: they are exploratory.

The example of hits.stats.unpaired, with A and B as levels: difference 1, variance .066667. A third dialog that only A's
raters had changes neither.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from hits.stats.clusters import Clusters
from hits.stats.coded_ratings import HUMAN, CodedRatings, Codes
from hits.stats.estimates import Undefined
from hits.stats.outcomes import LevelDifference
from hits.stats.slices import Levels
from hits.stats.unpaired import unpaired_difference

NO_COMMON_DIALOG = "no dialog was rated at both"


def level_differences(ratings: CodedRatings, levels: Levels, is_by_mean: bool = False) -> list[LevelDifference]:
    """Return the difference of each generator between each two levels: of the share of the best value, or of the mean
    score. Where replies were compared, it is the share of comparisons that the generator won."""
    codes, names = levels
    rows = ratings.from_both_sides
    level = np.concatenate([codes, codes]) if ratings.opponent is not None else codes
    return list(_differences(rows, level, names, is_by_mean))


def _differences(
    rows: CodedRatings, level: Codes, names: tuple[str, ...], is_by_mean: bool
) -> Iterator[LevelDifference]:
    present = [code for code in range(len(names)) if (level == code).any()]
    for first, second in combinations(present, 2):
        for generator, name in enumerate(rows.generators):
            is_wanted = (rows.generator == generator) & (rows.generator != HUMAN) & np.isin(level, (first, second))
            yield _difference(
                rows.of(is_wanted), level[is_wanted] == first, name, (names[first], names[second]), is_by_mean
            )


def _difference(
    rows: CodedRatings, is_first: npt.NDArray[np.bool_], generator: str, between: tuple[str, str], is_by_mean: bool
) -> LevelDifference:
    in_both = np.intersect1d(rows.dialog[is_first], rows.dialog[~is_first])
    if not len(in_both):
        return LevelDifference(generator, *between, 0, Undefined(NO_COMMON_DIALOG))
    is_common = np.isin(rows.dialog, in_both)
    rows, is_first = rows.of(is_common), is_first[is_common]
    outcome = rows.score if is_by_mean else (rows.value == 0).astype(np.float64)
    low, high = rows.score_ends if is_by_mean else (0.0, 1.0)
    found = unpaired_difference(outcome, is_first, Clusters.of_ratings(rows), high - low)
    return LevelDifference(generator, *between, len(in_both), found if isinstance(found, Undefined) else found.estimate)
