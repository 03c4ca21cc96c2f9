"""Which generator is better: by hand, against scipy and statsmodels, and on studies without a difference."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from hits.stats import Effects, Estimate, PairedTest, Undefined, code_ratings, compare_generators
from hits.stats.letters import letter_display
from hits.stats.sign_flips import Differences, holm, sign_flip_p_values
from tests.hits.stats.small_frames import drawn_frame, ratings_of

STUDIES = 60
Array = np.ndarray[Any, Any]


def p_value_of(dialog: Array, worker: Array, difference: Array) -> float:
    [[p_value, _]] = sign_flip_p_values([Differences(dialog, worker, np.zeros_like(dialog), difference)])
    return float(p_value)


def test_differences_and_superiority_by_hand() -> None:
    ratings = ratings_of({1: {"v": "gb", "w": "oo"}, 2: {"v": "ob", "w": "bg"}})

    [table] = compare_generators(ratings)

    [one] = table.comparisons
    assert (one.first, one.second, one.answers) == ("A", "B", 4)
    assert (one.first_higher, one.alike, one.second_higher) == (2, 1, 1)
    assert isinstance(one.difference, Estimate)
    assert isinstance(one.superiority, Estimate)
    assert one.difference.value == pytest.approx((2 + 0 + 1 - 2) / 4)
    assert one.superiority.value == pytest.approx((1 + 0.5 + 1 + 0) / 4)


def test_ten_dialogs_alike_are_2_of_1024_turns() -> None:
    dialog = np.arange(10)

    p_value = p_value_of(dialog, dialog, np.ones(10))

    assert p_value == pytest.approx(2 / 1024, abs=4 * (2 / 1024 / 5000) ** 0.5)


def test_with_one_worker_a_dialog_it_is_scipys_paired_permutation_test() -> None:
    difference = np.array([2, 1, 1, 0, -1, 2, 1, -1, 0, 1, 1, 2.0])
    theirs = permutation_test(
        (difference, -difference), lambda x, y: (x - y).sum(), permutation_type="samples", n_resamples=np.inf
    )

    dialog = np.arange(len(difference))
    ours = p_value_of(dialog, dialog, difference)

    assert ours == pytest.approx(theirs.pvalue, abs=0.01)


def test_four_workers_who_agree_are_no_more_evidence_than_their_dialogs() -> None:
    """Six dialogs, in each the same sign: as unlikely as six coins, whatever the number of workers."""
    dialog, worker = np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)

    p_value = p_value_of(dialog, worker, np.ones(24))

    assert p_value == pytest.approx(2 / 64, abs=0.01)


@pytest.mark.parametrize("effects", [Effects(), Effects(dialog=0.2, reply=0.3, worker=0.3)])
def test_without_a_difference_the_corrected_test_rarely_finds_one(effects: Effects) -> None:
    alike = (0.3, 0.3, 0.4)
    found = 0
    for seed in range(STUDIES):
        frame = drawn_frame(seed, dialogs=40, workers=12, effects=effects, A=alike, B=alike, C=alike)
        [table] = compare_generators(code_ratings(frame))
        found += any(one.is_different for one in table.comparisons)

    # 5 % of 60 are 3; more than 8 happen in one of 300 runs of a right test.
    assert found <= 8


def test_holm_is_that_of_statsmodels() -> None:
    p_values = [0.001, 0.04, 0.03, 0.2, 0.011, 0.9]

    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


def test_datasets_are_one_family_and_all_of_them_together_another() -> None:
    frame = drawn_frame(seed=2)
    frame["dataset"] = np.where(frame["dialog"] % 2, "ED", "OS")

    together, *single = compare_generators(code_ratings(frame))

    tests = [one.comparisons[0].signed_rank for one in (together, *single)]
    p_values = [one.p_value for one in tests if isinstance(one, PairedTest)]
    assert [one.dataset for one in (together, *single)] == [None, "ED", "OS"]
    corrected = [one.corrected_p_value for one in tests if isinstance(one, PairedTest)]
    assert corrected == pytest.approx([p_values[0], *holm(p_values[1:])])


def test_parts_tested_together_are_what_they_are_alone() -> None:
    frame = drawn_frame(seed=6)
    frame["dataset"] = np.where(frame["dialog"] % 2, "ED", "OS")

    _, ed, _ = compare_generators(code_ratings(frame))
    [alone] = compare_generators(code_ratings(frame[frame["dataset"] == "ED"]))

    one, other = ed.comparisons[0], alone.comparisons[0]
    assert (one.difference, one.superiority, one.answers) == (other.difference, other.superiority, other.answers)
    assert isinstance(one.permutation, PairedTest)
    assert isinstance(other.permutation, PairedTest)
    assert one.permutation.p_value == pytest.approx(other.permutation.p_value, abs=0.03)


def test_generators_that_nobody_rated_side_by_side_can_not_be_compared() -> None:
    [table] = compare_generators(ratings_of({1: {"v": "g-", "w": "-b"}, 2: {"v": "b-", "w": "-g"}}))

    assert table.comparisons[0].permutation == Undefined("no worker rated both in the same dialog")
    assert [one.letters for one in table.letters] == ["a", "a"]


def test_a_clear_difference_gives_letters_of_their_own() -> None:
    frame = drawn_frame(seed=3, A=(0.6, 0.2, 0.2), B=(0.2, 0.3, 0.5), C=(0.2, 0.3, 0.5))

    [table] = compare_generators(code_ratings(frame))

    assert [(one.generator, one.letters) for one in table.letters if one.generator == "A"] == [("A", "a")]
    assert {one.letters for one in table.letters if one.generator != "A"} == {"b"}


@pytest.mark.parametrize(
    ("different", "letters"),
    [
        ([], ["a", "a", "a", "a"]),
        ([("p", "s")], ["a", "ab", "ab", "b"]),
        ([("p", "r"), ("p", "s"), ("q", "s")], ["a", "ab", "bc", "c"]),
        ([(x, y) for x in "pqrs" for y in "pqrs" if x < y], ["a", "b", "c", "d"]),
    ],
)
def test_letters_are_shared_exactly_by_those_who_are_not_different(
    different: list[tuple[str, str]], letters: list[str]
) -> None:
    assert list(letter_display("pqrs", different).values()) == letters
