"""The stopping rule by itself: known answers of its specification, and what it does about models that have lost."""

import pytest

from hits.stats import SequenceFinding, carry_on, rule_on, sequence_finding
from hits.stats.estimates import ALPHA, NORMAL_QUANTILE, Estimate, Interval
from hits.stats.sequence import half_width


def finding(first: str, second: str, difference: float, variance: float = 0.01) -> SequenceFinding:
    half = NORMAL_QUANTILE * variance**0.5
    estimate = Estimate(difference, Interval(difference - half, difference + half))
    return sequence_finding((first, second), estimate, 0.25, ALPHA / 3)


def test_of_three_differences_only_the_largest_is_decided() -> None:
    assert half_width(0.01, 0.25, ALPHA / 3) == pytest.approx(0.34503, abs=5e-6)

    decided = [
        finding("A", other, difference).decided for other, difference in zip("BCD", (0.40, 0.30, 0.10), strict=True)
    ]

    assert decided == ["different", "", ""]


def test_a_model_that_lost_is_dropped_and_its_open_pairs_are_given_up() -> None:
    ruling = rule_on([finding("A", "B", 0.4), finding("A", "C", 0.1), finding("B", "C", -0.2)], "ABC")

    assert ruling.dropped == (("B", "A"),)
    assert ruling.open_pairs == (("A", "C"),)
    assert not ruling.is_over


def test_the_reference_is_never_dropped_and_others_that_lost_to_it_are() -> None:
    findings = [finding("A", "B", -0.4), finding("A", "C", 0.4)]

    ruling = rule_on(findings, "ABC", reference="A")

    assert ruling.dropped == (("C", "A"),)
    assert ruling.living == ("A", "B")
    assert ruling.is_over


def test_without_dropping_every_pair_must_be_decided() -> None:
    findings = [finding("A", "B", 0.4), finding("A", "C", 0.4), finding("B", "C", 0.1)]

    assert rule_on(findings, "ABC", drops=False).open_pairs == (("B", "C"),)


def test_at_least_one_model_lives_whatever_is_found() -> None:
    ruling = rule_on([finding("A", "B", 0.4), finding("B", "C", 0.4), finding("A", "C", -0.4)], "ABC")

    assert len(ruling.living) >= 1
    assert ruling.is_over


def test_what_a_look_has_decided_stays_decided_and_the_largest_e_value_counts() -> None:
    before = carry_on((), [finding("A", "B", 0.4)])

    after = carry_on(before, [finding("A", "B", 0.2)])

    assert after == before
    undecided = carry_on(carry_on((), [finding("A", "B", 0.3)]), [finding("A", "B", 0.2)])
    assert undecided[0].estimate == pytest.approx(0.2)
    assert undecided[0].p_value == finding("A", "B", 0.3).p_value
