"""What a study is to show: problems at their fields, the form's last step, and warnings before a study is frozen."""

import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from hits.designing import check_draft, create_study, parse_design, plan_as_json, plan_study_size, summarise
from hits.errors import InvalidStudy
from hits.models import Study
from tests.conftest import DEMO
from tests.hits.test_study_form import shown_fields
from tests.pages import html_of

MODELS = DEMO["generators"]


def with_analysis(**analysis: Any) -> dict[str, Any]:
    return {**DEMO, "analysis": analysis}


@pytest.mark.parametrize(
    ("analysis", "field", "words"),
    [
        ({"compare": "one against the others"}, "analysis.reference", "is empty"),
        (
            {"compare": "one against the others", "reference": "gpt"},
            "analysis.reference",
            "not among the study's models",
        ),
        ({"compare": "named pairs"}, "analysis.pairs", "is empty"),
        ({"compare": "named pairs", "pairs": [["parrot", "gpt"]]}, "analysis.pairs", "gpt is not among"),
        ({"compare": "named pairs", "pairs": [["parrot", "parrot"]]}, "analysis.pairs", "with itself"),
        (
            {"compare": "named pairs", "pairs": [["parrot", "generic"], ["generic", "parrot"]]},
            "analysis.pairs",
            "named twice",
        ),
        ({"planned_dialogs": 61}, "analysis.planned_dialogs", "the study asks for 60"),
        ({"equal_within": 5}, "analysis.equal_within", "write 0.05"),
        ({"wave_hits": 2}, "analysis.wave_hits", "set pay.budget"),
        ({"outcome": "beauty"}, "analysis.outcome", "share of best"),
    ],
)
def test_a_contradiction_in_the_analysis_is_a_problem_at_its_field(
    analysis: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidStudy) as refused:
        parse_design(with_analysis(**analysis))

    [problem] = refused.value.problems
    assert problem.field == field
    assert words in problem.message


def test_of_two_models_none_can_be_dropped() -> None:
    with pytest.raises(InvalidStudy) as refused:
        parse_design({**with_analysis(drop_losers=True), "generators": MODELS[:2]})

    assert [problem.field for problem in refused.value.problems] == ["analysis.drop_losers"]


@pytest.mark.usefixtures("example_corpus")
def test_the_form_saves_every_setting_of_the_analysis(researcher_client: Client) -> None:
    create_study({**DEMO, "pay": {"budget": 100}}, User.objects.get())
    sent = shown_fields(researcher_client, "demo", "analysis") | {
        "analysis.outcome": ["mean score"],
        "analysis.compare": ["named pairs"],
        "analysis.pairs": ['["parrot", "generic"]'],
        "analysis.planned_dialogs": ["40"],
        "analysis.stop_when_decided": ["yes"],
        "analysis.equal_within": ["0.2"],
        "analysis.drop_losers": ["yes"],
        "analysis.wave_hits": ["2"],
    }

    researcher_client.post("/studies/demo/edit/analysis/", sent)

    analysis = parse_design(Study.objects.get().design).analysis
    assert analysis.model_dump() == {
        "outcome": "mean score",
        "compare": "named pairs",
        "reference": "",
        "pairs": [("parrot", "generic")],
        "planned_dialogs": 40,
        "stop_when_decided": True,
        "equal_within": 0.2,
        "drop_losers": True,
        "wave_hits": 2,
    }
    researcher_client.post("/studies/demo/edit/analysis/", shown_fields(researcher_client, "demo", "analysis"))
    assert parse_design(Study.objects.get().design).analysis == analysis
    sent = shown_fields(researcher_client, "demo", "analysis")
    del sent["analysis.stop_when_decided"]
    researcher_client.post("/studies/demo/edit/analysis/", sent)
    assert parse_design(Study.objects.get().design).analysis.stop_when_decided is False


@pytest.mark.usefixtures("example_corpus")
def test_the_form_offers_the_study_s_models_and_the_protocol_s_outcomes(researcher_client: Client) -> None:
    draft = with_analysis(compare="one against the others", reference="parrot", pairs=[["old-model", "parrot"]])
    create_study({**draft, "generators": ["parrot", "generic"]}, User.objects.get())

    page = html_of(researcher_client.get("/studies/demo/edit/analysis/"))

    assert "share of good" in page
    assert "parrot with generic" in page
    assert "old-model with parrot" in page  # so that it can be taken away
    assert "listener-large" not in page


@pytest.mark.usefixtures("example_corpus")
def test_the_plan_beside_the_form_follows_what_is_typed(researcher_client: Client) -> None:
    create_study(DEMO, User.objects.get())
    typed = shown_fields(researcher_client, "demo", "analysis") | {
        "analysis.compare": ["one against the others"],
        "analysis.reference": ["parrot"],
        "analysis.stop_when_decided": ["yes"],
    }

    shown = html_of(researcher_client.post("/studies/demo/preview/cost/?step=analysis", typed))

    assert "3 pairs of models is compared" in shown
    assert "stops by itself as soon as each of these pairs is decided" in shown
    assert Study.objects.get().design["analysis"]["compare"] == "all pairs"  # nothing is saved


@pytest.mark.usefixtures("example_corpus")
def test_a_study_that_can_find_nothing_is_warned_of_in_the_form_and_when_it_is_built(
    researcher_client: Client,
) -> None:
    small = {**DEMO, "datasets": [{"name": "example-empathetic", "dialogs": 5}], "generators": ["parrot", "generic"]}
    small["hits"] = {"dialogs": 5}
    study = create_study(small, User.objects.get())
    assert check_draft(study.design).problems == []

    page = html_of(researcher_client.get("/studies/demo/edit/analysis/"))
    out = io.StringIO()
    call_command("build_hits", "demo", stdout=out)

    for text in (page, out.getvalue()):
        assert (
            "No difference can be found with 5 dialogs: the smallest p-value that the test can give is 0.0625." in text
        )
        assert "About 4 equally busy workers would rate it, and it takes 10" in text


@pytest.mark.usefixtures("example_corpus")
def test_a_study_that_may_stop_is_warned_of_too_few_dialogs_for_a_sequence() -> None:
    small = {**with_analysis(stop_when_decided=True), "datasets": [{"name": "example-empathetic", "dialogs": 15}]}

    warned = summarise(parse_design(small)).warnings

    assert any("confidence sequences take 20 dialogs or more" in one for one in warned)


@pytest.mark.usefixtures("example_corpus")
def test_a_study_is_warned_of_too_few_planned_dialogs_however_many_it_has() -> None:
    summary = summarise(parse_design(with_analysis(planned_dialogs=4)))

    assert any("verdicts are given when 4 dialogs are rated" in one for one in summary.analysis)
    assert any(one.startswith("No difference can be found with 4 dialogs") for one in summary.warnings)


def points(told: str) -> float:
    return float(told.split()[0])


@pytest.mark.usefixtures("example_corpus")
def test_the_planner_says_what_stopping_would_save_whether_the_design_stops_or_not() -> None:
    usual = create_study(with_analysis(), None)
    stops = create_study({**with_analysis(stop_when_decided=True), "name": "stops"}, None)

    first, second = (plan_as_json(plan_study_size(study, ""), "USD") for study in (usual, stops))

    assert "with a rule that drops who has lost and stops when all is decided" in first["stopping"]
    assert "with its rule" in second["stopping"]
    assert "Of 50 simulated studies" in second["stopping"]
    assert "the test that decides in the results" in first["assumptions"]
    assert "the confidence sequence that decides in the results, at the end of the study" in second["assumptions"]
    assert second["detectable"] is None or points(second["detectable"]) > points(first["detectable"])
