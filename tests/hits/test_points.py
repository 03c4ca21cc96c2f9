"""When a point is won, and what a worker reads about it."""

import pytest

from hits.models.design import CheckpointPart, StudyDesign
from hits.protocols import is_lost, is_won, protocol_of, wins_point
from hits.serving.bonus_words import bonus_rule, points_told
from tests.conftest import DEMO

FINAL, FIRST = CheckpointPart(counts="final"), CheckpointPart(counts="first check")


@pytest.mark.parametrize("final", [True, False])
def test_without_a_check_the_final_answer_decides_and_nothing_is_lost_beforehand(final: bool) -> None:
    assert is_won(FINAL, final, None) == is_won(FIRST, final, None) == final
    assert [is_lost(FIRST, first) for first in (None, True, False)] == [False, False, True]
    assert not is_lost(FINAL, False)


@pytest.mark.parametrize(
    ("final", "first", "by_final", "by_first"),
    [
        (True, True, True, True),
        (True, False, True, False),  # found by trial
        (False, True, False, False),  # moved away after it was won
        (False, False, False, False),
    ],
)
def test_a_point_needs_the_placement_that_counts_and_the_final_one(
    final: bool, first: bool, by_final: bool, by_first: bool
) -> None:
    assert (wins_point(FINAL, final, first), wins_point(FIRST, final, first)) == (by_final, by_first)


def test_the_human_reply_passes_in_a_passing_area_only() -> None:
    areas = {"0": "bad", "1": "okay", "2": "good"}

    assert [protocol_of(design()).passes({"areas": areas}, card) for card in range(4)] == [False, True, True, False]


@pytest.mark.parametrize(("final", "expected"), [("ggggg", False), ("gggbg", False), ("gogbg", True), ("bbbbb", True)])
def test_one_improved_reply_of_five_is_not_sorting_anew_and_two_are(final: str, expected: bool) -> None:
    checked, now = (dict(zip("01234", letters, strict=True)) for letters in ("ggggg", final))

    assert protocol_of(design()).is_redone({"areas": checked}, {"areas": now}) == expected


def design(**parts: object) -> StudyDesign:
    return StudyDesign.model_validate({**DEMO, **parts})


@pytest.mark.parametrize(
    ("checkpoints", "words"),
    [
        ({}, "What counts is where the replies are when you submit. Bonus Validate tells you"),
        ({"counts": "first check"}, "What counts is where the replies are when you first press Bonus Validate"),
        ({"feedback": "after submission"}, "when you submit. We tell you afterwards how many points you have won."),
    ],
)
def test_what_counts_is_said_before_the_first_check(checkpoints: dict[str, object], words: str) -> None:
    assert words in bonus_rule(protocol_of(design(checkpoints={**DEMO["checkpoints"], **checkpoints})), 3)


def test_points_are_told_in_words_that_fit_their_number() -> None:
    of_three = [points_told(design(), won, 3) for won in range(4)]
    of_one = [points_told(design(pay={"bonus_points": 1}), won, 1) for won in range(2)]

    kind = "The bonus needs 3; the reward is yours all the same."
    assert of_three == [
        f"You have won none of the 3 bonus points. {kind}",
        f"You have won 1 of the 3 bonus points. {kind}",
        f"You have won 2 of the 3 bonus points. {kind}",
        "You have won all 3 bonus points: we pay $0.10 on top.",
    ]
    assert of_one == [
        "You have not won the bonus point this time. The bonus needs 1; the reward is yours all the same.",
        "You have won the bonus point: we pay $0.10 on top.",
    ]
    assert bonus_rule(protocol_of(design(pay={"bonus_points": 1})), 1).startswith(
        "One of the conversations carries a bonus point"
    )
    assert bonus_rule(protocol_of(design(pay={"bonus_points": 1})), 1).endswith("Win it and we pay $0.10 on top.")
    assert points_told(design(pay={"bonus": "0"}), 2, 3) == "You have won 2 of the 3 bonus points."
    assert points_told(design(), 0, 0) == ""
