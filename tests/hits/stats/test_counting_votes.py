"""Wins, losses and ties of a pair, as papers print A/B tests."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from hits.stats import Estimate, Interval, Undefined, count_votes
from hits.stats.counting_votes import NO_VERDICT, VOTES_ALONE, decide_by_four, sign_test, tally_verdicts
from hits.stats.vote_counts import Tally, share_of_differing
from tests.hits.stats.small_frames import ratings_of
from tests.hits.stats.test_compared_replies import compared


def ends(of: Estimate) -> list[float]:
    assert isinstance(of.interval, Interval)
    return [of.interval.low, of.interval.high]


def test_the_paper_s_row_of_128_verdicts() -> None:
    found = tally_verdicts(51, 30, 47)

    assert found.net.value == pytest.approx(0.1641, abs=5e-5)
    assert found.net_error == pytest.approx(0.0691, abs=5e-5)
    assert ends(found.net) == pytest.approx([0.0287, 0.2994], abs=6e-5)
    assert found.points == pytest.approx(0.5820, abs=5e-5)
    assert ends(found.win_share) == pytest.approx([0.3178, 0.4850], abs=5e-5)
    assert [round(100 * one.value, 2) for one in (found.win_share, found.loss_share, found.tie_share)] == [
        *(39.84, 23.44, 36.72),
    ]
    assert sign_test(51, 30) == pytest.approx(0.02565, abs=5e-6)


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (5, 5), (9, 2), (2, 9), (400, 460)])
def test_the_sign_test_is_the_exact_binomial_one(wins: int, losses: int) -> None:
    assert sign_test(wins, losses) == pytest.approx(binomtest(wins, wins + losses).pvalue)
    assert isinstance(sign_test(0, 0), Undefined)


def test_votes_become_verdicts_by_more_than_half() -> None:
    ratings = compared(
        *((1, worker, "A", "B", "win") for worker in "uvw"),  # unanimous
        *((2, worker, "A", "B", value) for worker, value in zip("uvw", ["win", "win", "loss"], strict=True)),
        *((3, worker, "A", "B", value) for worker, value in zip("uvw", ["win", "tie", "loss"], strict=True)),  # split
        *((4, worker, "A", "B", value) for worker, value in zip("uvw", ["tie", "tie", "loss"], strict=True)),
        *((5, worker, "B", "A", value) for worker, value in zip("uvw", ["win", "win", "tie"], strict=True)),
    )

    [found] = count_votes(ratings)

    assert (found.first, found.second, found.split, found.unanimous) == ("A", "B", 1, 1)
    assert isinstance(found.verdicts, Tally)
    assert (found.verdicts.wins, found.verdicts.losses, found.verdicts.ties) == (2, 1, 1)
    assert (found.votes.wins, found.votes.losses, found.votes.ties) == (6, 5, 4)
    assert found.votes.net.value == pytest.approx(1 / 15)
    assert found.sign_p == pytest.approx(1.0)
    back = found.turned
    assert (back.first, back.votes.wins) == ("B", 5)
    assert back.votes.net.value == pytest.approx(-1 / 15)
    assert back.turned == found


def test_votes_of_one_rater_each_have_the_interval_of_independent_items() -> None:
    """With a rater and a dialog for each vote, the two-way variance is the published one, up to its corrections."""
    said = ["win"] * 51 + ["loss"] * 30 + ["tie"] * 47
    ratings = compared(*((number, f"w{number}", "A", "B", value) for number, value in enumerate(said)))

    [found] = count_votes(ratings)

    assert found.votes.net_error == pytest.approx(0.0691, abs=0.0006)
    assert found.unanimous == 128
    assert isinstance(found.verdicts, Tally)
    assert found.verdicts.net.value == pytest.approx(found.votes.net.value)


def test_two_raters_who_differ_give_no_verdict_and_single_replies_no_votes() -> None:
    [found] = count_votes(compared((1, "v", "A", "B", "win"), (1, "w", "A", "B", "loss")))

    assert (found.split, found.verdicts, found.sign_p) == (1, Undefined(NO_VERDICT), Undefined(NO_VERDICT))
    assert count_votes(ratings_of({1: {"v": "go"}})) == []


def test_each_pair_stands_for_itself() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (dialog, f"w{worker}", first, second, str(rng.choice(["win", "tie", "loss"])))
        for dialog in range(20)
        for worker in range(3)
        for first, second in (("A", "B"), ("A", "C"), ("B", "C"))
    ]

    found = count_votes(compared(*rows))

    assert [(one.first, one.second, one.votes.count) for one in found] == [
        ("A", "B", 60),
        ("A", "C", 60),
        ("B", "C", 60),
    ]
    assert all(isinstance(one.verdicts, Tally) and one.verdicts.count + one.split == 20 for one in found)


def test_the_first_three_votes_decide_and_where_they_differ_the_fourth() -> None:
    said = {1: ["win", "loss", "win"], 2: ["win", "loss", "tie"], 3: ["loss", "tie", "win"], 4: ["win", "loss"]}
    late = {5: ["win", "tie", "loss", "tie"]}  # somebody was late, so that nobody else need be asked
    rows = [
        (item, f"{number}", "A", "B", value)
        for item, values in (said | late).items()
        for number, value in enumerate(values)
    ]
    asked = [(2, "x", "A", "B", "loss"), (1, "x", "A", "B", "loss")]  # of item 1, a vote was replaced since
    ratings = compared(*rows, *asked)
    is_fourth = np.arange(len(rows) + len(asked)) >= len(rows)

    [found] = count_votes(ratings.of(~is_fourth), "fourth vote", ratings.of(is_fourth))

    assert isinstance(found.verdicts, Tally)
    assert (found.verdicts.wins, found.verdicts.losses, found.verdicts.ties) == (1, 1, 1)
    assert (found.differing, found.split, found.votes.count) == (3, 2, len(rows))


def test_votes_amplify_to_the_verdicts_that_their_chances_give() -> None:
    """Votes of .4, .3, .3: all that four people can say, each weighed by its chance."""
    chances = {1.0: 0.4, -1.0: 0.3, 0.0: 0.3}
    every = list(product(chances, repeat=4))
    chance = np.array([math.prod(chances[one] for one in said) for said in every])
    items = np.repeat(np.arange(len(every)), 3)
    first = np.array([vote for said in every for vote in said[:3]])

    decided, differing = decide_by_four(
        items, first, np.arange(len(every)), np.array([said[3] for said in every]), len(every)
    )

    assert decided.sum(axis=0).tolist() == [1] * len(every)
    assert decided @ chance == pytest.approx([0.4384, 0.2808, 0.2808])
    assert 3 + differing @ chance == pytest.approx(3.216)
    assert share_of_differing(0.4, 0.3, 0.3) == pytest.approx(0.216)


def test_a_study_that_counts_votes_alone_has_no_verdicts() -> None:
    [found] = count_votes(compared(*((1, worker, "A", "B", "win") for worker in "uvw")), "all votes")

    assert (found.verdicts, found.sign_p, found.split) == (Undefined(VOTES_ALONE), Undefined(VOTES_ALONE), 0)
    assert found.votes.wins == 3
