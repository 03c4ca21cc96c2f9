"""Sliders and Likert scales are analysed by their exact scores, and shown by means, standard errors and bins."""

import io
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from hits.analysing import analyse, analyse_study, plan_of, report_as_text, report_of, sequences_of
from hits.analysing.figures.all_figures import make_pictures
from hits.analysing.serialising import plain, results_as_json, results_from_json
from hits.batching import build_hits
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.exporting import check_bundle
from hits.exporting.report_latex import latex_tables
from hits.models import BonusCheck, Study, offering_for
from hits.protocols import PROTOCOLS, protocol_of
from hits.protocols.criteria import Criterion, Scale
from hits.stats import CriterionScale, Estimate, Interval
from hits.stats.rater_agreement import krippendorff_alpha
from tests.conftest import DEMO
from tests.hits.crowd import publish
from tests.hits.toy_scales import Scales, _scale
from tests.pages import html_of

SLIDER = Criterion("overall", _scale(101)).measured
LIKERT = Criterion("overall", _scale(7)).measured


def rated(scale: CriterionScale, **ratings: list[list[int]]) -> pd.DataFrame:
    """By model: a list for each dialog, with what each worker gave its reply."""
    rows = [
        {"worker": f"w{worker}", "dialog": dialog, "dataset": "ED", "generator": name, "score": score}
        for name, dialogs in ratings.items()
        for dialog, scores in enumerate(dialogs)
        for worker, score in enumerate(scores)
    ]
    frame = pd.DataFrame(rows)
    frame["value"] = pd.Categorical([f"{score}" for score in frame["score"]], categories=list(scale.values))
    return frame


def test_a_slider_is_counted_by_its_exact_scores_and_shown_by_bins() -> None:
    frame = rated(SLIDER, A=[[100, 81], [80, 60]], B=[[20, 21], [0, 40]])

    found = analyse(frame, scales={"overall": SLIDER}).main

    assert found.values == ("81 to 100", "61 to 80", "41 to 60", "21 to 40", "0 to 20")
    first, second = found.table
    assert [share.count for share in first.shares] == [2, 1, 1, 0, 0]  # type: ignore[union-attr]
    assert [share.count for share in second.shares] == [0, 0, 0, 2, 2]  # type: ignore[union-attr]
    assert isinstance(first.mean_score, Estimate)
    assert first.mean_score.value == (100 + 81 + 80 + 60) / 4
    [table] = found.comparisons
    assert table.comparisons[0].score_difference.value == (80 + 60 + 80 + 20) / 4  # type: ignore[union-attr]
    assert table.comparisons[0].best_difference.value == 0.5  # type: ignore[union-attr] # of the best bin


def test_agreement_on_a_slider_is_by_exact_distance() -> None:
    scores = [[100, 98], [50, 55], [1, 4]]
    frame = rated(SLIDER, A=scores)

    found = analyse(frame, scales={"overall": SLIDER}).main.agreement[0]

    chosen = sorted({score for pair in scores for score in pair}, reverse=True)
    counts = np.array([[pair.count(score) for score in chosen] for pair in scores], float)
    assert isinstance(found.alpha_interval, Estimate)
    assert found.alpha_interval.value == pytest.approx(krippendorff_alpha(counts, chosen, "interval"))
    assert found.alpha_interval.value > 0.99
    assert isinstance(found.raw, Estimate)
    assert found.raw.value == 1  # the same bin each time


def test_the_ends_of_a_mean_s_interval_are_those_of_the_scale() -> None:
    rng = np.random.default_rng(1)
    frame = rated(SLIDER, A=rng.integers(96, 101, (20, 5)).tolist())

    [row] = analyse(frame, scales={"overall": SLIDER}).main.table

    assert isinstance(row.mean_score, Estimate)
    assert isinstance(row.mean_score.interval, Interval)
    assert row.mean_score.value < row.mean_score.interval.high < 100


def test_the_standard_error_of_crossed_ratings_is_that_of_clusters() -> None:
    """Each dialog has a worker of its own, so the two-way variance is the usual one, within its correction."""
    numbers = [3, 5, 7, 1, 4, 6]
    frame = rated(LIKERT, A=[[number] for number in numbers])
    frame["worker"] = [f"w{place}" for place in range(6)]

    [row] = analyse(frame, scales={"overall": LIKERT}).main.table

    # Dialogs and workers are the same clusters: both terms are the usual variance s^2 / n, and the sum is subtracted.
    usual = np.var(numbers, ddof=1) / 6
    assert row.mean_error == pytest.approx(math.sqrt(2 * usual - usual * 5 / 6))


def test_the_best_mean_is_bold_and_not_the_most_top_values() -> None:
    """A has more sevens, but B's mean is far higher."""
    dialogs = 40
    frame = rated(LIKERT, A=[[7, 1, 1]] * dialogs, B=[[6, 6, 6]] * dialogs)
    frame["worker"] += (frame["dialog"] % 10).astype(str)

    results = analyse(frame, scales={"overall": LIKERT})
    report = report_of(results)
    tex = latex_tables(report)

    assert results.main.leading("ED") == {"B"}
    assert r"\textbf{6.000}" in tex["means.tex"]
    assert "3.000 &" in tex["means.tex"]
    assert r"\textbf" not in tex["table5.tex"]
    assert r"$\alpha$ (interval)" in tex["agreement.tex"]
    assert "standard error" in "\n".join(report_as_text(report))
    assert results_from_json(results_as_json(results)).main.is_by_mean


