"""How much a pair's comparison rests on, and how it is compared: by who rated what, never by how."""

import numpy as np
import pandas as pd
import pytest

from hits.analysing import analyse, report_of
from hits.analysing.interim import sequences_of
from hits.stats import Comparison, Comparisons, Estimate, PairTest, Plan, Undefined, code_ratings, compare_generators
from tests.hits.stats.small_frames import ratings_frame_of

APART = 100  # dialogs in which A and B were rated by different people
SIX = "uvwxyz"  # people


def partly_overlapping(side_by_side: int, workers: str = "uv", has_c: bool = False) -> pd.DataFrame:
    """A is good in half of its dialogs and B in none, by different people; in the last dialogs, `workers` rated both,
    each time as good."""
    dialogs = {}
    for number in range(APART):
        raters = {f"a{number % 20}": "g-" if number % 2 else "o-", f"b{number % 19}": "-o" if number % 3 else "-b"}
        dialogs[number] = {worker: letters + "-" * has_c for worker, letters in raters.items()}
        if has_c:
            dialogs[number] |= {f"a{number % 20}": ("g-o" if number % 2 else "o-b")}
    for number in range(side_by_side):
        dialogs[APART + number] = dict.fromkeys(workers, "oo" + "-" * has_c)
    return ratings_frame_of(dialogs)


def pair_of(table: Comparisons, first: str = "A", second: str = "B") -> Comparison:
    return next(one for one in table.comparisons if (one.first, one.second) == (first, second))


@pytest.mark.parametrize("side_by_side", [0, 1, 5])
def test_a_few_ratings_side_by_side_do_not_replace_hundreds_by_different_raters(side_by_side: int) -> None:
    [table] = compare_generators(code_ratings(partly_overlapping(side_by_side)))

    one = pair_of(table)
    assert (one.kind, one.better, one.answers) == ("unpaired", "A", 0)
    assert (one.size.side_by_side, one.size.rated) == (side_by_side, APART + side_by_side)
    assert one.size.dialogs == APART + side_by_side


def test_a_quarter_of_the_ratings_side_by_side_is_compared_alone_if_a_finding_is_possible() -> None:
    """36 of 136 ratings, and 2 / 2^6 = .03125; in five dialogs it would be .0625."""
    [table] = compare_generators(code_ratings(partly_overlapping(6, SIX)))

    one = pair_of(table)
    assert (one.kind, one.size.dialogs, one.size.rated, one.answers) == ("paired", 6, 106, 36)
    assert one.size.effective_workers == pytest.approx(6)
    assert isinstance(one.difference, Estimate)
    assert one.difference.value == 0


def test_how_many_dialogs_are_enough_depends_on_the_family() -> None:
    """With three pairs, 3 * 2 / 2^6 = .094: all ratings count."""
    [table] = compare_generators(code_ratings(partly_overlapping(6, SIX, has_c=True)))

    assert [pair_of(table, *pair).kind for pair in ("AB", "AC")] == ["unpaired", "paired"]


def test_one_person_who_rated_both_does_not_speak_for_all() -> None:
    [table] = compare_generators(code_ratings(partly_overlapping(60, workers="u")))

    assert pair_of(table).kind == "unpaired"


def test_a_study_of_five_dialogs_is_compared_side_by_side_as_it_was_designed() -> None:
    frame = ratings_frame_of({dialog: {"u": "gb", "v": "ob", "w": "g-"} for dialog in range(5)})

    [table] = compare_generators(code_ratings(frame))

    one = pair_of(table)
    assert (one.kind, one.size.dialogs, one.verdict) == ("paired", 5, "not told apart")


def test_one_dialog_gives_no_verdict() -> None:
    [table] = compare_generators(code_ratings(ratings_frame_of({1: {"u": "gb", "v": "ob"}})))

    assert pair_of(table).test == Undefined("both were rated in one dialog only")
    assert [one.letters for one in table.letters] == ["", ""]


def test_the_choice_does_not_depend_on_what_was_rated() -> None:
    frame = partly_overlapping(6, SIX)
    rng = np.random.default_rng(1)

    for _ in range(5):
        score = rng.integers(1, 4, len(frame)).astype(float)
        words = pd.Series(score).map({3.0: "good", 2.0: "okay", 1.0: "bad"})
        drawn = frame.assign(score=score, value=pd.Categorical(words, categories=["good", "okay", "bad"]))
        [table] = compare_generators(code_ratings(drawn))
        assert pair_of(table).kind == "paired"


