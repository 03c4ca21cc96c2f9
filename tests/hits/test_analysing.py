"""From ratings to results: of drawn studies, and by the command."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from hits.analysing import (
    Results,
    analyse,
    analyse_study,
    make_pictures,
    report_as_text,
    report_of,
    results_as_json,
    results_from_json,
)
from hits.analysing.serialising import plain
from hits.exporting.report_latex import latex_tables
from hits.models import Study, offering_for
from hits.screening import screen
from hits.stats import Plan, Undefined
from hits.views.result_sections import page_sections
from tests.hits.stats.small_frames import drawn_frame, rated_frame
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


def test_verdicts_of_variants_are_matched_by_the_models_names_whatever_their_order() -> None:
    """The best model comes last in the design, so that the page's order of pairs is not the design's."""
    frame = drawn_frame(seed=1, dialogs=100, A=(0.2, 0.3, 0.5), B=(0.35, 0.3, 0.35), C=(0.6, 0.2, 0.2))
    frame["excluded_by_hasty"] = frame["submission"] == frame["submission"].iloc[0]

    [table] = report_of(analyse(frame)).criteria[0].section("variants").tables

    told = {row.head.names[0]: [cell.value for cell in table.cells(row, "verdicts", "changes")] for row in table.rows}
    assert told["all rules"] == ["3 of 3 pairs: C > B, C > A, B > A", "none"]
    assert told["no rule"] == told["all rules"]


def test_variants_count_only_pairs_that_were_compared() -> None:
    """C was rated by one worker alone, always as good: it was compared with neither of the others."""
    frame = rated_frame(*[(f"d{dialog}", "v", generator, "good") for dialog in range(9) for generator in "AB"])
    alone = rated_frame(*[(f"e{dialog}", "v", "C", "good") for dialog in range(9)])
    both = pd.concat([frame, alone.assign(dialog=alone["dialog"] + 9)], ignore_index=True)
    both["generator"] = pd.Categorical(both["generator"])
    both["submission"], both["excluded_by_hasty"] = 1, False

    [table] = report_of(analyse(both)).criteria[0].section("variants").tables

    [verdict] = table.cells(table.rows[0], "verdicts")
    assert verdict.value == "0 of 1 compared pairs (2 not compared)"


def test_the_plan_decides_what_is_primary_and_all_else_is_called_exploratory(results: Results) -> None:
    planned = report_of(analyse(screened_frame(), plan=Plan("share of best", (("B", "A"),))))

    [verdicts] = planned.criteria[0].section("comparisons").tables_of("comparisons")
    afters = {row.head.names: cell.after for row in verdicts.rows for cell in verdicts.cells(row, "verdict")}
    assert afters == {("B", "A"): "", ("C", "A"): " (exploratory)", ("B", "C"): " (exploratory)"}
    assert "(exploratory)" in "\n".join(report_as_text(planned))
    assert r"C -- A$\dagger$" in latex_tables(planned)["comparisons.tex"]
    assert "(exploratory)" not in "\n".join(report_as_text(report_of(results)))


def test_each_criterion_has_its_own_results_and_says_so_everywhere() -> None:
    frame = drawn_frame(seed=1, A=(0.2, 0.3, 0.5), B=(0.5, 0.3, 0.2))
    other = frame.assign(criterion="empathy", score=4 - frame["score"])
    both = pd.concat([frame.assign(criterion="fluency"), other], ignore_index=True)
    both["criterion"] = pd.Categorical(both["criterion"], categories=["fluency", "empathy"])

    results = results_from_json(results_as_json(analyse(both)))
    report = report_of(results)

    assert [one.criterion for one in results.criteria] == ["fluency", "empathy"]
    assert [one.other for one in results.criteria[0].halo] == ["empathy"]
    assert plain(replace(results.criteria[0], criterion="overall", halo=())) == plain(analyse(frame).main)
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
    few = rated_frame(("1", "w", "A", "good"), ("1", "w", "B", "bad"))

    lines = "\n".join(report_as_text(report_of(analyse(few))))

    assert "undefined: no reply has ratings by two workers" in lines
    assert "nan" not in lines.lower().split()


def test_a_long_name_does_not_run_into_its_numbers(results: Results) -> None:
    named = replace(results.main.table[0], generator="the-longest-name")

    renamed = replace(results.main, table=(named, *results.main.table[1:]))
    lines = list(report_as_text(report_of(replace(results, criteria=(renamed,)))))

    assert any(re.match(r"    the-longest-name  0\.\d{4} \[", line) for line in lines)


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


def test_slices_do_not_compare_models_that_were_rated_on_different_datasets() -> None:
    easy = drawn_frame(seed=1, dialogs=60, A=(0.6, 0.2, 0.2), B=(0.6, 0.2, 0.2))
    hard = drawn_frame(seed=2, dialogs=60, A=(0.2, 0.2, 0.6), B=(0.2, 0.2, 0.6))
    hard[["dialog", "submission"]] += 1_000_000
    parts = [easy[easy["generator"] != "B"].assign(dataset="easy"), hard.assign(dataset="hard")]
    frame = pd.concat(parts, ignore_index=True)
    frame["dataset"] = pd.Categorical(frame["dataset"])
    frame["value"] = pd.Categorical(frame["value"].astype(str), categories=["good", "okay", "bad"])
    # With three turns, both models were rated on the hard dialogs only.
    frame["turns"] = np.where((frame["dataset"] == "hard") & (frame["dialog"] % 2 == 0), 3, 1)

    slices = {one.by: one.rows for one in analyse(frame).main.slices}

    shares = {(row.level, row.generator): isinstance(row.share, Undefined) for row in slices["turns"]}
    assert shares == {("1", "A"): True, ("1", "B"): True, ("3", "A"): False, ("3", "B"): False}
    assert not any(isinstance(row.share, Undefined) for row in slices["dataset"])
