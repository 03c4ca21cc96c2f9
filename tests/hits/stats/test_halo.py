"""How criteria go together."""

import math

import numpy as np
import pandas as pd
import pytest

from hits.stats import Estimate, Interval, Undefined
from hits.stats.clusters import Clusters, spread_of
from hits.stats.halo import TOO_FEW, criteria_correlations, pearson


def frame_of(**scores: list[float]) -> pd.DataFrame:
    """By criterion: scores of the replies of two models in turn, each in a dialog and by a worker of its own."""
    return pd.concat(
        pd.DataFrame(
            {
                "worker": [f"w{at}" for at in range(len(some))],
                "dialog": range(len(some)),
                "generator": pd.Categorical(["A" if at % 2 else "B" for at in range(len(some))]),
                "criterion": name,
                "score": some,
            }
        )
        for name, some in scores.items()
    ).sample(frac=1, random_state=1)


def test_the_known_correlation_comes_both_ways_round() -> None:
    frame = frame_of(care=[1, 2, 3, 4, 5], wit=[2, 1, 4, 3, 5])

    found = criteria_correlations(frame, np.ones(len(frame), bool), ["care", "wit"])

    assert [(one.criterion, one.other, one.replies) for one in found] == [("care", "wit", 5), ("wit", "care", 5)]
    for one in found:
        assert isinstance(one.pearson, Estimate)
        assert one.pearson.value == pytest.approx(0.8)


def test_what_only_one_criterion_has_and_human_replies_do_not_count() -> None:
    frame = frame_of(care=[1, 2, 3, 4, 5, 1], wit=[2, 1, 4, 3, 5])
    human = frame.assign(generator=pd.Categorical([None] * len(frame), categories=["A", "B"]), score=1.0)
    both = pd.concat([frame, human])

    [found, _] = criteria_correlations(both, np.ones(len(both), bool), ["care", "wit"])

    assert found.replies == 5


def test_better_models_alone_are_no_halo() -> None:
    """Model A is better in both, and within a model there is nothing in common."""
    care, wit = [5, 1, 5, 1, 4, 2, 4, 2], [5, 1, 4, 2, 5, 1, 4, 2]
    frame = frame_of(care=[*map(float, care)], wit=[*map(float, wit)])

    [found, _] = criteria_correlations(frame, np.ones(len(frame), bool), ["care", "wit"])

    assert isinstance(found.pearson, Estimate)
    assert isinstance(found.within, Estimate)
    assert found.pearson.value > 0.8
    assert found.within.value == pytest.approx(0)


def test_of_independent_ratings_the_interval_is_about_fisher_s() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=600)
    y = 0.6 * x + 0.8 * rng.normal(size=600)
    each = np.arange(600)

    found = pearson(x, y, Clusters.of(each, each))

    assert isinstance(found, Estimate)
    assert isinstance(found.interval, Interval)
    half = (math.atanh(found.interval.high) - math.atanh(found.interval.low)) / 2
    assert half == pytest.approx(1.96 / math.sqrt(597), rel=0.12)
    assert found.value == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_where_nothing_varies_or_little_is_known_it_says_so() -> None:
    frame = frame_of(care=[1, 2], wit=[2, 1])
    same = frame_of(care=[3, 3, 3, 3], wit=[2, 1, 2, 1])

    assert criteria_correlations(frame, np.ones(len(frame), bool), ["care", "wit"])[0].pearson == Undefined(TOO_FEW)
    assert isinstance(criteria_correlations(same, np.ones(len(same), bool), ["care", "wit"])[0].pearson, Undefined)


def test_few_raters_widen_the_interval_as_if_they_were_half_as_many() -> None:
    """Twelve raters who rate everything: the truth about the raters is as uncertain as with half their freedom."""
    rng = np.random.default_rng(8)
    dialog, worker = (one.ravel() for one in np.indices((200, 12)))
    habit = rng.normal(size=12)[worker]
    x, y = (habit + 0.5 * rng.normal(size=2400) for _ in range(2))
    clusters = Clusters.of(dialog, worker)

    found = pearson(x, y, clusters)

    assert isinstance(found, Estimate)
    assert isinstance(found.interval, Interval)
    zx, zy = ((one - one.mean()) / one.std() for one in (x, y))
    influences = (zx * zy - found.value * (zx**2 + zy**2) / 2) / 2400
    [variance] = spread_of(influences, clusters).variance
    errors = (math.atanh(found.interval.high) - math.atanh(found.value)) * (1 - found.value**2) / math.sqrt(variance)
    assert errors == pytest.approx(2.50, abs=0.02)  # Student's t with 11 / 2 degrees of freedom; with 11, it is 2.20
