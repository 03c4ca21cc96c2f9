"""Figure 5, and automatic metrics beside ratings: by hand, and against scipy."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from hits.stats import Estimate, Interval, Undefined, code_ratings, label_distributions, metric_correlations
from hits.stats.reply_labels import NO_LABEL
from tests.hits.stats.small_frames import drawn_frame, ratings_of


def test_labels_of_the_replies_rated_good_by_hand() -> None:
    ratings = ratings_of({1: {"v": "gb", "w": "gg"}, 2: {"v": "go", "w": "bo"}})
    # By rating: A is questioning in dialog 1 and agreeing in dialog 2, B has a label in dialog 1 only.
    label = np.array([0, 1, 0, 1, 1, NO_LABEL, 1, NO_LABEL])

    found = {
        (one.generator, one.value): one for one in label_distributions(ratings, label, ("questioning", "agreeing"))
    }

    good = found["A", "good"].labels
    assert not isinstance(good, Undefined)
    assert [(one.label, one.count) for one in good] == [("questioning", 2), ("agreeing", 1)]
    assert [one.share for one in good] == pytest.approx([2 / 3, 1 / 3])
    assert found[None, "good"].ratings == 4
    assert found["B", "okay"].labels == Undefined("no rated reply has a predicted emotion or intent")


def test_correlations_are_those_of_scipy() -> None:
    frame = drawn_frame(seed=1, A=(0.2, 0.3, 0.5), B=(0.4, 0.3, 0.3), C=(0.5, 0.3, 0.2))
    frame = frame[~frame["is_gold"]]
    metric = frame.groupby("candidate")["score"].transform("mean").to_numpy() + np.sin(frame["candidate"].to_numpy())
    by_reply = frame.assign(metric=metric).groupby("candidate")[["score", "metric"]].mean()

    [found] = metric_correlations(code_ratings(frame), {"sine": metric})

    assert isinstance(found.pearson, Estimate)
    assert isinstance(found.spearman, Estimate)
    assert found.pearson.value == pytest.approx(pearsonr(by_reply["metric"], by_reply["score"]).statistic)
    assert found.spearman.value == pytest.approx(spearmanr(by_reply["metric"], by_reply["score"]).statistic)
    assert isinstance(found.pearson.interval, Interval)
    theirs = pearsonr(by_reply["metric"], by_reply["score"]).confidence_interval()
    assert (found.pearson.interval.low, found.pearson.interval.high) == pytest.approx(tuple(theirs), abs=0.05)
    assert isinstance(found.of_generators, Estimate)
    assert found.of_generators.value > 0.9
    assert [one.generator for one in found.generators] == ["A", "B", "C"]


def test_a_metric_that_says_nothing_is_undefined() -> None:
    ratings = code_ratings(drawn_frame(seed=1))

    same, missing = metric_correlations(
        ratings, {"same": np.ones(len(ratings)), "missing": np.full(len(ratings), np.nan)}
    )

    assert same.pearson == Undefined("the metric is the same for all replies")
    assert missing.pearson == Undefined("fewer than 4 replies have the metric and ratings")
    assert missing.of_generators == Undefined("fewer than 3 generators have the metric and ratings")
