"""LaTeX tables: nothing longer than a page, and captions that say what was tested and what was not planned."""

import re

import pandas as pd
import pytest

from hits.analysing import Progress, analyse, report_of, with_progress
from hits.analysing.results import Results
from hits.exporting.latex import MOST_LINES, table, table_side_by_side
from hits.exporting.report_latex import latex_tables
from hits.stats import Plan
from tests.hits.stats.small_frames import drawn_frame

PLAN = Plan("share of best", tau2=0.02)
INTERIM = Progress(collected=48, planned=240, is_complete=False)
MODELS: dict[str, tuple[float, ...]] = {
    f"model-{number:02}": (0.3 + 0.02 * number, 0.3, 0.4 - 0.02 * number) for number in range(12)
}


@pytest.fixture(scope="module")
def two_datasets() -> Results:
    return analyse(_in_two_datasets(MODELS), plan=PLAN)


def _in_two_datasets(models: dict[str, tuple[float, ...]]) -> pd.DataFrame:
    easy, hard = (drawn_frame(seed, 60, 24, None, **models) for seed in (1, 2))
    hard["dialog"] += 10_000
    frame = pd.concat([easy.assign(dataset="easy"), hard.assign(dataset="hard")], ignore_index=True)
    frame["value"] = frame["value"].astype(easy["value"].dtype)
    return frame


def test_no_table_is_longer_than_a_page(two_datasets: Results) -> None:
    made = latex_tables(report_of(two_datasets))

    rows = {name: [_lines_of(one) for one in _floats(text)] for name, text in made.items() if name != "all.tex"}
    assert all(count <= MOST_LINES + 4 for counts in rows.values() for count in counts), rows
    pairs = 3 * 12 * 11 // 2
    assert made["comparisons.tex"].count(" -- model-") == pairs, "every pair is there once"
    assert len(rows["comparisons.tex"]) == -(-pairs // MOST_LINES)
    assert r"Continued from Table~\ref{tab:comparisons}." in made["comparisons.tex"]
    assert r"\textit{easy (continued)}" in made["comparisons.tex"]
    labels = re.findall(r"\\label\{(.*?)\}", "".join(made.values()))
    assert len(labels) == len(set(labels))
    assert "longtable" not in "".join(made.values()), "it stops in two columns, as the templates have them"


def _floats(text: str) -> list[str]:
    return re.findall(r"\\begin\{table\}.*?\\end\{table\}", text, re.DOTALL)


def _lines_of(one: str) -> int:
    body = one.split(r"\toprule")[1].split(r"\bottomrule")[0]
    return sum(line.endswith(r"\\") for line in body.splitlines())


def test_a_heading_never_stands_alone_at_the_end_of_a_table() -> None:
    groups = [("first", [["row", "1"]] * (MOST_LINES - 4)), ("second", [["row", "2"]] * 5)]

    first, second = _floats(table("caption", "label", "lc", ["a", "b"], groups))

    assert "second" not in first
    assert r"\textit{second}} \\" in second


def test_blocks_side_by_side_are_split_over_pages_too() -> None:
    rows = [[f"m{number}", "1"] for number in range(30)]

    made = _floats(table_side_by_side("caption", "label", ["n"], [(["one"], rows), (["two"], rows)]))

    assert [("one" in part, "two" in part) for part in made] == [(True, False), (False, True)]


def test_letters_and_bold_type_within_datasets_are_called_exploratory(two_datasets: Results) -> None:
    made = latex_tables(report_of(two_datasets), "Study demo", "share of best")

    for name in ("table5.tex", "intervals.tex"):
        assert r"$\dagger$ Exploratory: the planned comparisons are not those within this dataset" in made[name]
        assert r"easy$\dagger$" in made[name]
    assert r"All datasets}" in made["intervals.tex"], "the planned one has no mark"


def test_planned_letters_have_no_mark() -> None:
    one = analyse(drawn_frame(seed=1, A=(0.7, 0.2, 0.1), B=(0.2, 0.2, 0.6)), plan=PLAN)

    made = latex_tables(report_of(one), "Study demo", "share of best")

    assert r"\dagger" not in made["table5.tex"] + made["intervals.tex"]
    assert r"\textbf{" in made["table5.tex"]
    assert "corrected test of the share of good" in made["table5.tex"]


def test_letters_of_the_mean_test_do_not_stand_at_shares() -> None:
    results = analyse(drawn_frame(seed=1, A=(0.7, 0.2, 0.1), B=(0.2, 0.2, 0.6)), plan=Plan("mean score"))

    made = latex_tables(report_of(results), "Study demo", "mean score")

    assert r"\mathrm" not in made["table5.tex"]
    assert r"\textbf" not in made["table5.tex"]
    assert "Models were tested by the mean score, whose letters are in intervals.tex" in made["table5.tex"]
    assert r"A$^{\mathrm{a}}$" in made["intervals.tex"]
    assert "corrected test of the mean score" in made["intervals.tex"]


def test_a_caption_does_not_call_different_raters_the_same() -> None:
    frame = drawn_frame(seed=1, A=(0.7, 0.2, 0.1), B=(0.2, 0.2, 0.6))
    frame = frame[frame["generator"].notna()].copy()
    frame["worker"] = frame["worker"].astype(str) + frame["generator"].astype(str)
    frame["dialog"] = frame["dialog"] * 2 + frame["generator"].cat.codes

    caption = latex_tables(report_of(analyse(frame, plan=PLAN)))["comparisons.tex"]

    assert "Comparisons of models that were rated by different raters" in caption
    assert not re.search("Paired|within the same worker|permutation", caption)


def test_interim_captions_claim_no_interval_that_is_not_there() -> None:
    frame = drawn_frame(seed=1, workers=6, A=(0.7, 0.2, 0.1), B=(0.2, 0.2, 0.6))
    interim = with_progress(analyse(frame, plan=PLAN), INTERIM, PLAN)

    made = latex_tables(report_of(interim))

    assert "None has a confidence sequence yet." in made["comparisons.tex"]
    assert "Brackets" not in made["comparisons.tex"]
    assert "interval" not in made["ranking.tex"]


def test_few_ratings_of_a_slice_are_counted_and_not_shown() -> None:
    frame = drawn_frame(seed=1, A=(0.7, 0.2, 0.1), B=(0.2, 0.2, 0.6))
    rare = frame["dialog"] == frame["dialog"].min()
    frame["emotion"] = pd.Categorical(["rare" if one else "usual" for one in rare])

    text = latex_tables(report_of(analyse(frame, plan=PLAN)))["slices.tex"]

    assert re.search(r"rare, A & -- & \d \\\\", text), text
    assert re.search(r"usual, A & \$", text)


def test_what_another_tool_calls_its_criteria_never_becomes_a_path() -> None:
    frame = drawn_frame(5, 12, 6, None, one=(0.5, 0.3, 0.2), other=(0.3, 0.3, 0.4))
    names = ["care", "../../wit & care"]
    both = pd.concat([frame.assign(criterion=pd.Categorical([name] * len(frame), names)) for name in names])

    made = latex_tables(report_of(analyse(both)))

    assert {"criterion-1-table5.tex", "criterion-2-table5.tex"} <= set(made)
    assert all(re.fullmatch(r"[\w-]+\.tex", name) for name in made), sorted(made)
    assert r"\label{tab:criterion-2-results}" in made["criterion-2-table5.tex"]
