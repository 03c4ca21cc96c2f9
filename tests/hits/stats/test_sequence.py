"""The confidence sequence: known answers, when it decides, and that looking often finds nothing that is not there."""

import numpy as np
import pytest

from hits.stats import Estimate, Interval, Setting, Undefined, planned_variance
from hits.stats.estimates import NORMAL_QUANTILE
from hits.stats.sequence import (
    TAU_FACTOR,
    SequenceFinding,
    e_value,
    half_width,
    p_value_of,
    sequence_finding,
    too_early,
)

PAIR = ("A", "B")


def estimate(value: float, variance: float) -> Estimate:
    half = NORMAL_QUANTILE * variance**0.5
    return Estimate(value, Interval(value - half, value + half))


@pytest.mark.parametrize(
    ("variance", "tau2", "half"),
    [(0.01, 0.25, 0.31015), (0.01, 0.0821197, 0.30351), (0.04, 0.0821197, 0.65022), (0.0025, 0.0821197, 0.15655)],
)
def test_the_half_width_has_the_specified_value(variance: float, tau2: float, half: float) -> None:
    assert half_width(variance, tau2) == pytest.approx(half, abs=5e-6)


@pytest.mark.parametrize(("points", "times", "wider"), [(7, 9, 3.73053), (11, 25, 5.03787)])
def test_a_mean_on_a_longer_scale_has_the_same_width_at_the_planned_end_in_standard_errors(
    points: int, times: int, wider: float
) -> None:
    """With the mixture variance of three values, it would be wider: 3.73 or 5.04 standard errors instead of 3.04."""

    def variance_of(points: int) -> float:
        return planned_variance(Setting(200, 4, outcome="mean score", score_range=points - 1))

    variance, of_three = variance_of(points), variance_of(3)

    assert variance / of_three == pytest.approx(times, rel=0.004)  # rounded to three digits
    assert half_width(variance, TAU_FACTOR * variance) / variance**0.5 == pytest.approx(3.03512, abs=5e-6)
    assert half_width(variance, TAU_FACTOR * of_three) / variance**0.5 == pytest.approx(wider, rel=0.002)


def test_the_length_of_a_scale_says_nothing_of_shares_and_wins() -> None:
    for outcome in ("share of best", "win rate"):
        seven, three = (Setting(200, 4, outcome=outcome, score_range=length) for length in (6, 2))
        assert planned_variance(seven) == planned_variance(three)


def test_the_evidence_and_its_p_value_have_the_specified_values() -> None:
    evidence = e_value(0.35, 0.01, 0.25)

    assert evidence == pytest.approx(70.84, abs=0.005)
    assert p_value_of(evidence) == pytest.approx(0.01412, abs=5e-6)


def test_of_three_pairs_only_the_clear_one_is_decided() -> None:
    found = [sequence_finding(PAIR, estimate(theta, 0.01), 0.25, 0.05 / 3) for theta in (0.40, 0.30, 0.10)]

    assert [one.decided for one in found] == ["different", "", ""]
    assert isinstance(found[0].low, float)
    assert 0.40 - found[0].low == pytest.approx(0.34503, abs=5e-6)
    assert found[0].better == "A"


def test_a_pair_within_the_margin_is_called_equal_only_if_a_margin_was_planned() -> None:
    near = estimate(0.01, 0.0001)

    assert sequence_finding(PAIR, near, 0.001).decided == ""
    assert sequence_finding(PAIR, near, 0.001, equal_within=0.1).decided == "equal"
    assert sequence_finding(PAIR, near, 0.001, equal_within=0.02).decided == ""


def test_the_p_value_never_grows_from_look_to_look() -> None:
    later = sequence_finding(PAIR, estimate(0.0, 0.01), 0.25, largest_e=50.0)

    assert later.p_value == pytest.approx(1 / 50)


def test_very_strong_evidence_stays_a_number() -> None:
    found = sequence_finding(PAIR, estimate(100.0, 0.0001), 0.25)

    assert found.decided == "different"
    assert isinstance(found.e_value, float)
    assert np.isfinite(found.e_value)


def test_too_little_data_gives_no_interval_and_says_why() -> None:
    assert too_early(19, 40) == "it takes 20 dialogs, and there are 19"
    assert "10 equally busy workers" in too_early(100, 9.4)
    assert too_early(20, 10) == ""

    found = sequence_finding(PAIR, estimate(0.5, 0.0001), 0.25, problem=too_early(19, 40))

    assert found.estimate == 0.5
    assert isinstance(found.low, Undefined)
    assert found.decided == ""


def test_a_pair_that_was_not_compared_has_no_sequence() -> None:
    found = sequence_finding(PAIR, Undefined("no worker rated both"), 0.25)

    assert found == SequenceFinding(None, *PAIR, *(Undefined("no worker rated both"),) * 5, tau2=0.25)


def test_looking_at_every_step_rarely_finds_what_is_not_there() -> None:
    rng, studies, steps = np.random.default_rng(1), 400, 100
    walks = rng.standard_normal((studies, steps)).cumsum(axis=1) / np.arange(1, steps + 1)
    variances = 1 / np.arange(1, steps + 1)
    tau2 = 8.212 * variances[-1]
    halves = np.array([half_width(variance, tau2) for variance in variances])

    is_wrong = (np.abs(walks) > halves)[:, 9:].any(axis=1)

    assert is_wrong.mean() <= 0.05


def test_an_interval_that_is_cut_off_gives_the_same_sequence() -> None:
    whole, cut = (
        sequence_finding(("A", "B"), Estimate(0.9, Interval(0.7, high)), 0.02, dialogs=30) for high in (1.1, 1.0)
    )

    assert whole.low == pytest.approx(cut.low)
    assert whole.e_value == pytest.approx(cut.e_value)


def test_a_sequence_stays_within_what_is_possible_and_its_evidence_is_the_same() -> None:
    whole, cut = (sequence_finding(PAIR, estimate(0.8, 0.01), 0.25, most=most) for most in (2.0, 1.0))

    assert isinstance(whole.high, float)
    assert whole.high > 1
    assert (cut.low, cut.high) == (whole.low, 1.0)
    assert (cut.e_value, cut.decided) == (whole.e_value, "different")


def test_a_sequence_that_would_hold_every_possible_difference_is_none() -> None:
    found = sequence_finding(PAIR, estimate(0.1, 0.2), 0.25, most=1.0)

    assert found.low == found.high == Undefined("it would hold every possible difference")
    assert isinstance(found.p_value, float)
    assert found.decided == ""
