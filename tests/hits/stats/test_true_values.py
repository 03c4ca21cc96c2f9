"""Dawid-Skene: by hand, against crowd-kit's numbers, and from simulated truth; majority and mean beside it."""

import numpy as np
import pytest

from hits.stats import Undefined, find_true_values
from hits.stats.dawid_skene import dawid_skene
from tests.hits.stats.small_frames import ratings_of

# Five replies, three workers, the last of whom turns good and bad round half the time.
SAID = ["ggb", "bbg", "ggg", "bbb", "gbg"]


def codes() -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]:
    cells = [
        (reply, worker, "gb".index(letter)) for reply, word in enumerate(SAID) for worker, letter in enumerate(word)
    ]
    reply, worker, value = np.array(cells).T
    return reply, worker, value


def test_two_steps_by_a_loop_over_the_formula() -> None:
    reply, worker, value = codes()
    posterior = np.array([[word.count("g") / 3, word.count("b") / 3] for word in SAID])
    for _ in range(2):
        prior = posterior.mean(axis=0)
        errors = np.zeros((3, 2, 2))
        for u, w, v in zip(reply, worker, value, strict=True):
            errors[w, :, v] += posterior[u]
        errors += np.ones((2, 2)) + np.eye(2)  # the prior
        errors /= errors.sum(axis=2, keepdims=True)
        weights = np.tile(prior, (5, 1))
        for u, w, v in zip(reply, worker, value, strict=True):
            weights[u] *= errors[w, :, v]
        posterior = weights / weights.sum(axis=1, keepdims=True)

    found = dawid_skene(reply, worker, value, 2, tolerance=-1, most_steps=2, is_extrapolating=False)

    assert found.posterior == pytest.approx(posterior, abs=1e-9)


def test_extrapolation_finds_the_same_maximum_in_fewer_steps() -> None:
    rng = np.random.default_rng(1)
    truth, skill = rng.integers(0, 3, 300), rng.uniform(0.5, 0.95, 12)
    reply = np.repeat(np.arange(300), 5)
    worker = np.concatenate([rng.choice(12, 5, replace=False) for _ in range(300)])
    is_right = rng.random(1500) < skill[worker]
    value = np.where(is_right, truth[reply], (truth[reply] + rng.integers(1, 3, 1500)) % 3)

    plain = dawid_skene(reply, worker, value, 3, tolerance=1e-13, most_steps=5000, is_extrapolating=False)
    fast = dawid_skene(reply, worker, value, 3, tolerance=1e-13, most_steps=5000)

    assert fast.is_converged
    assert fast.steps < plain.steps
    assert fast.posterior == pytest.approx(plain.posterior, abs=1e-3)
    assert (fast.posterior.argmax(axis=1) == truth).mean() > 0.9
    assert np.corrcoef(fast.reliability, skill)[0, 1] > 0.9


def test_who_always_agree_are_right() -> None:
    found = find_true_values(ratings_of({n: {"u": word, "v": word, "w": word} for n, word in enumerate("gob" * 4)}))

    assert not isinstance(found, Undefined)
    [row] = found.shares
    assert row.dawid_skene == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert [one.reliability for one in found.workers] == pytest.approx(
        [6 / 8] * 3, abs=0.02
    )  # with the prior's ratings


def test_majority_and_mean_by_hand() -> None:
    found = find_true_values(ratings_of({1: {"u": "g", "v": "g", "w": "b"}, 2: {"u": "b", "v": "o"}}))

    assert not isinstance(found, Undefined)
    [row] = found.shares
    assert row.majority == pytest.approx((0.5, 0.25, 0.25))
    assert row.mean_score == pytest.approx((7 / 3 + 1.5) / 2)
    assert [(one.worker, one.ratings) for one in found.workers] == [("u", 2), ("v", 2), ("w", 1)]


def test_single_ratings_say_nothing_about_truth() -> None:
    assert find_true_values(ratings_of({1: {"u": "g"}, 2: {"v": "b"}})) == Undefined(
        "no reply has ratings by two workers"
    )


def test_workers_of_one_rating_each_say_nothing_about_themselves() -> None:
    found = find_true_values(ratings_of({1: {"u": "g", "v": "g", "w": "b"}, 2: {"x": "g", "y": "b"}}))

    assert found == Undefined("no worker rated two replies")
