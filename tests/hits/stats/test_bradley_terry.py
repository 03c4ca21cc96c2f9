"""The ranking: by hand, against a general optimiser, and from simulated truth."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from hits.stats import Interval, Undefined, code_ratings, rank_generators
from hits.stats.bradley_terry import fit
from tests.hits.stats.small_frames import drawn_frame, ratings_of


def test_two_generators_by_hand() -> None:
    counts = np.zeros((2, 2, 3))
    counts[0, 1] = [30, 20, 10]

    strengths, log_ties = fit(counts)

    assert strengths[0] - strengths[1] == pytest.approx(math.log(3))
    assert math.exp(log_ties) == pytest.approx(20 / math.sqrt(30 * 10))


def test_many_generators_against_a_general_optimiser() -> None:
    rng = np.random.default_rng(1)
    counts = np.triu(rng.integers(1, 40, (3, 5, 5)), 1).transpose(1, 2, 0).astype(float)

    def loss(theta: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        total = 0.0
        for i, j in combinations(range(5), 2):
            w_i, w_j, v = np.exp(theta[i]), np.exp(theta[j]), np.exp(theta[5])
            parts = np.array([w_i, v * np.sqrt(w_i * w_j), w_j])
            total -= float(counts[i, j] @ np.log(parts / parts.sum()))
        return total

    theirs = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-7}).x
    strengths, log_ties = fit(counts)

    assert strengths == pytest.approx(theirs[:5] - theirs[:5].mean(), abs=1e-4)
    assert log_ties == pytest.approx(theirs[5], abs=1e-4)


def test_the_order_of_the_truth_is_recovered() -> None:
    frame = drawn_frame(1, dialogs=300, A=(0.2, 0.3, 0.5), B=(0.5, 0.3, 0.2), C=(0.35, 0.3, 0.35))

    ranking = rank_generators(code_ratings(frame), "ED")

    assert not isinstance(ranking.ranked, Undefined)
    assert [one.generator for one in ranking.ranked] == ["B", "C", "A"]
    assert sum(one.strength.value for one in ranking.ranked) == pytest.approx(0, abs=1e-9)
    assert sum(one.share_of_strength for one in ranking.ranked) == pytest.approx(1)


def test_intervals_are_those_of_a_bootstrap_over_dialogs_where_workers_do_not_repeat() -> None:
    rng = np.random.default_rng(2)
    letters = ["".join(rng.choice(list("gob"), 2, p=[0.5, 0.2, 0.3])) for _ in range(400)]
    ratings = ratings_of({number: {f"w{number}": word} for number, word in enumerate(letters)})
    first = [("gob".index(word[0]), "gob".index(word[1])) for word in letters]
    outcomes = np.array([0 if a < b else 1 if a == b else 2 for a, b in first])
    drawn = []
    for _ in range(600):
        counts = np.zeros((2, 2, 3))
        counts[0, 1] = np.bincount(rng.choice(outcomes, 400), minlength=3)
        drawn.append(fit(counts)[0][0])

    ranking = rank_generators(ratings, None)

    assert not isinstance(ranking.ranked, Undefined)
    [interval] = [one.strength.interval for one in ranking.ranked if one.generator == "A"]
    assert isinstance(interval, Interval)
    assert (interval.high - interval.low) / (2 * 1.96) == pytest.approx(np.std(drawn), rel=0.12)


def test_one_model_that_never_wins_leaves_the_others_their_strengths() -> None:
    frame = drawn_frame(2, A=(0.4, 0.3, 0.3), B=(0.5, 0.3, 0.2), C=(0.4, 0.3, 0.3))
    is_c = frame["generator"] == "C"
    is_low = ~is_c & (frame["score"] == 1)
    frame["value"] = frame["value"].mask(is_c, "bad").mask(is_low, "okay")
    frame["score"] = frame["score"].mask(is_c, 1).mask(is_low, 2)

    ranked = rank_generators(code_ratings(frame), "ED").ranked

    assert not isinstance(ranked, Undefined)
    assert [one.generator for one in ranked] == ["B", "A", "C"]
    assert -25 < ranked[-1].strength.value < -2


@pytest.mark.parametrize(
    ("dialogs", "reason"),
    [
        ({1: {"v": "gb"}, 2: {"w": "gb"}}, "no generator has both won and lost"),
        ({1: {"v": "gg"}, 2: {"w": "bb"}}, "no worker rated any two generators differently"),
        ({1: {"v": "g-"}, 2: {"w": "-b"}}, "no worker rated replies of two generators"),
    ],
)
def test_without_a_maximum_it_says_why(dialogs: dict[int, dict[str, str]], reason: str) -> None:
    ranked = rank_generators(ratings_of(dialogs), None).ranked

    assert isinstance(ranked, Undefined)
    assert ranked.reason.startswith(reason)
