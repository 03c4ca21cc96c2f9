"""Each rule on small frames made by hand: what it finds, what it leaves alone, and which facts it gives."""

import random
import re
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.frames import Frames, build_ratings, build_submissions
from hits.models.screening_rule import Finding, ScreeningRule
from hits.screening import PAGES_WITH_RULES, RULES, Counts, every_rule, find_flags, with_rule_tables
from hits.screening.attention_rules import (
    FirstAttemptFailures,
    Inattention,
    ManyAttempts,
    MovedAfterCheck,
    TooFastPerDialog,
)
from hits.screening.comparing_rules import Copies, DisagreementOnEasyItems
from hits.screening.control_rules import FailedAttentionChecks, SelfDisagreement
from hits.screening.funnel_counts import make_funnel
from hits.screening.paper_rules import HastyWithoutPoints, SameAnswer, TooFewPoints
from hits.screening.pattern_rules import PositionBias, StraightLines
from hits.screening.rules import apply_rules
from hits.stats import association_within_strata
from tests.conftest import ROOT
from tests.hits.frames import Work, frames_of

VARIED = ["gobg", "bgob", "ogbb", "bbgo", "gbog", "oggb", "bogo", "gboo", "obbg", "goob"]


def found(rule: ScreeningRule, *works: Work) -> dict[str, Finding]:
    return {finding.worker: finding for finding in apply_rules(frames_of(*works), [rule])[0]}


# --- The paper's -----------------------------------------------------------------------------------------------------


def test_the_same_answer_almost_always_is_found_at_the_share_and_not_below() -> None:
    at_the_share = ["gggg"] * 4 + ["gggb"]  # 19 of 20
    below = ["gggg"] * 3 + ["gggb", "oggg"]  # 18 of 20

    result = found(SameAnswer(counts="cards"), Work("A", at_the_share), Work("B", below), Work("C", VARIED))

    assert result == {"A": Finding("A", {"share": 0.95, "answer": "good", "cards": 20})}


def test_the_same_answer_is_asked_of_all_hits_of_a_worker_and_each_card_counts_once() -> None:
    one_bad_day = [Work("A", ["bbbb"] * 5, hit=0), Work("A", VARIED, hit=1)]
    twice_written = Work("B", ["bbbo"] * 5, merged=[0, 1, 2])  # by models 30 of 35 are bad, by cards 15 of 20
    two_dialogs = Work("C", ["gggg", "gggg"])

    assert found(SameAnswer(share=0.8, counts="cards"), *one_bad_day, twice_written, two_dialogs) == {}


def test_the_paper_s_answer_is_that_to_a_whole_dialog() -> None:
    """Of cards, B says "good" 76 times of 80 without giving 19 of 20 dialogs the same answer."""
    all_good_but_one = ["gggg"] * 19 + ["gogb"]
    a_card_now_and_then = ["gggg"] * 16 + ["gggb", "ggbg", "gbgg", "bggg"]
    works = [Work("A", all_good_but_one), Work("B", a_card_now_and_then), Work("C", VARIED)]

    assert found(SameAnswer(), *works) == {"A": Finding("A", {"share": 0.95, "answer": "all good", "dialogs": 20})}
    assert set(found(SameAnswer(counts="cards"), *works)) == {"A", "B"}


def test_the_same_pattern_on_the_page_is_the_same_answer_and_cards_that_are_all_alike_need_not_be_as_many() -> None:
    first_is_good = Work("A", ["gbb", "bgb", "bbg"] * 2, turned=[0, 2, 1] * 2)  # whichever model stands first
    of_models = Work("B", ["gbb"] * 6, turned=[0, 1, 2] * 2)
    three_or_four = Work("C", ["ggg", "gggg", "g"] * 2)

    result = found(SameAnswer(), first_is_good, of_models, three_or_four)

    assert {worker: one.evidence["answer"] for worker, one in result.items()} == {
        "A": "good, bad, bad",
        "C": "all good",
    }
    assert found(SameAnswer(), Work("D", ["gggg"] * 4)) == {}


