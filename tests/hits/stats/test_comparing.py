"""Which generator is better: by hand, against scipy and statsmodels, and on studies without a difference."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from hits.stats import Effects, Estimate, Interval, PairTest, Plan, Undefined, code_ratings, compare_generators
from hits.stats.clusters import Clusters, difference_interval, spread_of
from hits.stats.letters import letter_display
from hits.stats.sign_flips import Differences, holm, sign_flip_test
from hits.stats.too_few import smallest_p_value
from hits.stats.unpaired import UnpairedDifference, unpaired_difference
from tests.hits.stats.small_frames import drawn_frame, ratings_of

STUDIES = 60
Array = np.ndarray[Any, Any]


def p_value_of(dialog: Array, worker: Array, difference: Array) -> float:
    [[p_value, _]] = sign_flip_test([Differences(dialog, worker, np.zeros_like(dialog), difference)]).p_values
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


def test_intervals_of_differences_stay_within_what_is_possible() -> None:
    rng = np.random.default_rng(1)
    worker, dialog = np.repeat(np.arange(2), 12), np.tile(np.arange(12), 2)
    clusters = Clusters.of(dialog, worker)
    win_rates = np.where(worker == 0, 1.0, rng.choice([-1.0, 1.0], 24))
    nearly_all = np.where((dialog == 0) & (worker == 1), 0.5, 1.0)

    spreads = {one.mean(): spread_of((one - one.mean()) / 24, clusters) for one in (win_rates, nearly_all)}
    [everything, cut] = [difference_interval(value, spread, 0, most=1.0) for value, spread in spreads.items()]

    assert everything == Undefined("it would hold every possible difference")
    assert isinstance(cut, Interval)
    assert 0 < cut.low < nearly_all.mean() < cut.high == 1
    frame = drawn_frame(seed=2, dialogs=12, workers=4, A=(0.97, 0.02, 0.01), B=(0.01, 0.02, 0.97))
    [pair] = compare_generators(code_ratings(frame), plan=Plan("mean score"))[0].comparisons
    for one, most in ((pair.difference, 2), (pair.score_difference, 2), (pair.best_difference, 1)):
        assert isinstance(one, Estimate)
        assert isinstance(one.interval, Undefined) or -most <= one.interval.low < one.interval.high <= most


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

    tests = [one.comparisons[0].test for one in (together, *single)]
    p_values = [one.p_value for one in tests if isinstance(one, PairTest)]
    assert [one.dataset for one in (together, *single)] == [None, "ED", "OS"]
    corrected = [one.corrected_p_value for one in tests if isinstance(one, PairTest)]
    assert corrected == pytest.approx([p_values[0], *holm(p_values[1:])])


def test_parts_tested_together_are_what_they_are_alone() -> None:
    frame = drawn_frame(seed=6)
    frame["dataset"] = np.where(frame["dialog"] % 2, "ED", "OS")

    _, ed, _ = compare_generators(code_ratings(frame))
    [alone] = compare_generators(code_ratings(frame[frame["dataset"] == "ED"]))

    one, other = ed.comparisons[0], alone.comparisons[0]
    assert (one.difference, one.superiority, one.answers) == (other.difference, other.superiority, other.answers)
    assert isinstance(one.test, PairTest)
    assert isinstance(other.test, PairTest)
    assert one.test.p_value == pytest.approx(other.test.p_value, abs=0.03)


def test_generators_that_nobody_rated_side_by_side_are_compared_by_different_raters() -> None:
    """The known answer: 1.0, variance .066667, 1.92 degrees of freedom."""
    ratings = ratings_of(
        {0: {"p": "g-", "q": "o-", "r": "-b", "s": "-o"}, 1: {"p": "g-", "q": "g-", "r": "-o", "s": "-o"}}
    )

    found = unpaired_difference(ratings.score, ratings.generator == 0, Clusters.of_ratings(ratings), 2.0)
    [table] = compare_generators(ratings)

    assert isinstance(found, UnpairedDifference)
    assert (found.value, found.spread.variance[0]) == pytest.approx((1.0, 0.0666667), abs=1e-6)
    assert found.spread.freedom[0] == pytest.approx(1.92, abs=1e-6)
    [one] = table.comparisons
    assert (one.kind, one.verdict, one.difference) == ("unpaired", "not told apart", found.estimate)
    assert [one.letters for one in table.letters] == ["a", "a"]


def test_what_can_not_be_tested_is_not_compared_and_gets_no_letters() -> None:
    """A and B were rated side by side; C was rated by one worker, alone, always as good."""
    [table] = compare_generators(
        ratings_of({1: {"v": "gb-", "w": "ob-"}, 2: {"v": "go-", "w": "bg-"}, 3: {"u": "--g"}})
    )
    alone = compare_generators(ratings_of({1: {"v": "g-"}, 2: {"v": "-b"}}))[0].comparisons[0]

    assert [one.kind for one in table.comparisons] == ["paired", "unpaired", "unpaired"]
    assert (alone.kind, alone.verdict, alone.is_different) == ("not compared", "not compared", False)
    assert alone.test == Undefined("no worker rated both in the same dialog, and all ratings are of one worker")
    assert [one.letters for one in compare_generators(ratings_of({1: {"v": "g-"}, 2: {"v": "-b"}}))[0].letters] == [
        "",
        "",
    ]


def test_the_test_decides_on_the_planned_outcome() -> None:
    """B has more of both ends: as often good as not, while the mean scores are the same."""
    frame = drawn_frame(seed=5, dialogs=200, A=(0.2, 0.6, 0.2), B=(0.45, 0.1, 0.45))

    [by_score], [by_best] = (
        compare_generators(code_ratings(frame), plan=Plan(one)) for one in ("mean score", "share of best")
    )

    one, other = by_score.comparisons[0], by_best.comparisons[0]
    assert (one.verdict, other.verdict, other.better) == ("not told apart", "different", "B")
    assert (one.difference, other.difference) == (one.score_difference, one.best_difference)
    assert isinstance(other.difference, Estimate)
    assert other.difference.value == pytest.approx(-0.25, abs=0.06)


def test_only_planned_pairs_are_primary_and_they_are_corrected_by_themselves() -> None:
    frame = drawn_frame(seed=3, A=(0.3, 0.3, 0.4), B=(0.35, 0.3, 0.35), C=(0.4, 0.3, 0.3))

    [table] = compare_generators(code_ratings(frame), plan=Plan(pairs=(("C", "A"),)))

    tests = {one.first + one.second: one.test for one in table.comparisons}
    assert {one.first + one.second for one in table.comparisons if one.is_primary} == {"AC"}
    assert isinstance(tests["AC"], PairTest)
    assert tests["AC"].corrected_p_value == tests["AC"].p_value
    others = [test for name, test in tests.items() if name != "AC" and isinstance(test, PairTest)]
    assert [one.corrected_p_value for one in others] == pytest.approx(holm([one.p_value for one in others]))


def test_three_raters_of_everything_are_warned_about_and_the_larger_p_value_counts() -> None:
    frame = drawn_frame(seed=4, dialogs=60, workers=4)

    [table] = compare_generators(code_ratings(frame[frame["worker"] != frame["worker"].cat.categories[0]]))

    [one] = table.comparisons
    assert isinstance(one.test, PairTest)
    assert one.test.method == "larger of permutation and two-way t"
    assert table.effective_workers == pytest.approx(3, abs=0.1)
    assert any("do not generalise to others" in warning for warning in table.warnings)


def test_of_three_raters_who_differ_the_t_test_speaks_though_all_their_dialogs_agree() -> None:
    """Forty dialogs by the same three raters, who see 2, 1 and no difference: t = 1 / (1 / sqrt(3)) with 2 degrees."""
    ratings = ratings_of({dialog: {"k": "gb", "l": "go", "m": "oo"} for dialog in range(40)})

    [table] = compare_generators(ratings)

    [one] = table.comparisons
    assert isinstance(one.test, PairTest)
    assert one.test.p_value == pytest.approx(0.225, abs=0.01)
    assert one.verdict == "not told apart"


def test_five_dialogs_can_not_show_anything_and_that_is_said() -> None:
    [table] = compare_generators(code_ratings(drawn_frame(seed=4, dialogs=5)))

    assert any(warning.startswith("No difference can be found with 5 dialogs") for warning in table.warnings)
    assert (smallest_p_value(5), smallest_p_value(6)) == (0.0625, 0.03125)


def test_drawn_p_values_never_fall_below_what_the_dialogs_can_give() -> None:
    ratings = ratings_of({dialog: dict.fromkeys("klmnopqrstuv", "gb") for dialog in range(5)})

    for seed in range(12):
        [table] = compare_generators(ratings, seed)
        [one] = table.comparisons
        assert isinstance(one.test, PairTest)
        assert one.test.p_value >= 0.0625


def test_a_p_value_that_no_draw_reaches_is_at_its_floor() -> None:
    [table] = compare_generators(code_ratings(drawn_frame(seed=3, dialogs=200, A=(0.6, 0.2, 0.2), B=(0.2, 0.3, 0.5))))

    assert isinstance(table.comparisons[0].test, PairTest)
    assert table.comparisons[0].test.is_floor


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
