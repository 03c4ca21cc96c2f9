"""The stopping rule by itself: known answers of its specification, and what it does about models that have lost."""

import pandas as pd
import pytest

from hits.analysing import analyse
from hits.analysing.interim import sequences_of
from hits.stats import Plan, SequenceFinding, Undefined, carry_on, rule_on, sequence_finding
from hits.stats.estimates import ALPHA, NORMAL_QUANTILE, Estimate, Interval
from hits.stats.sequence import half_width
from tests.hits.stats.small_frames import drawn_frame


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


def test_dropping_takes_twice_the_evidence_that_deciding_takes() -> None:
    """Of alpha / 3, V' .01 and tau2 .25: decided from .34503 on, dropped from the width at half of that alpha on."""
    enough = half_width(0.01, 0.25, ALPHA / 6)
    assert enough == pytest.approx(0.36533, abs=5e-6)

    decided = rule_on([finding("A", "B", 0.35)], "AB")
    dropped = rule_on([finding("A", "B", enough + 1e-6)], "AB")

    assert (decided.dropped, decided.is_over) == ((), True)
    assert dropped.dropped == (("B", "A"),)


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


def test_an_open_pair_that_is_not_asked_about_any_more_is_given_up_and_a_decided_one_kept() -> None:
    before = carry_on((), [finding("A", "B", 0.4), finding("A", "C", 0.1)])

    assert carry_on(before, [finding("B", "C", 0.1)]) == (finding("B", "C", 0.1), finding("A", "B", 0.4))


# --- The family is fixed before anybody rates -------------------------------------------------------------------------

PLAN = Plan(is_pooled=True, tau2=0.05)
APART = {"A": (0.1, 0.2, 0.7), "B": (0.4, 0.3, 0.3), "C": (0.75, 0.15, 0.1)}
NEAR = {**APART, "B": (0.65, 0.2, 0.15)}


def rated(dataset: str, seed: int, dialogs: int, generators: str = "ABC") -> pd.DataFrame:
    frame = drawn_frame(seed, dialogs, min(dialogs, 60), None, **(NEAR if generators == "ABC" else APART))
    frame[["dialog", "submission"]] += seed * 1_000_000
    return frame.assign(dataset=dataset)[frame["generator"].isin(list(generators)).to_numpy()]


def together(*frames: pd.DataFrame) -> pd.DataFrame:
    frame = pd.concat(frames, ignore_index=True)
    frame["dataset"] = pd.Categorical(frame["dataset"], categories=["ED", "OS"])
    frame["generator"] = pd.Categorical(frame["generator"].astype(str), categories=list("ABC"))
    frame["value"] = pd.Categorical(frame["value"].astype(str), categories=["good", "okay", "bad"])
    return frame


def test_a_model_that_is_dropped_before_a_dataset_has_ratings_changes_no_family() -> None:
    """A is dropped while all ratings are of ED. Then eight dialogs of OS come, without A."""
    first = sequences_of(analyse(together(rated("ED", 1, 60)), plan=PLAN).main, PLAN)
    dropping = rule_on(first, "ABC")
    assert (dropping.dropped, dropping.open_pairs) == ((("A", "C"),), (("B", "C"),))

    later = together(rated("ED", 1, 60), rated("ED", 5, 400, "BC"), rated("OS", 2, 8, "BC"))
    second = sequences_of(analyse(later, plan=PLAN).main, PLAN)
    both = carry_on(first, second)

    assert [one.dataset for one in both] == [None] * 3
    assert rule_on(both, dropping.living).is_over


def test_living_models_are_compared_in_all_datasets_together_and_the_dropped_one_is_not() -> None:
    later = together(rated("ED", 1, 60), rated("OS", 2, 60, "BC"))

    main = analyse(later, plan=PLAN).main

    verdicts = {one.first + one.second: (one.verdict, one.is_primary) for one in main.comparisons[0].comparisons}
    assert verdicts == {
        "AB": ("not compared", True),
        "AC": ("not compared", True),
        "BC": ("different", True),
    }
    assert [(one.generator, one.letters) for one in main.comparisons[0].letters] == [("C", "a"), ("B", "b"), ("A", "")]
    shares = {row.generator: row.shares for row in main.table if row.dataset is None}
    assert isinstance(shares["A"], Undefined)
    assert not isinstance(shares["B"], Undefined)
    ranked = main.rankings[0].ranked
    assert not isinstance(ranked, Undefined)
    assert [one.generator for one in ranked] == ["C", "B"]