@pytest.mark.parametrize(
    ("values", "said", "opponents", "answer"),
    [
        (("5", "4", "3", "2", "1"), 0, {}, "all 5"),  # the highest on every reply passes every checkpoint
        (("win", "tie", "loss"), 1, {"opponent": "model 1", "score": 0}, "both alike"),  # so do ties, where they may
    ],
)
def test_who_gives_the_answer_that_wins_everywhere_is_found(
    values: Sequence[str], said: int, opponents: dict[str, Any], answer: str
) -> None:
    rows = [(dialog, card) for dialog in range(6) for card in range(1 if opponents else 2)]
    dialogs, cards = [dialog for dialog, _ in rows], [card for _, card in rows]
    columns = {"dialog": dialogs, "card": cards, "value": [said] * len(rows)}
    one = {name: [column] * len(rows) for name, column in {"submission": 1, "worker": "A", **opponents}.items()}
    frames = Frames(build_ratings({**columns, **one}, values), build_submissions({"submission": [1], "worker": ["A"]}))

    assert [(found.worker, found.evidence["answer"]) for found in SameAnswer().find(frames)] == [("A", answer)]


def test_haste_and_too_few_points_must_meet_in_one_hit_and_then_the_worker_is_out() -> None:
    fast, slow = 299, 300
    works = [
        Work("both", VARIED, hit=1, points=1, work_seconds=fast),
        Work("both", VARIED, hit=2, points=3, work_seconds=slow),
        Work("apart", VARIED, hit=1, points=3, work_seconds=fast),
        Work("apart", VARIED, hit=2, points=1, work_seconds=slow),
        Work("enough", VARIED, points=2, work_seconds=fast),
    ]

    result = found(HastyWithoutPoints(), *works)

    evidence = {"minutes": 4.983, "points": 1, "hit": 2, "assignments": 1, "of": 2}
    assert result == {"both": Finding("both", evidence)}


def test_too_few_points_name_the_assignment_and_not_the_worker() -> None:
    findings = apply_rules(
        frames_of(Work("A", VARIED, hit=4, points=1), Work("A", VARIED, hit=5, points=2)), [TooFewPoints()]
    )[0]

    assert findings == [Finding("A", {"points": 1, "checkpoints": 3, "hit": 5}, submission=1)]


# --- Attention -------------------------------------------------------------------------------------------------------


def test_too_fast_is_who_hurries_through_most_dialogs() -> None:
    half = [4.0] * 5 + [60.0] * 5
    fewer = [4.0] * 4 + [60.0] * 6

    result = found(TooFastPerDialog(), Work("A", VARIED, seconds=half), Work("B", VARIED, seconds=fewer))

    assert result == {"A": Finding("A", {"share": 0.5, "dialogs": 10, "median_seconds": 32.0})}


def test_where_nothing_was_measured_the_marketplaces_time_is_spread_over_the_dialogs() -> None:
    unmeasured = [0.0] * 10

    result = found(
        TooFastPerDialog(),
        Work("A", VARIED, seconds=unmeasured, work_seconds=90),
        Work("B", VARIED, seconds=unmeasured, work_seconds=600),
    )

    assert result == {"A": Finding("A", {"share": 1.0, "dialogs": 10, "median_seconds": 9.0})}


def test_a_long_break_is_no_inattention_and_hidden_tabs_all_the_time_are() -> None:
    a_break = [1800.0] + [0.0] * 9
    elsewhere = [100.0] * 6 + [0.0] * 4

    result = found(
        Inattention(), Work("A", VARIED, hidden_seconds=elsewhere), Work("B", VARIED, hidden_seconds=a_break)
    )

    assert result == {"A": Finding("A", {"share": 0.6, "dialogs": 10, "hidden_share_of_time": 0.4})}


def test_points_that_took_several_attempts_are_first_attempt_failures() -> None:
    works = [
        Work("hunts", VARIED, hit=1, points=3, first_points=1, attempts=6),
        Work("hunts", VARIED, hit=2, points=3, first_points=2, attempts=5),
        Work("knows", VARIED, hit=1),
        Work("knows", VARIED, hit=2, first_points=1, attempts=5),
        Work("once", VARIED, hit=1, first_points=0),
    ]

    result = found(FirstAttemptFailures(checkpoints=6), *works)

    evidence = {"share": 0.5, "checkpoints": 6, "first_points": 3, "points": 6, "attempts": 11}
    assert result == {"hunts": Finding("hunts", evidence)}


