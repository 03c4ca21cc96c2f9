"""Looking early: an incomplete study shows confidence sequences and no verdicts, and every look is noted."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from hits.analysing import (
    Progress,
    Results,
    analyse_study,
    compute_results,
    describe_progress,
    make_pictures,
    measure_progress,
    plan_of,
    report_as_text,
    report_of,
    results_as_json,
    results_from_json,
    with_progress,
)
from hits.analysing.analysis import analyse
from hits.analysing.planned_part import planned_until
from hits.analysing.study_progress import count_looks
from hits.exporting import check_bundle, export_bundle
from hits.exporting.report_latex import latex_tables
from hits.models import Event, Offering, Publication, Study, Submission, offering_for
from hits.stats import PairTest, Plan, Undefined
from tests.hits.rated import rate
from tests.hits.stats.small_frames import drawn_frame
from tests.pages import html_of

INTERIM = Progress(480, 2400, False, 0, "480 of 2,400 planned assignments were collected")


@pytest.fixture
def half_done(demo_study: Study) -> Offering:
    rate(demo_study, hits=3)
    return offering_for(demo_study, "local")


def test_interim_results_have_sequences_and_no_verdict() -> None:
    frame = drawn_frame(seed=1, A=(0.1, 0.2, 0.7), B=(0.7, 0.2, 0.1))
    plan = Plan(tau2=0.1)

    complete = with_progress(analyse(frame, plan=plan), Progress(), plan).main
    interim = with_progress(analyse(frame, plan=plan), INTERIM, plan).main

    assert isinstance(complete.comparisons[0].comparisons[0].test, PairTest)
    assert all(isinstance(pair.test, Undefined) for table in interim.comparisons for pair in table.comparisons)
    assert all(one.letters == "" for table in interim.comparisons for one in table.letters)
    assert all(isinstance(one.p_value, Undefined) for one in interim.dependences)
    [finding] = interim.sequences
    assert (finding.first, finding.second) == ("A", "B")
    [ranking] = interim.rankings
    assert not isinstance(ranking.ranked, Undefined)
    assert [one.generator for one in ranking.ranked] == ["B", "A"]
    assert all(isinstance(one.strength.interval, Undefined) for one in ranking.ranked)


def test_the_text_of_interim_results_says_so_and_names_no_p_value() -> None:
    plan = Plan(tau2=0.1)
    results = with_progress(
        analyse(drawn_frame(seed=1, A=(0.1, 0.2, 0.7), B=(0.7, 0.2, 0.1)), plan=plan), INTERIM, plan
    )

    text = "\n".join(report_as_text(report_of(results)))

    assert text.startswith("Interim: 480 of 2,400 assignments.")
    assert "Which is better so far" in text
    assert "p, corrected" not in text
    assert "letter can't" not in text


def test_interim_variants_say_nothing_about_verdicts() -> None:
    frame = drawn_frame(seed=1, A=(0.1, 0.2, 0.7), B=(0.7, 0.2, 0.1))
    frame["excluded_by_hasty"] = frame["submission"] == frame["submission"].iloc[0]
    plan = Plan(tau2=0.1)

    report = report_of(with_progress(analyse(frame, plan=plan), INTERIM, plan))

    section = report.criteria[0].section("variants")
    [table] = section.tables
    assert [column.key for column in table.columns] == ["order", "alpha_ordinal", "ratings", "workers"]
    assert "erdict" not in section.lead
    text = "\n".join(report_as_text(report))
    assert "told apart" not in text
    assert "verdicts" not in text


def test_a_variant_of_a_study_that_stopped_by_its_rule_does_not_wait_for_its_end() -> None:
    frame = drawn_frame(seed=1, A=(0.1, 0.2, 0.7), B=(0.7, 0.2, 0.1))
    frame["excluded_by_hasty"] = frame["submission"] == frame["submission"].iloc[0]
    plan = Plan(tau2=0.1)
    stopped = Progress(480, 2400, True, 0, "stopped by its rule", is_by_sequence=True)

    report = report_of(with_progress(analyse(frame, plan=plan), stopped, plan), "no rule").criteria[0]

    told = report.answers[0].text
    assert "when the study is complete" not in told
    assert "Whether models differ is not said under these rules" in told
    assert any("keep to all screening rules" in note for note in report.section("comparisons").notes)


def test_the_interim_ranking_names_neither_intervals_nor_letters() -> None:
    plan = Plan(tau2=0.1)
    frame = drawn_frame(seed=1, workers=6, A=(0.1, 0.2, 0.7), B=(0.7, 0.2, 0.1))
    complete = with_progress(analyse(frame, plan=plan), Progress(), plan)
    interim = with_progress(analyse(frame, plan=plan), INTERIM, plan)

    (with_letters, with_caption), (figure, caption) = (
        (
            next(one for one in make_pictures(results) if one.name == "ranking"),
            latex_tables(report_of(results))["ranking.tex"],
        )
        for results in (complete, interim)
    )

    assert "share a letter" in with_letters.description
    assert "with 95 % intervals" in with_letters.description
    assert "intervals" in with_caption
    for text in (figure.svg, figure.description, caption):
        assert "letter" not in text
        assert "interval" not in text
    assert "Holm" not in report_of(interim).criteria[0].section("dependences").lead
    assert "Holm" in report_of(complete).criteria[0].section("dependences").lead
    assert "larger p-value" in complete.main.comparisons[0].warnings[0]
    assert interim.main.comparisons[0].warnings == ()


def test_interim_results_survive_being_stored() -> None:
    plan = Plan(tau2=0.1)
    results = with_progress(
        analyse(drawn_frame(seed=1, A=(0.1, 0.2, 0.7), B=(0.7, 0.2, 0.1)), plan=plan), INTERIM, plan
    )

    read = results_from_json(results_as_json(results))

    assert read.progress == INTERIM
    assert read.main.sequences[0].decided == results.main.sequences[0].decided


@pytest.mark.django_db
def test_a_study_is_complete_when_all_planned_assignments_are_collected(demo_study: Study) -> None:
    rate(demo_study, hits=3)
    offering = offering_for(demo_study, "local")
    assert measure_progress(offering) == Progress(12, 24, False, 0, "12 of 24 planned assignments were collected")

    rate(demo_study, seed=2)  # all HITs, and the first three a second time: a HIT counts no more than it was made with

    assert measure_progress(offering) == Progress(24, 24, True, 0, "all 24 planned assignments were collected")


@pytest.mark.django_db
def test_a_study_that_is_stopped_early_stays_interim(half_done: Offering) -> None:
    Publication.objects.update(stopped_at=timezone.now())

    found = measure_progress(half_done)

    assert not found.is_complete
    assert found.reason == "12 of 24 planned assignments were collected, and no HIT is on offer any more"


@pytest.mark.django_db
def test_a_study_that_ends_with_almost_everything_is_complete(demo_study: Study) -> None:
    rate(demo_study)
    manifest = demo_study.manifest or {}
    demo_study.manifest = {**manifest, "assignments": 25}
    assert not measure_progress(offering_for(demo_study, "local")).is_complete

    Publication.objects.update(stopped_at=timezone.now())

    assert measure_progress(offering_for(demo_study, "local")).is_complete


@pytest.mark.django_db
def test_sequences_rest_on_whole_hits_in_their_frozen_order(half_done: Offering, tmp_path: Path) -> None:
    """Two people hand in HIT 3, which takes four, and all four hand in HIT 4: neither moves a sequence."""
    before = analyse_study(half_done).main
    rate(half_done.study, hits=5, seed=2, only=(4,))
    rate(half_done.study, hits=4, seed=2, only=(3,), workers=2)

    progress = measure_progress(half_done)
    after = analyse_study(half_done).main
    assert (progress.collected, progress.whole_until, progress.beyond) == (18, 2, 6)
    assert "6 assignments are not in them yet" in describe_progress(progress)
    assert after.sequences == before.sequences
    assert all(not isinstance(one.estimate, Undefined) for one in after.sequences)
    assert after.size.ratings > before.size.ratings
    # What is estimated from all ratings has no interval from fewer.
    assert all(
        isinstance(pair.difference, Undefined) or isinstance(pair.difference.interval, Undefined)
        for pair in after.comparisons[0].comparisons
    )
    export_bundle(half_done, tmp_path / "bundle")
    assert check_bundle(tmp_path / "bundle") == []

    rate(half_done.study, hits=4, seed=3, only=(3,), workers=2)  # now it is whole, and so are all that are published

    assert measure_progress(half_done).whole_until is None
    assert analyse_study(half_done).main.sequences != before.sequences


@pytest.mark.django_db
def test_until_the_first_hit_is_whole_nothing_is_decided_and_the_results_say_why(demo_study: Study) -> None:
    rate(demo_study, hits=3, workers=3)
    offering = offering_for(demo_study, "local")

    report = report_of(analyse_study(offering))

    assert (measure_progress(offering).whole_until, measure_progress(offering).beyond) == (-1, 9)
    assert "Nothing can be decided yet: no HIT has all its assignments yet." in report.criteria[0].answers[0].text
    assert report.criteria[0].leaderboards[0].rows[0].cells[0].number > 0  # what was rated is shown


def plan_dialogs(offering: Offering, dialogs: int) -> None:
    design = offering.study.design
    offering.study.design = {**design, "analysis": {**design["analysis"], "planned_dialogs": dialogs}}


@pytest.mark.django_db
def test_the_planned_number_of_dialogs_decides_when_a_study_is_complete(half_done: Offering) -> None:
    plan_dialogs(half_done, 30)

    assert measure_progress(half_done) == Progress(12, 12, True, 0, "all 12 planned assignments were collected")


@pytest.mark.django_db
def test_the_hits_with_planned_dialogs_have_to_be_done_and_no_others(half_done: Offering) -> None:
    """12 of 24 assignments, as many as 30 of 60 dialogs take, but those of the first HITs are not all among them."""
    rate(half_done.study, hits=4, seed=2)
    Submission.objects.filter(assignment__hit__number=0).update(problem="unreadable")
    assert measure_progress(half_done).collected == 12
    plan_dialogs(half_done, 30)

    found = measure_progress(half_done)
    assert (found.collected, found.planned, found.is_complete) == (8, 12, False)


@pytest.mark.django_db
def test_planned_dialogs_are_the_first_ones_in_the_frozen_order(half_done: Offering) -> None:
    assert planned_until(half_done.study) is None

    plan_dialogs(half_done, 15)

    assert planned_until(half_done.study) == (1, 5)
    assert plan_of(half_done.study).planned_until == (1, 5)
    assert measure_progress(half_done).planned == 8


@pytest.mark.django_db
def test_a_study_keeps_the_sequence_s_variance_that_it_was_frozen_with(half_done: Offering) -> None:
    study = half_done.study
    frozen = (study.manifest or {})["sequence_tau2"]["overall"]
    assert plan_of(study).tau2 == frozen

    study.manifest = {**(study.manifest or {}), "sequence_tau2": {"overall": 2 * frozen}}  # as another planner had it

    assert {one.tau2 for one in analyse_study(half_done).main.sequences} == {2 * frozen}


def test_dialogs_beyond_the_planned_ones_change_no_verdict() -> None:
    frame = drawn_frame(seed=1, dialogs=60, A=(0.3, 0.3, 0.4), B=(0.45, 0.3, 0.25))
    planned = frame[(frame["block"] < 3) | ((frame["block"] == 3) & (frame["position"] < 5))]
    assert planned["dialog"].nunique() == 35

    alone = analyse(planned).main
    whole = analyse(frame, plan=Plan(planned_dialogs=35, planned_until=(3, 5))).main

    assert whole.comparisons == alone.comparisons
    assert (whole.rankings, whole.dependences, whole.worker_effect) == (
        alone.rankings,
        alone.dependences,
        alone.worker_effect,
    )
    assert (whole.tested_table, whole.further_dialogs) == (alone.table, 25)
    assert whole.table == analyse(frame).main.table
    told = "Tests, letters and the ranking are about the 35 planned dialogs, the first ones in the frozen order."
    text = "\n".join(report_as_text(report_of(with_progress(Results((whole,), 1), Progress(), Plan()))))
    assert f"{told} 25 further dialogs count in the other tables only." in text


@pytest.mark.django_db
def test_each_computation_that_is_shown_is_one_look(half_done: Offering, researcher_client: Client) -> None:
    compute_results(half_done, timezone.now)
    for _ in range(2):
        page = html_of(researcher_client.get("/studies/demo/results/"))
    assert "Interim: 12 of 24 assignments." in page
    assert "corrected" not in page.split('id="comparisons"')[1].split("</details>")[0]
    assert count_looks(half_done) == 1

    rate(half_done.study, hits=4, seed=2)
    out = io.StringIO()
    call_command("show_results", "demo", "--json", stdout=out)

    assert count_looks(half_done) == 2
    assert json.loads(out.getvalue())["progress"]["looks"] == 1
    assert Event.objects.filter(text__contains="looked at interim results on the local market: 12 of 24").exists()


@pytest.mark.django_db
def test_a_bundle_of_interim_results_is_a_look_and_a_second_one_of_the_same_ratings_is_the_same(
    half_done: Offering, tmp_path: Path
) -> None:
    export_bundle(half_done, tmp_path / "one")
    export_bundle(half_done, tmp_path / "two")

    assert count_looks(half_done) == 1
    assert "Interim results were not looked at before these" in (tmp_path / "two" / "methods.md").read_text()

    rate(half_done.study, hits=4, seed=2)
    export_bundle(half_done, tmp_path / "three")

    assert count_looks(half_done) == 2
    assert "Interim results were looked at once before these" in (tmp_path / "three" / "methods.md").read_text()


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["monitor/", "monitor/live/"])
def test_the_monitor_notes_one_look_for_one_computation_however_much_work_has_come_since(
    half_done: Offering, researcher_client: Client, page: str
) -> None:
    compute_results(half_done, timezone.now)

    for seed in (1, 2, 3):
        shown = html_of(researcher_client.get(f"/studies/demo/{page}"))
        assert "listener-large – listener-small" in shown
        rate(half_done.study, hits=3 + seed, seed=seed + 1)

    assert count_looks(half_done) == 1
    assert Event.objects.filter(text__contains="looked at interim results on the local market: 12 of 24").exists()
    researcher_client.get("/studies/demo/results/")  # still the same computation: the new one takes a moment
    assert count_looks(half_done) == 1


@pytest.mark.django_db
def test_complete_results_are_no_look(demo_study: Study) -> None:
    rate(demo_study)

    results = analyse_study(offering_for(demo_study, "local"))
    call_command("show_results", "demo", stdout=io.StringIO())

    assert results.progress.is_complete
    assert count_looks(offering_for(demo_study, "local")) == 0


@pytest.mark.django_db
def test_the_monitor_says_that_results_are_interim(half_done: Offering, researcher_client: Client) -> None:
    assert "Interim: 12 of 24 assignments." in html_of(researcher_client.get("/studies/demo/monitor/"))
