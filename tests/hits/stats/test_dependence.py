"""What ratings depend on: by hand, against statsmodels, and on studies in which they depend on nothing or something."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from hits.stats import Dependence, Effects, Estimate, Interval, Undefined, code_ratings, dependences, worker_effect
from tests.hits.stats.small_frames import drawn_frame, ratings_frame_of, ratings_of


def found_in(frame: pd.DataFrame) -> dict[str, Dependence]:
    return {one.factor: one for one in dependences(frame, code_ratings(frame))}


def test_effects_of_two_places_by_hand() -> None:
    frame = ratings_frame_of({1: {"v": "g", "w": "o"}, 2: {"v": "o", "w": "g"}})
    frame["place"] = [0, 1, 1, 0]

    levels = found_in(frame)["place"].levels

    assert not isinstance(levels, Undefined)
    assert [level.effect.value for level in levels] == pytest.approx([0.5, -0.5])


def test_the_slope_is_that_of_statsmodels() -> None:
    frame = drawn_frame(seed=1)
    frame = frame[~frame["is_gold"]].copy()
    frame["log_time"] = np.log2(frame["active_ms"] / 1000)
    fit = smf.ols(
        "score ~ log_time + C(worker) + C(generator) * C(is_checkpoint)", frame.astype({"score": float})
    ).fit()

    slope = found_in(frame)["time"].slope

    assert isinstance(slope, Estimate)
    assert slope.value == pytest.approx(fit.params["log_time"])


def test_time_is_compared_within_workers_and_not_between_them() -> None:
    """Slow workers are strict here, but no worker is stricter where they take longer."""
    frame = drawn_frame(seed=5, dialogs=200, workers=20)
    codes = frame["worker"].cat.codes.to_numpy()
    frame["active_ms"] = frame["active_ms"] * (1 + codes)
    frame["score"] = frame["score"] - 0.2 * np.log2(1 + codes)

    time = found_in(frame)["time"]

    assert isinstance(time.slope, Estimate)
    assert abs(time.slope.value) < 0.05
    assert isinstance(time.p_value, float)
    assert time.p_value > 0.05


def test_a_slow_decline_over_the_positions_is_found_by_its_trend() -> None:
    frame = drawn_frame(seed=6, dialogs=200, workers=15)
    frame["score"] = frame["score"] - 0.06 * frame["position"]

    position = found_in(frame)["position"]

    assert isinstance(position.slope, Estimate)
    assert position.slope.value == pytest.approx(-0.06, abs=0.03)
    assert isinstance(position.p_value, float)
    assert position.p_value < 0.01


def test_level_effects_are_those_of_statsmodels() -> None:
    frame = drawn_frame(seed=2)
    frame = frame[~frame["is_gold"]].copy()
    fit = smf.ols("score ~ C(position) + C(generator) * C(is_checkpoint)", frame.astype({"score": float})).fit()

    levels = found_in(frame)["position"].levels

    assert not isinstance(levels, Undefined)
    effects = [level.effect.value for level in levels]
    assert effects[3] - effects[0] == pytest.approx(fit.params["C(position)[T.3]"])


def test_a_planted_effect_of_the_place_is_found_and_nothing_else() -> None:
    frame = drawn_frame(seed=3, dialogs=300, workers=40)
    frame["score"] = frame["score"] + 0.3 * (frame["place"] == 0)

    found = found_in(frame)

    place = found["place"]
    assert not isinstance(place.levels, Undefined)
    assert not isinstance(place.corrected_p_value, Undefined)
    assert place.corrected_p_value < 0.001
    first = place.levels[0].effect
    assert isinstance(first.interval, Interval)
    assert first.interval.low > 0
    for name in ("position", "day", "wave", "time"):
        p_value = found[name].corrected_p_value
        assert not isinstance(p_value, Undefined)
        assert p_value > 0.05, name


def test_columns_that_are_not_there_are_named() -> None:
    found = found_in(ratings_frame_of({1: {"v": "g", "w": "o"}}))

    assert found["place"].p_value == Undefined("the ratings do not say the place")
    assert found["time"].p_value == Undefined("the ratings do not say the time taken")


def test_workers_who_differ_by_hand() -> None:
    effect = worker_effect(ratings_of({1: {"v": "g", "w": "b"}, 2: {"v": "g", "w": "b"}}))

    assert isinstance(effect.deviation, Estimate)
    assert effect.deviation.value == pytest.approx(1)
    assert effect.share == pytest.approx(1)


def test_the_interval_of_the_deviation_between_workers_holds_it_with_few_and_uneven_workers() -> None:
    """A jackknife over workers held it in 45 % with three workers, and in 80 % with thirty."""
    true = worker_effect(code_ratings(drawn_frame(9, dialogs=6000, workers=1500))).deviation
    assert isinstance(true, Estimate)
    held = []
    for seed in range(120):
        found = worker_effect(code_ratings(drawn_frame(seed, dialogs=60, workers=5))).deviation
        assert isinstance(found, Estimate)
        assert isinstance(found.interval, Interval)
        held.append(found.interval.low <= true.value <= found.interval.high)

    assert np.mean(held) > 0.9


def test_the_deviation_between_workers_is_found_and_tested() -> None:
    none, some = (
        worker_effect(code_ratings(drawn_frame(4, dialogs=1500, workers=300, effects=Effects(0.1, 0.1, share))))
        for share in (0, 0.2)
    )

    assert not isinstance(none.p_value, Undefined)
    assert not isinstance(some.share, Undefined)
    assert none.p_value > 0.05
    assert some.p_value == pytest.approx(1 / 200)
    assert some.share == pytest.approx(0.2 * 0.8, abs=0.05)  # cutting a latent into three loses some of it
