"""Table 5: by hand, and coverage on simulated studies."""

import pytest

from hits.stats import HUMAN, Interval, Undefined, code_ratings, quick_rows, table_rows
from tests.hits.stats.small_frames import drawn_frame, ratings_frame_of, ratings_of

STUDIES = 60


def test_shares_are_of_the_ratings_of_a_dataset_and_generator() -> None:
    ratings = ratings_of({1: {"v": "gb", "w": "gb"}, 2: {"v": "go", "w": "b-"}})

    first, second = table_rows(ratings)

    assert not isinstance(first.shares, Undefined)
    assert not isinstance(second.shares, Undefined)
    assert [(one.value, one.count, one.share) for one in first.shares] == [
        ("good", 3, 0.75),
        ("okay", 0, 0),
        ("bad", 1, 0.25),
    ]
    assert [one.share for one in second.shares] == [0, pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert (first.ratings, first.dialogs, first.workers) == (4, 2, 2)


def test_intervals_lie_within_0_and_1_also_where_nobody_chose_the_value() -> None:
    [row] = table_rows(ratings_of({1: {"v": "g", "w": "g"}, 2: {"v": "g", "w": "g"}}))

    assert not isinstance(row.shares, Undefined)
    good, okay, _ = (share.interval for share in row.shares)
    # Clopper and Pearson for none of two: 1 - .025^(1/2).
    assert isinstance(okay, Interval)
    assert isinstance(good, Interval)
    assert (okay.low, okay.high) == pytest.approx((0, 1 - 0.025**0.5))
    assert (good.low, good.high) == pytest.approx((0.025**0.5, 1))


def test_without_ratings_and_with_one_worker_it_says_why() -> None:
    frame = ratings_frame_of({1: {"v": "g-"}, 2: {"v": "b-"}})

    first, second = quick_rows(code_ratings(frame))

    assert second.shares == Undefined("there is no rating")
    assert not isinstance(first.shares, Undefined)
    assert first.shares[0].interval == Undefined("all ratings are of one worker")


def test_draws_and_closed_form_give_about_the_same_interval() -> None:
    ratings = code_ratings(drawn_frame(seed=1))

    for drawn, closed in zip(table_rows(ratings), quick_rows(ratings), strict=True):
        assert not isinstance(drawn.shares, Undefined)
        assert not isinstance(closed.shares, Undefined)
        for one, other in zip(drawn.shares, closed.shares, strict=True):
            assert isinstance(one.interval, Interval)
            assert isinstance(other.interval, Interval)
            half = (other.interval.high - other.interval.low) / 2
            assert one.interval.low == pytest.approx(other.interval.low, abs=0.25 * half)
            assert one.interval.high == pytest.approx(other.interval.high, abs=0.25 * half)


def test_intervals_cover_the_truth_in_about_19_of_20_studies() -> None:
    """benchmarks.validity does it properly; this notices a broken formula."""
    covered = 0
    for seed in range(STUDIES):
        for row in quick_rows(code_ratings(drawn_frame(seed, dialogs=60))):
            assert not isinstance(row.shares, Undefined)
            for share, truth in zip(row.shares, (0.3, 0.3, 0.4), strict=True):
                assert isinstance(share.interval, Interval)
                covered += share.interval.low <= truth <= share.interval.high

    assert 0.90 < covered / (STUDIES * 6) < 0.99


def test_human_replies_are_no_generators() -> None:
    frame = drawn_frame(seed=1)

    ratings = code_ratings(frame)

    assert (ratings.generator == HUMAN).sum() == frame["is_gold"].sum() > 0
    assert sum(row.ratings for row in table_rows(ratings)) == (~frame["is_gold"]).sum()
