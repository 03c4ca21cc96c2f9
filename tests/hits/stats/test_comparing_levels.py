"""Differences of one generator between two levels, such as offerings: by hand, and what they leave out."""

import numpy as np
import pytest

from hits.frames import build_ratings
from hits.stats import Estimate, Interval, Undefined, code_ratings, level_differences

LEVELS = ("pilot", "main")
# The example of hits.stats.unpaired, as (level, dialog, worker, score), with a dialog that only the pilot had.
SAID = [
    *[(0, 0, "w0", 3), (0, 1, "w0", 3), (0, 0, "w1", 2), (0, 1, "w1", 3)],
    *[(1, 0, "w2", 1), (1, 1, "w2", 2), (1, 0, "w3", 2), (1, 1, "w3", 2)],
    *[(0, 7, "w0", 1), (0, 7, "w1", 1)],
]


def differences(said: list[tuple[int, int, str, int]], is_by_mean: bool) -> list[Estimate | Undefined]:
    level, dialog, worker, score = (np.array(column) for column in zip(*said, strict=True))
    columns = {"submission": np.arange(len(said)), "worker": worker, "dialog": dialog, "card": 0 * dialog}
    ratings = code_ratings(build_ratings({**columns, "value": 3 - score}))
    found = level_differences(ratings, (level.astype(np.int64), LEVELS), is_by_mean)
    assert [(one.first, one.second, one.dialogs) for one in found] in ([("pilot", "main", 2)], [("pilot", "main", 0)])
    return [one.difference for one in found]


def test_a_difference_is_computed_on_the_dialogs_of_both_and_has_its_interval() -> None:
    [found] = differences(SAID, is_by_mean=True)

    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(1.0)
    assert isinstance(found.interval, Interval)
    # By Satterthwaite, t(1.92) = 4.458 deviations of sqrt(.066667); few raters make it wider, never narrower.
    assert found.value - found.interval.low >= 4.45 * 0.066667**0.5
    assert found.interval.high == 2, "no mean can be more than 2 above another on three values"


def test_without_points_it_is_the_share_of_the_best_value() -> None:
    [found] = differences(SAID, is_by_mean=False)

    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(3 / 4)


def test_levels_without_a_common_dialog_have_no_difference() -> None:
    apart = [(level, dialog + 10 * level, worker, score) for level, dialog, worker, score in SAID]

    assert differences(apart, is_by_mean=True) == [Undefined("no dialog was rated at both")]
