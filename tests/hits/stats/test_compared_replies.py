"""Two replies compared by workers: the same formulas, where they are defined."""

from dataclasses import replace

import numpy as np
import pytest

from hits.frames import build_ratings, categories_from_codes
from hits.stats import (
    CodedRatings,
    Estimate,
    Undefined,
    agreement,
    code_ratings,
    compare_generators,
    rank_generators,
    table_rows,
)
from hits.stats.coded_ratings import NOT_FOR_COMPARISONS

VALUES = ("win", "tie", "loss")
MODELS = ["A", "B", "C"]


def compared(*rows: tuple[int, str, str, str, str]) -> CodedRatings:
    """Dialog, worker, the model that was judged, its opponent, and what was said of the first."""
    dialogs, workers, models, opponents, values = (list(column) for column in zip(*rows, strict=True))
    places = [VALUES.index(value) for value in values]
    said = {"submission": 0, "worker": workers, "dialog": dialogs, "card": 0, "value": places}
    of_models = {
        "generator": categories_from_codes([MODELS.index(one) for one in models], MODELS),
        "opponent": categories_from_codes([MODELS.index(one) for one in opponents], MODELS),
    }
    frame = build_ratings({**said, "card": np.zeros(len(rows), int), **of_models}, VALUES)
    return code_ratings(frame.assign(score=1 - np.array(places)))


def test_the_same_comparison_from_either_side_is_the_same() -> None:
    one = compared((1, "v", "A", "B", "win"), (1, "w", "A", "B", "tie"))
    turned = compared((1, "v", "B", "A", "loss"), (1, "w", "A", "B", "tie"))

    assert one.value.tolist() == turned.value.tolist()
    assert one.score.tolist() == turned.score.tolist() == [1, 0]
    assert one.reply.tolist() == turned.reply.tolist() == [0, 0]


def test_shares_are_of_all_comparisons_that_a_model_took_part_in() -> None:
    ratings = compared((1, "v", "A", "B", "win"), (2, "v", "A", "C", "tie"), (3, "w", "B", "C", "loss"))

    rows = {row.generator: row for row in table_rows(ratings)}

    counts = {name: [one.count for one in row.shares] for name, row in rows.items() if isinstance(row.shares, tuple)}
    assert counts == {"A": [1, 1, 0], "B": [0, 0, 2], "C": [1, 1, 0]}
    assert rows["A"].mean_score == Undefined(NOT_FOR_COMPARISONS)


def test_strengths_follow_from_what_was_won() -> None:
    """Davidson: with 30 wins, 20 ties and 10 losses, w_1 / w_2 = 3 and v = 20 / sqrt(300)."""
    said = ["win"] * 30 + ["tie"] * 20 + ["loss"] * 10
    rows = [(number, f"w{number % 7}", "A", "B", value) for number, value in enumerate(said)]
    ratings = compared(*rows)
    two = replace(ratings, generators=("A", "B"))

    found = rank_generators(two, None)

    assert isinstance(found.ranked, tuple)
    assert [one.generator for one in found.ranked] == ["A", "B"]
    assert found.ranked[0].strength.value - found.ranked[1].strength.value == pytest.approx(np.log(3))
    assert found.tie_weight == pytest.approx(20.5 / np.sqrt(300))  # half a tie is added


def test_the_better_one_is_named_though_there_is_no_difference_of_scores() -> None:
    rows = [(number, f"w{number % 9}", "B", "A", "win" if number % 10 else "tie") for number in range(60)]

    pair, *others = compare_generators(compared(*rows))[0].comparisons

    assert (pair.first, pair.second, pair.better) == ("A", "B", "B")
    assert (pair.first_higher, pair.alike, pair.second_higher) == (0, 6, 54)
    assert isinstance(pair.superiority, Estimate)
    assert pair.superiority.value == pytest.approx(0.05)
    assert isinstance(pair.difference, Estimate)
    assert pair.difference.value == pytest.approx(-0.9)  # of the win rates, .05 and .95
    assert pair.score_difference == pair.best_difference == Undefined(NOT_FOR_COMPARISONS)
    assert {other.verdict for other in others} == {"not compared"}
    assert all(isinstance(other.superiority, Undefined) for other in others)


def test_workers_agree_on_the_same_two_replies() -> None:
    ratings = compared(
        (1, "v", "A", "B", "win"),
        (1, "w", "B", "A", "loss"),
        (2, "v", "A", "C", "win"),
        (2, "w", "A", "C", "loss"),
    )

    found = agreement(ratings)

    assert (found.replies, found.ratings) == (2, 4)
    assert isinstance(found.raw, Estimate)
    assert found.raw.value == 0.5
    assert found.alpha_interval == Undefined(NOT_FOR_COMPARISONS)


def test_scores_and_comparisons_do_not_mix() -> None:
    frame = build_ratings(
        {"submission": [1, 1], "worker": "w", "dialog": [1, 2], "card": [0, 0], "value": [0, 1],
         "generator": categories_from_codes([0, 0], MODELS), "opponent": categories_from_codes([1, -1], MODELS)},
    )  # fmt: skip

    with pytest.raises(ValueError, match="some are not"):
        code_ratings(frame)
