"""From ratings to results: of drawn studies, of ratings made elsewhere, of published ones, and by the command."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from evalplatform.errors import EvalPlatformError
from hits.analysing import (
    Results,
    analyse,
    analyse_study,
    import_ratings,
    make_pictures,
    report_as_text,
    report_of,
    results_as_json,
    results_from_json,
)
from hits.analysing.imported_ratings import read_ratings
from hits.analysing.serialising import plain
from hits.exporting.report_latex import latex_tables
from hits.models import Study, offering_for
from hits.screening import screen
from hits.stats import Estimate, Interval, PairTest, Plan, Undefined
from hits.views.result_sections import page_sections
from tests.hits.stats.small_frames import drawn_frame
from tests.hits.test_screening import hand_in


def screened_frame() -> pd.DataFrame:
    frame = drawn_frame(seed=1, A=(0.2, 0.3, 0.5), B=(0.5, 0.3, 0.2), C=(0.4, 0.3, 0.3))
    frame["label"] = pd.Categorical(np.where(frame["candidate"] % 2, "questioning", "agreeing"))
    frame["metric_length"] = np.sin(frame["candidate"])
    frame["excluded_by_hasty"] = frame["submission"] % 10 == 0
    frame["excluded_by_same_answer"] = frame["submission"] % 20 == 0
    return frame


@pytest.fixture(scope="module")
def results() -> Results:
    return analyse(screened_frame())


def test_everything_is_there(results: Results) -> None:
    assert (results.main.datasets, results.main.generators, results.main.values) == (
        ("ED",),
        ("A", "B", "C"),
        ("good", "okay", "bad"),
    )
    assert [row.generator for row in results.main.table] == ["A", "B", "C"]
    assert [one.generator for one in results.main.comparisons[0].letters] == ["B", "C", "A"]
    assert not isinstance(results.main.rankings[0].ranked, Undefined)
    assert not isinstance(results.main.true_values, Undefined)
    assert [one.generator for one in results.main.agreement] == [None, "A", "B", "C"]
    assert [one.generator for one in results.main.calibration] == [None, "A", "B", "C"]
    assert [one.factor for one in results.main.dependences] == ["place", "position", "day", "wave", "time"]
    assert [one.metric for one in results.main.metrics] == ["length"]
    assert len(results.main.labels) == 4 * 3


def test_what_rules_leave_out_does_not_count_and_is_shown_beside(results: Results) -> None:
    frame = screened_frame()
    kept = frame[~frame["excluded_by_hasty"] & ~frame["is_gold"]]
    variants = {one.name: one for one in results.main.variants}

    assert results.main.size.ratings == len(kept)
    assert list(variants) == ["all rules", "no rule", "without hasty", "without same_answer"]
    assert variants["no rule"].size.ratings == (~frame["is_gold"]).sum()
    assert variants["without hasty"].rules == ("same_answer",)
    assert variants["without same_answer"].size == results.main.size
    assert variants["all rules"].table == results.main.table


def test_the_human_reply_is_measured_on_work_that_no_rule_about_points_has_chosen() -> None:
    frame = screened_frame()
    is_low = frame["is_gold"] & (frame["value"] == "bad")
    frame["excluded_by_too_few_points"] = frame["submission"].isin(frame.loc[is_low, "submission"])

    main = analyse(frame).main

    counted = frame[frame["is_gold"] & ~frame["excluded_by_hasty"] & ~frame["excluded_by_same_answer"]]
    human = main.calibration[0]
    assert not isinstance(human.shares, Undefined)
    assert human.ratings == len(counted) > main.size.human_ratings
    assert human.shares[-1].share == pytest.approx((counted["value"] == "bad").mean())


def test_variants_show_verdicts_and_which_of_them_change() -> None:
    frame = drawn_frame(seed=1, dialogs=100, A=(0.3, 0.3, 0.4), B=(0.3, 0.3, 0.4))
    signed = frame["score"] * ((frame["generator"] == "B").astype(int) - (frame["generator"] == "A"))
    for_b = signed.groupby(frame["submission"]).transform("sum")
    frame["excluded_by_hasty"] = for_b > 0

    report = report_of(analyse(frame))

    [table] = report.criteria[0].section("variants").tables
    told = {row.head.names[0]: [cell.value for cell in table.cells(row, "verdicts", "changes")] for row in table.rows}
    assert told["all rules"] == ["1 of 1 pairs: A > B", "none"]
    assert told["no rule"] == ["0 of 1 pairs", "A and B: A better with all rules, not told apart"]
    assert "verdicts that change: A and B: A better" in "\n".join(report_as_text(report))


def test_the_plan_decides_what_is_primary_and_all_else_is_called_exploratory(results: Results) -> None:
    planned = report_of(analyse(screened_frame(), plan=Plan("share of best", (("B", "A"),))))

    [verdicts] = planned.criteria[0].section("comparisons").tables_of("comparisons")
    afters = {row.head.names: cell.after for row in verdicts.rows for cell in verdicts.cells(row, "verdict")}
    assert afters == {("A", "B"): "", ("A", "C"): " (exploratory)", ("B", "C"): " (exploratory)"}
    assert "(exploratory)" in "\n".join(report_as_text(planned))
    assert r"A -- C$\dagger$" in latex_tables(planned)["comparisons.tex"]
    assert "(exploratory)" not in "\n".join(report_as_text(report_of(results)))


def test_each_criterion_has_its_own_results_and_says_so_everywhere() -> None:
    frame = drawn_frame(seed=1, A=(0.2, 0.3, 0.5), B=(0.5, 0.3, 0.2))
    other = frame.assign(criterion="empathy", score=4 - frame["score"])
    both = pd.concat([frame.assign(criterion="fluency"), other], ignore_index=True)
    both["criterion"] = pd.Categorical(both["criterion"], categories=["fluency", "empathy"])

    results = results_from_json(results_as_json(analyse(both)))
    report = report_of(results)

    assert [one.criterion for one in results.criteria] == ["fluency", "empathy"]
    assert plain(replace(results.criteria[0], criterion="overall")) == plain(analyse(frame).main)
    assert "Criterion: empathy" in list(report_as_text(report))
    assert {"fluency-table5.tex", "empathy-table5.tex"} <= latex_tables(report).keys()
    assert {"fluency-shares", "empathy-shares"} <= {one.key for one in page_sections(report)}
    assert {"fluency-shares", "empathy-shares"} <= {one.name for one in make_pictures(results)}


def test_the_same_ratings_give_the_same_bytes_and_come_back(results: Results) -> None:
    text = results_as_json(results)

    assert results_as_json(analyse(screened_frame())) == text
    assert results_as_json(results_from_json(text)) == text
    assert "NaN" not in text


def test_other_names_for_workers_change_no_number(results: Results) -> None:
    frame = screened_frame()
    renamed = [f"P{place}" for place in reversed(range(len(frame["worker"].cat.categories)))]
    frame["worker"] = frame["worker"].cat.rename_categories(renamed).cat.reorder_categories(sorted(renamed))

    other = analyse(frame)

    assert (other.main.table, other.main.comparisons, other.main.agreement) == (
        results.main.table,
        results.main.comparisons,
        results.main.agreement,
    )


def test_a_study_without_ratings_has_results_that_say_so() -> None:
    nothing = analyse(screened_frame().iloc[:0])

    assert nothing.main.size.ratings == 0
    assert nothing.main.table[0].shares == Undefined("there is no rating")
    assert results_as_json(nothing)
    assert list(report_as_text(report_of(nothing)))


def test_a_few_ratings_are_described_without_failing() -> None:
    imported = read_ratings(["item,worker,generator,value\n", "1,w,A,good\n", "1,w,B,bad\n"], "few.csv")

    lines = "\n".join(report_as_text(report_of(analyse(imported.frame))))

    assert "undefined: no reply has ratings by two workers" in lines
    assert "nan" not in lines.lower().split()


def test_a_long_name_does_not_run_into_its_numbers(results: Results) -> None:
    named = replace(results.main.table[0], generator="the-longest-name")

    renamed = replace(results.main, table=(named, *results.main.table[1:]))
    lines = list(report_as_text(report_of(replace(results, criteria=(renamed,)))))

    assert any(re.match(r"    the-longest-name  0\.\d{4} \[", line) for line in lines)


def test_ratings_made_elsewhere_are_read_and_bad_lines_named() -> None:
    lines = [
        "Item,worker,generator,value,dataset",
        "1,w,A,3,ED",
        "1,w,B,,ED",
        "1,w,A,2,ED",
        "1,v,A,high,ED",
        "1,v,B,1,ED",
    ]

    imported = read_ratings([f"{line}\n" for line in lines], "ratings.csv")

    assert [str(problem) for problem in imported.problems] == [
        "line 3: has no value",
        "line 4: w rated A on 1 in line 2 already",
        "line 5: 'high' is neither a number nor one of good, okay, bad",
    ]
    assert imported.frame[["worker", "generator", "score"]].to_numpy().tolist() == [["w", "A", 3.0], ["v", "B", 1.0]]
    assert imported.frame["value"].cat.categories.tolist() == ["3", "1"]


def test_words_of_another_scale_have_their_order() -> None:
    lines = ["item,worker,generator,value\n", "1,w,A,Poor\n", "1,w,B,great\n"]

    frame = read_ratings(lines, "ratings.csv", ["great", "fair", "poor"]).frame

    assert frame["score"].tolist() == [1, 3]


def test_a_file_without_the_columns_says_which() -> None:
    with pytest.raises(EvalPlatformError, match="has no column worker and no column generator"):
        read_ratings(["item,value\n"], "ratings.csv")


def test_the_command_shows_ratings_made_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    frame = drawn_frame(seed=2)
    frame = frame[~frame["is_gold"]].rename(columns={"dialog": "item"})
    frame[["item", "worker", "generator", "value"]].to_csv(path, index=False)

    out = StringIO()
    call_command("show_results", "--ratings", str(path), stdout=out)
    as_json = StringIO()
    call_command("show_results", "--ratings", str(path), "--json", stdout=as_json)

    assert "Shares of the ratings" in out.getvalue()
    assert "Ranking" in out.getvalue()
    assert json.loads(as_json.getvalue())["criteria"][0]["size"]["ratings"] == len(frame)
    with pytest.raises(CommandError, match="either a study or a file"):
        call_command("show_results")


@pytest.mark.django_db
def test_a_studys_results_are_those_of_what_its_screening_keeps(demo_study: Study) -> None:
    hand_in(demo_study, "SAME", 0, lambda position, card: "good")
    for worker in ("FINE", "WELL"):
        for number in (0, 1):
            hand_in(demo_study, worker, number)
    everything = analyse_study(offering_for(demo_study, "local"))

    screen(offering_for(demo_study, "local"), datetime(2026, 11, 17, tzinfo=UTC))
    kept = analyse_study(offering_for(demo_study, "local"))

    assert everything.main.variants == ()
    assert (everything.main.size.workers, kept.main.size.workers) == (3, 2)
    variants = {one.name: one for one in kept.main.variants}
    assert {one.outcome for one in kept.main.comparisons} == {"share of best"}  # as the design says
    assert variants["no rule"].size == variants["without same_answer"].size == everything.main.size
    assert variants["without too_few_points"].size == kept.main.size
    out = StringIO()
    call_command("show_results", demo_study.name, stdout=out)
    assert "With and without rules of screening" in out.getvalue()


# --- Published figures -----------------------------------------------------------------------------------------------


def test_published_means_of_6000_ratings(shared_data: Path, tmp_path: Path) -> None:
    """Means 2.322, 2.556 and 2.577 of human, ChatGPT and ChatGPT told to be empathetic."""
    wide = pd.read_csv(shared_data / "ratings" / "llm_empathy_ratings.csv")
    generators = ("human", "chatgpt", "chatgpt_empathy")
    long = pd.concat(
        pd.DataFrame(
            {
                "item": wide.index,
                "worker": wide[f"annotator_{name}"],
                "generator": name,
                "value": wide[f"rating_{name}"],
            }
        )
        for name in generators
    )
    long.to_csv(tmp_path / "long.csv", index=False)

    results = analyse(import_ratings(tmp_path / "long.csv").frame)

    means = [row.mean_score for row in results.main.table]
    # The last is 2.5765 exactly.
    assert [one.value for one in means if isinstance(one, Estimate)] == pytest.approx([2.322, 2.556, 2.577], abs=5.1e-4)
    # Each reply was rated by another person, and the published headline holds: ChatGPT is above the human.
    [table] = results.main.comparisons
    by_pair = {(one.second, one.first): one for one in table.comparisons}
    one, other = by_pair["chatgpt", "human"], by_pair["chatgpt_empathy", "chatgpt"]
    assert isinstance(one.difference, Estimate)
    assert isinstance(one.difference.interval, Interval)
    assert isinstance(one.test, PairTest)
    assert isinstance(other.difference, Estimate)
    assert isinstance(other.difference.interval, Interval)
    ends = (-one.difference.value, -one.difference.interval.high, -one.difference.interval.low)
    assert ends == pytest.approx((0.2340, 0.1783, 0.2897), abs=1e-4)
    error = (ends[2] - ends[1]) / 2 / 1.9653  # t's quantile with several hundred degrees of freedom
    assert error == pytest.approx(0.0283, abs=5e-5)
    assert (one.kind, one.better) == ("unpaired", "chatgpt")
    assert one.test.p_value == pytest.approx(3e-15, rel=0.5)
    ends = (-other.difference.value, -other.difference.interval.high, -other.difference.interval.low)
    assert ends == pytest.approx((0.0205, -0.0349, 0.0759), abs=1e-4)
    assert other.verdict == "not told apart"
    assert {one.generator: one.letters for one in table.letters} == {
        "chatgpt_empathy": "a",
        "chatgpt": "a",
        "human": "b",
    }
    assert results.main.agreement[0].raw == Undefined("no reply has ratings by two workers")


@pytest.mark.parametrize(("name", "texts", "alpha"), [("context", 3, 0.445), ("fluency", 2, 0.516)])
def test_published_interval_alphas(shared_data: Path, name: str, texts: int, alpha: float) -> None:
    wide = pd.read_csv(shared_data / "ratings" / f"holistic_{name}_data_release.csv", header=None).iloc[:, texts:]
    lines = [
        f"{item},{worker},A,{value}\n" for item, row in enumerate(wide.to_numpy()) for worker, value in enumerate(row)
    ]

    results = analyse(read_ratings(["item,worker,generator,value\n", *lines], name).frame)

    found = results.main.agreement[0].alpha_interval
    assert isinstance(found, Estimate)
    assert round(found.value, 3) == alpha


def test_published_ordinal_alpha_is_very_low(shared_data: Path) -> None:
    replies = json.loads((shared_data / "ratings" / "grade_human_judgement.json").read_text())
    ed = [one for one in replies if one["Dataset"].lower().startswith("empathetic")]
    lines = [
        f"{one['ID']},{worker},{one['DialogModel']},{score}\n"
        for one in ed
        for worker, score in enumerate(json.loads(one["HumanScores"]))
    ]

    results = analyse(read_ratings(["item,worker,generator,value\n", *lines], "grade").frame)

    found = results.main.agreement[0].alpha_ordinal
    assert isinstance(found, Estimate)
    assert round(found.value, 2) == 0.03