def test_models_that_can_t_be_told_apart_from_the_best_are_bold_too() -> None:
    rng = np.random.default_rng(3)
    frame = rated(
        LIKERT, A=rng.integers(4, 8, (30, 4)).tolist(), B=rng.integers(4, 8, (30, 4)).tolist(), C=[[1] * 4] * 30
    )

    found = analyse(frame, scales={"overall": LIKERT})

    assert found.main.leading("ED") == {"A", "B"}
    assert latex_tables(report_of(found))["means.tex"].count(r"\textbf") == 2


def test_values_that_nobody_chose_have_the_scale_s_scores() -> None:
    tens = Scale(("20", "10", "0"), ("20", "10", "0"), (20, 10, 0))
    frame = rated(Criterion("overall", tens).measured, A=[[10, 10], [10, 10]])

    [row] = analyse(frame, scales={"overall": Criterion("overall", tens).measured}).main.table

    assert isinstance(row.mean_score, Estimate)
    assert row.mean_score.value == 10
    assert [share.count for share in row.shares] == [0, 4, 0]  # type: ignore[union-attr]


@pytest.mark.usefixtures("example_corpus")
def test_each_criterion_s_confidence_sequence_is_planned_on_its_own_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROTOCOLS, "scales", Scales)
    study = create_study({**DEMO, "protocol": "scales", "analysis": {"outcome": "mean score"}})
    areas = create_study({**DEMO, "name": "areas", "analysis": {"outcome": "mean score"}})
    for one in (study, areas):
        build_hits(one)
        one.refresh_from_db()
    tau2 = plan_of(areas).tau2_of("overall")
    rng = np.random.default_rng(1)
    means = {"A": rng.integers(4, 7, (30, 20)), "B": rng.integers(2, 5, (30, 20))}
    frame = rated(LIKERT, **{name: numbers.tolist() for name, numbers in means.items()}).assign(criterion="empathy")
    on_slider = frame.assign(criterion="fluency", score=frame["score"] * 100 / 6)  # the same answers, stretched

    plan = plan_of(study)
    [likert] = sequences_of(analyse(frame, scales={"empathy": LIKERT}, plan=plan).main, plan)
    [slider] = sequences_of(analyse(on_slider, scales={"fluency": LIKERT}, plan=plan).main, plan)

    assert plan.tau2_of("empathy") == pytest.approx(9 * tau2, rel=0.01)
    assert plan.tau2_of("fluency") == pytest.approx(2500 * tau2, rel=0.01)
    assert isinstance(likert.low, float)
    assert isinstance(slider.low, float)
    assert slider.low == pytest.approx(likert.low * 100 / 6, rel=0.01)


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, example_corpus: None, researcher: User, market: MTurkMarket) -> Study:
    """A study with a seven-point scale and a slider, that a simulated crowd has answered."""
    monkeypatch.setitem(PROTOCOLS, "scales", Scales)
    dialogs = [{"name": "example-empathetic", "dialogs": 20}]
    study = create_study({**DEMO, "protocol": "scales", "datasets": dialogs}, researcher)
    build_hits(study)
    study.refresh_from_db()
    publish(study, market, 2)
    call_command("simulate_crowd", "demo", "--seed", "7", stdout=io.StringIO())
    call_command("sync_hits", "demo", stdout=io.StringIO())
    return study


def test_a_study_with_a_slider_goes_from_simulated_workers_to_a_bundle(study: Study, tmp_path: Path) -> None:
    results = analyse_study(offering_for(study, "local"))
    call_command("export_study", "demo", "--out", str(tmp_path / "bundle"), stdout=io.StringIO())

    likert, slider = results.criteria
    assert (len(likert.values), len(slider.values)) == (7, 5)
    drawn = {file.name for file in (tmp_path / "bundle" / "figures").iterdir()}
    assert {f"{picture.name}.svg" for picture in make_pictures(results)} <= drawn
    assert check_bundle(tmp_path / "bundle") == []
    assert (tmp_path / "bundle" / "tables" / "fluency-means.tex").exists()
    datasheet = (tmp_path / "bundle" / "datasheet.md").read_text()
    empathy, fluency = datasheet.split("### empathy")[1].split("### fluency")
    assert "Size of the scale**\n\n7\n" in empathy
    assert "Size of the scale**\n\n101\n" in fluency
    assert "Its values**\n\n0 to 100\n" in fluency
    assert "> Does it care?" in datasheet
    assert "*Absolute.* Each reply is judged by itself" in datasheet
    read = results_from_json((tmp_path / "bundle" / "results.json").read_text())
    assert plain(read.criteria[1].table) == plain(slider.table)


def test_a_checkpoint_is_passed_on_its_own_criterion_s_scale(study: Study, researcher_client: Client) -> None:
    protocol = protocol_of(study.parsed_design)
    value = {"ratings": {"empathy": {"0": "1"}, "fluency": {"0": "50"}}}

    assert protocol.passes(value, 0)
    assert not protocol.passes({"ratings": {"empathy": {"0": "7"}, "fluency": {"0": "49"}}}, 0)
    assert protocol.passing_levels == [0, 1, 2, 3]  # half of the seven points make 50 or more of the slider's
    check = BonusCheck.objects.select_related("assignment").earliest("pk")
    page = html_of(researcher_client.get(f"/studies/demo/assignments/{check.assignment.pk}/"))
    gold = protocol.values_of_card(check.value, check.item.gold_card or 0)["fluency"]
    assert f"the human reply was rated {gold} on fluency and" in page