def test_who_tries_until_it_is_green_makes_many_attempts() -> None:
    works = [
        Work("hunts", VARIED, hit=1, points=3, first_points=2, attempts=4),
        Work("hunts", VARIED, hit=2, points=3, first_points=2, attempts=4),
        Work("knows", VARIED, hit=1),
        Work("knows", VARIED, hit=2, first_points=2, attempts=4),
        Work("once", VARIED, hit=1, first_points=0, attempts=9),
    ]

    result = found(ManyAttempts(checkpoints=6), *works)

    evidence = {"attempts_each": 1.333, "checkpoints": 6, "first_points": 4, "points": 6, "attempts": 8}
    assert result == {"hunts": Finding("hunts", evidence)}


def test_who_sorts_anew_after_winning_in_half_of_their_won_checkpoints_moved_after_check() -> None:
    works = [
        Work("moves", VARIED, hit=1, passed_checks=2, moved_checks=2, points=1),
        Work("moves", VARIED, hit=2, passed_checks=2, moved_checks=0, points=2),
        Work("improves", VARIED, hit=1, moved_checks=1),
        Work("once", VARIED, hit=1, passed_checks=2, moved_checks=2),
        Work("never asks", VARIED, hit=1, passed_checks=0, attempts=0),
    ]

    result = found(MovedAfterCheck(), *works)

    evidence = {"share": 0.5, "moved_checks": 2, "passed_checks": 4, "points": 3}
    assert result == {"moves": Finding("moves", evidence)}


# --- Patterns --------------------------------------------------------------------------------------------------------


def test_straight_lines_may_change_their_area() -> None:
    lines = ["gggg", "bbbb", "oooo", "gggg", "bbbbb", "gooo", "b"]  # a dialog of one card is no line

    result = found(StraightLines(), Work("A", lines), Work("B", VARIED))

    assert result == {"A": Finding("A", {"share": 0.8333, "dialogs": 6})}


def test_areas_that_follow_the_place_are_found_and_one_area_for_all_is_not() -> None:
    by_place, turned = "gobb", [0, 1, 2, 3] * 5
    dialogs = ["".join(by_place[(card + turn) % 4] for card in range(4)) for turn in turned]

    result = found(
        PositionBias(),
        Work("A", dialogs, turned=turned),
        Work("B", VARIED * 2, turned=turned),
        Work("C", ["gggg"] * 20, turned=turned),
    )

    assert list(result) == ["A"]
    evidence = result["A"].evidence
    assert evidence["usual_areas"] == "good, okay, bad, bad"
    assert (evidence["strength"], evidence["cards"], evidence["workers_tested"]) == (1.0, 80, 3)
    assert evidence["p_value"] < 1e-6


def test_the_association_of_the_formulas_example() -> None:
    strata = np.repeat(np.arange(10), 2)
    places = np.tile([0, 1], 10)

    table = association_within_strata(np.zeros(20, int), strata, places, places)

    row = table.loc[0]
    assert (row["statistic"], row["freedom"], row["strength"]) == (pytest.approx(10), 1, pytest.approx(1))
    assert row["p_value"] == pytest.approx(0.0015654, rel=1e-4)


def test_the_association_agrees_with_all_permutations_within_dialogs() -> None:
    """Exact: every way to deal the areas of three dialogs, 6 x 6 x 6, with the mean and spread of each cell."""
    dialogs = [[0, 1, 2], [0, 0, 1], [2, 1, 0]]
    dealt = [
        np.array([*first, *second, *third])
        for first in permutations(dialogs[0])
        for second in permutations(dialogs[1])
        for third in permutations(dialogs[2])
    ]
    places, strata = np.tile([0, 1, 2], 3), np.repeat([0, 1, 2], 3)

    def statistic(areas: np.ndarray) -> float:
        return float(association_within_strata(np.zeros(9, int), strata, places, areas)["statistic"].iloc[0])

    tables = np.array([np.bincount(places * 3 + areas, minlength=9) for areas in dealt], float)
    away = tables - tables.mean(axis=0)
    covariance = away.T @ away / len(away)
    for number in (0, 17, 101):
        expected = away[number] @ np.linalg.pinv(covariance) @ away[number]
        assert statistic(dealt[number]) == pytest.approx(expected)