def test_the_report_says_which_way_a_pair_was_compared_and_why() -> None:
    few, part = (report_of(analyse(partly_overlapping(count, SIX))).criteria[0] for count in (5, 6))

    why = "A and B were rated side by side too rarely to be compared there (5 of 105 dialogs), so all their ratings"
    assert any(note.startswith(why) for note in few.section("comparisons").notes)
    assert any(caution.startswith(why) for caution in few.answers[0].cautions)
    why = "A and B were rated side by side in a part of their dialogs (6 of 106 dialogs), and only that part"
    assert any(note.startswith(why) for note in part.section("comparisons").notes)
    assert any(caution.startswith(why) for caution in part.answers[0].cautions)


# --- Warnings and sequences read the same numbers ---------------------------------------------------------------------


def test_a_warning_names_the_pair_that_it_is_about() -> None:
    """A and B stand side by side in 7 dialogs, by six people; A and C, B and C in 100, by twenty."""
    everywhere = {dialog: {f"a{dialog % 20}": "g-o", f"b{dialog % 19}": "-oo"} for dialog in range(100)}
    frame = ratings_frame_of({**everywhere, **{100 + dialog: dict.fromkeys(SIX, "gb-") for dialog in range(7)}})

    [table] = compare_generators(code_ratings(frame), plan=Plan(pairs=(("A", "B"),)))

    assert pair_of(table).size.dialogs == 7
    assert any(
        warning.startswith("A and B: The ratings are worth those of 6.0 workers who rate equally much. Below 10,")
        for warning in table.warnings
    )
    assert not any("C" in warning for warning in table.warnings)


def test_too_few_dialogs_of_one_pair_are_said_of_that_pair() -> None:
    """Replies were compared: A with B in five dialogs, the others in forty. Nothing else can be compared."""
    rows = [("A", "B", dialog) for dialog in range(5)]
    rows += [(one, "C", dialog) for one in "AB" for dialog in range(5, 45)]
    frame = pd.DataFrame(rows, columns=["generator", "opponent", "dialog"])
    frame["worker"] = frame["dialog"] % 12
    frame["dataset"] = "ED"
    frame["score"] = np.where(frame["dialog"] % 3, 1, -1)
    for name in ("generator", "opponent"):
        frame[name] = pd.Categorical(frame[name], categories=list("ABC"))
    words = pd.Series(frame["score"]).map({1: "better", -1: "worse"})
    frame["value"] = pd.Categorical(words, categories=["better", "worse"])

    [table] = compare_generators(code_ratings(frame))

    few = [warning for warning in table.warnings if "No difference can be found" in warning]
    assert few == [
        "A and B: No difference can be found with 5 dialogs: the smallest p-value that the test can give among 3 "
        "comparisons is 0.188."
    ]


def test_a_sequence_counts_the_dialogs_and_workers_of_its_own_pair() -> None:
    """A and B stand side by side in 15 dialogs, by six people: too early, though each was rated in a hundred."""
    everywhere = {
        dialog: {f"a{dialog % 20}": "gob"[dialog % 3] + "-o", f"b{dialog % 19}": "-ob"} for dialog in range(100)
    }
    frame = ratings_frame_of({**everywhere, **{100 + dialog: dict.fromkeys(SIX, "gb-") for dialog in range(15)}})
    plan = Plan(tau2=0.5)

    found = {(one.first, one.second): one for one in sequences_of(analyse(frame, plan=plan).main, plan)}

    assert found["A", "B"].low == Undefined("it takes 20 dialogs, and there are 15")
    assert isinstance(found["A", "C"].low, float)


def test_a_test_is_made_by_the_workers_of_its_own_pair() -> None:
    """Forty people rated A and C; only three of them rated B as well."""
    rng = np.random.default_rng(2)

    def letters() -> str:
        return "".join(rng.choice(list("gob"), 3))

    dialogs = {
        dialog: {f"w{worker}": letters()[0] + "-" + letters()[0] for worker in rng.choice(40, 4, replace=False)}
        | {f"b{worker}": letters() for worker in range(3)}
        for dialog in range(40)
    }

    [table] = compare_generators(code_ratings(ratings_frame_of(dialogs)))

    tests = {one.first + one.second: one.test for one in table.comparisons}
    assert isinstance(tests["AB"], PairTest)
    assert isinstance(tests["AC"], PairTest)
    assert tests["AB"].method == "larger of permutation and two-way t"
    assert tests["AC"].method == "permutation"