def test_by_chance_few_workers_seem_to_follow_the_place() -> None:
    rng = np.random.default_rng(1)
    workers, dialogs, cards = 400, 10, 4
    shape = workers * dialogs * cards

    table = association_within_strata(
        np.repeat(np.arange(workers), dialogs * cards),
        np.repeat(np.arange(workers * dialogs), cards),
        np.tile(np.arange(cards), workers * dialogs),
        rng.choice(3, shape, p=[0.3, 0.3, 0.4]),
    )

    assert 0.02 < (table["p_value"] < 0.05).mean() < 0.08


# --- Beside others ---------------------------------------------------------------------------------------------------


def test_disagreement_counts_only_where_all_others_agree_and_the_worker_is_left_out_of_them() -> None:
    agreed = ["gbog"] * 10
    split = ["gbog"] * 5 + ["bgbo"] * 5
    contrary = ["bgbb"] * 10

    result = found(
        DisagreementOnEasyItems(),
        *[Work(name, agreed) for name in ("A", "B", "C")],
        Work("D", contrary),
        Work("E", split, hit=1),
        Work("F", agreed, hit=1),
    )

    # A, B and C never have three others who agree, since D is one of them.
    assert list(result) == ["D"]
    evidence = result["D"].evidence
    assert (evidence["easy_cards"], evidence["disagreed"], evidence["share"]) == (40, 40, 1.0)


def test_copies_are_found_with_their_partner_and_agreement_by_chance_is_not() -> None:
    rng = random.Random(7)

    def opinions() -> list[str]:
        return ["".join(rng.choices("gob", k=4)) for _ in range(10)]

    original = opinions()
    copy = [*original[:9], original[9][:3] + ("g" if original[9][3] != "g" else "b")]

    result = found(
        Copies(),
        Work("A", original),
        Work("B", copy),
        *[Work(name, opinions()) for name in ("C", "D")],
        *[Work(name, ["gggg"] * 10) for name in ("E", "F")],
    )

    assert {name: finding.evidence["other"] for name, finding in result.items()} == {"A": "B", "B": "A"}
    evidence = result["A"].evidence
    assert (evidence["identical"], evidence["of"], evidence["similar_workers"]) == (39, 40, 1)
    assert evidence["p_value"] < 1e-6


# --- Attention checks and repeats ------------------------------------------------------------------------------------


def test_failed_attention_checks_are_added_up_over_a_worker_s_hits() -> None:
    failing = Work("A", VARIED, attention=(2, 1)), Work("A", VARIED, hit=1, attention=(2, 1))

    result = found(FailedAttentionChecks(), *failing, Work("B", VARIED, attention=(2, 1)), Work("C", VARIED))

    assert result == {"A": Finding("A", {"failed": 2, "attention_checks": 4})}


def test_disagreement_with_oneself_is_judged_from_enough_answers_on_and_below_the_share() -> None:
    result = found(
        SelfDisagreement(share=0.5, twice=8),
        Work("A", VARIED, twice=(8, 3)),
        Work("B", VARIED, twice=(8, 4)),
        Work("C", VARIED, twice=(7, 0)),
        Work("D", VARIED),
    )

    assert result == {"A": Finding("A", {"share": 0.375, "said_twice": 8, "said_alike": 3})}


# --- All of them -----------------------------------------------------------------------------------------------------

PAPER: list[ScreeningRule] = [SameAnswer(), HastyWithoutPoints(), TooFewPoints()]


def test_the_funnel_counts_an_assignment_at_the_first_rule_that_names_it() -> None:
    frames = frames_of(
        Work("same", ["gggg"] * 10, work_seconds=100, points=0),
        Work("hasty", VARIED, hit=1, work_seconds=100, points=1),
        Work("hasty", VARIED, hit=2),
        Work("unlucky", VARIED, hit=1, points=1),
        Work("unlucky", VARIED, hit=2, merged=[0]),
        Work("fine", VARIED),
    )

    funnel = make_funnel(frames, PAPER, apply_rules(frames, PAPER))

    def numbers(counts: Counts) -> tuple[int, ...]:
        return counts.workers, counts.assignments, counts.answers, counts.ratings

    assert numbers(funnel.received) == (4, 6, 60, 250)
    assert [(step.rule, *numbers(step.left_out), step.named_before) for step in funnel.steps] == [
        ("same_answer", 1, 1, 10, 40, 0),
        ("hasty_without_points", 1, 2, 20, 80, 1),
        ("too_few_points", 1, 1, 10, 40, 2),
    ]
    assert [numbers(step.left) for step in funnel.steps] == [(3, 5, 50, 210), (2, 3, 30, 130), (2, 2, 20, 90)]
    assert funnel.kept == funnel.steps[-1].left


@pytest.mark.parametrize("page", PAGES_WITH_RULES)
def test_the_tables_of_rules_in_the_docs_are_those_of_the_registry(page: str) -> None:
    text = (ROOT / page).read_text()

    assert text == with_rule_tables(text), "run manage.py write_rule_tables"


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_text_of_a_rule_says_what_it_leaves_out_and_names_its_settings(rule: type[ScreeningRule]) -> None:
    made = rule.model_validate({})

    assert rule.summary().startswith("Leaves out ")
    assert rule.summary().endswith(".")
    assert [name for name in made.parameters if f"`{name}`" not in " ".join(rule.paragraphs())] == []


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_methods_say_what_a_rule_excluded_in_words_and_with_its_settings(rule: type[ScreeningRule]) -> None:
    made = rule.model_validate({})
    text = made.excluded()

    assert re.match("(all work of|single assignments)", text)
    assert made.rule not in text
    assert "_" not in text
    shown = {
        name: [f"{value:g}", f"{100 * value:g}%", "all"] if isinstance(value, float) else [str(value)]
        for name, value in made.parameters.items()
    }
    assert [name for name, ways in shown.items() if not any(way in text for way in ways)] == []


def test_a_rule_is_named_in_its_own_file_only() -> None:
    """The registry has its class. So a new rule needs no change anywhere else."""
    names = re.compile(rf"""["']({"|".join(name for name in RULES if "_" in name)})["']""")  # not everyday words
    places = [path for path in sorted((ROOT / "hits").rglob("*.py")) if names.search(path.read_text())]

    assert {path.parent.name for path in places} == {"screening"}
    assert all(path.name.endswith("_rules.py") for path in places)


def test_flags_are_of_rules_that_are_not_named() -> None:
    frames = frames_of(Work("A", ["gggg"] * 10, points=0, first_points=0), Work("B", VARIED))

    flags = find_flags(frames, [SameAnswer()])

    assert {name: [finding.worker for finding in findings] for name, findings in flags.items()} == {
        "too_few_points": ["A"],
        "straight_lines": ["A"],
    }


DIALOGS = st.lists(st.text("gob", min_size=1, max_size=4), min_size=1, max_size=3)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.builds(Work, st.sampled_from("ABC"), DIALOGS, st.integers(0, 3), points=st.integers(0, 3))))
def test_no_rule_fails_on_any_work_and_what_is_left_out_and_kept_is_everything(works: list[Work]) -> None:
    frames = frames_of(Work("A", VARIED, hit=9), *works)
    every = every_rule()

    findings = apply_rules(frames, every)
    funnel = make_funnel(frames, every, findings)

    assert findings == apply_rules(frames, every)
    for name in ("assignments", "answers", "ratings"):
        left_out = sum(getattr(step.left_out, name) for step in funnel.steps)
        assert left_out + getattr(funnel.kept, name) == getattr(funnel.received, name)
