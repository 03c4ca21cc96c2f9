"""The study form chooses the protocol: its settings follow, and nothing of another protocol stays behind."""

from typing import Any, Literal

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hits.designing import check_draft, create_study, parse_design, switch_protocol
from hits.models import Study
from hits.models.design import Part
from hits.protocols import PROTOCOLS, OwnSetting
from tests.conftest import DEMO
from tests.hits.test_study_form import STEPS, fields_in, send_back, shown_fields
from tests.hits.toy_duels import Duels
from tests.hits.toy_scales import Scales, ScalesDesign, ScalesWarmUp
from tests.pages import html_of

OWN = {
    "task": {"areas": [{"key": "good", "label": "Good"}, {"key": "bad", "label": "Bad"}], "title": "Rate replies"},
    "checkpoints": {**DEMO["checkpoints"], "passing_areas": ["good"], "max_attempts": 2},
    "warm_up": {"replies": [{"text": "Oh no!", "areas": ["good"], "praise": "Yes."}]},
    "analysis": {"outcome": "share of best"},
}
TYPED = {
    "task": {
        "layout": "grid",
        "criteria": [
            {"name": "care", "question": "Does it care, really?", "points": 5, "words": ["not at all", "very much"]},
            {"name": "wit", "is_optional": True},
        ],
    },
    "checkpoints": {**DEMO["checkpoints"], "criterion": "care", "at_least": 3},
}


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    for toy in (Scales, Duels):
        monkeypatch.setitem(PROTOCOLS, toy.name, toy)


@pytest.fixture
def draft(example_corpus: None, researcher_client: Client) -> Study:
    return create_study({**DEMO, **OWN}, User.objects.get())


def post(client: Client, fields: dict[str, Any], go: str = "") -> str:
    """Change some fields of the task's step, save it, and return the page that the browser is sent to."""
    typed = {**shown_fields(client, "demo", "task"), **fields, "go": go}
    answer = client.post("/studies/demo/edit/task/", typed, follow=True)
    assert answer.status_code == 200
    return html_of(answer)


def test_choosing_another_protocol_removes_what_only_the_old_one_has_and_says_so(
    draft: Study, researcher_client: Client
) -> None:
    page = post(researcher_client, {"protocol": "scales"}, go="plan")

    draft.refresh_from_db()
    assert draft.design["protocol"] == "scales"
    assert draft.design["task"]["title"] == "Rate replies"
    assert draft.design["checkpoints"]["max_attempts"] == 2
    assert check_draft(draft.design).problems == []
    assert "because only the former one has them: checkpoints.passing_areas, task.areas, analysis.outcome." in page
    assert 'name="task.criteria.question"' in page  # the step is shown again, with the new protocol's settings


def test_a_choice_and_a_table_of_a_protocol_survive_the_form(draft: Study, researcher_client: Client) -> None:
    given = {**DEMO, "protocol": "scales", **TYPED}
    Study.objects.update(design=given)

    for step in STEPS:
        send_back(researcher_client, "demo", step)

    assert parse_design(Study.objects.get().design) == parse_design(given)
    assert Study.objects.get().design["task"]["criteria"] == TYPED["task"]["criteria"]


def test_what_is_typed_into_a_table_is_read_and_empty_lines_are_left_out(
    draft: Study, researcher_client: Client
) -> None:
    Study.objects.update(design={**DEMO, "protocol": "scales"})
    rows = {
        "task.criteria.name": ["care", "", "wit"],
        "task.criteria.question": ["Does it care?", "Nothing", ""],
        "task.criteria.points": ["5", "", "many"],
        "task.criteria.words": ["not at all, very much", "", ""],
        "task.criteria.is_optional": ["", "", "yes"],
    }

    post(researcher_client, {"protocol": "scales", "task.layout": "grid", **rows})

    task = Study.objects.get().design["task"]
    assert task["layout"] == "grid"
    assert task["criteria"] == [
        {"name": "care", "question": "Does it care?", "points": 5, "words": ["not at all", "very much"]},
        {"name": "wit", "points": "many", "is_optional": True},
    ]
    assert "is not a whole number" in html_of(researcher_client.get("/studies/demo/edit/task/"))


class LookPart(Part):
    size: int = 16


class LookedWarmUp(ScalesWarmUp):
    pace: str = "slow"


class LookedDesign(ScalesDesign):
    protocol: Literal["looked"] = "looked"  # type: ignore[assignment]
    warm_up: LookedWarmUp = LookedWarmUp()
    look: LookPart = LookPart()


class Looked(Scales):
    """A protocol with settings in other parts than task and checkpoints."""

    name = "looked"
    design_class = LookedDesign
    own_settings = (OwnSetting("warm_up.pace", "Pace", "text"), OwnSetting("look.size", "Size", "number"))


@pytest.mark.usefixtures("draft")
def test_settings_of_any_part_are_asked_for_and_their_problems_are_told_there(
    researcher_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROTOCOLS, Looked.name, Looked)
    Study.objects.update(design={**DEMO, "protocol": "looked"})

    post(researcher_client, {"warm_up.pace": "brisk", "look.size": "large"})

    design = Study.objects.get().design
    assert (design["warm_up"], design["look"]) == ({"pace": "brisk"}, {"size": "large"})
    page = html_of(researcher_client.get("/studies/demo/edit/task/"))
    assert "&#x27;large&#x27; is not a whole number" in page
    post(researcher_client, {"look.size": "18"})
    assert check_draft(Study.objects.get().design).problems == []
    assert switch_protocol(Study.objects.get().design, "areas")[1] == ["warm_up.pace", "look"]


@pytest.mark.parametrize("criteria", ["x", [1], [{}], {"a": 1}], ids=str)
def test_a_malformed_table_breaks_no_page(draft: Study, researcher_client: Client, criteria: Any) -> None:
    Study.objects.update(design={**DEMO, "protocol": "scales", "task": {"criteria": criteria}})

    assert researcher_client.get("/studies/demo/edit/task/").status_code == 200


def test_an_unknown_protocol_can_be_repaired_in_the_form(draft: Study, researcher_client: Client) -> None:
    Study.objects.update(design={**DEMO, "protocol": "songs"})
    assert "&#x27;songs&#x27; is no protocol" in html_of(researcher_client.get("/studies/demo/edit/task/"))

    post(researcher_client, {"protocol": "areas"})

    assert Study.objects.get().design["protocol"] == "areas"
    assert check_draft(Study.objects.get().design).problems == []


@pytest.mark.parametrize("ways", [("scales", "areas"), ("duels", "areas"), ("duels", "scales"), ("scales", "duels")])
@pytest.mark.usefixtures("example_corpus")
def test_switching_there_and_on_leaves_no_problem(ways: tuple[str, str]) -> None:
    settings: dict[str, Any] = parse_design({**DEMO, **OWN}).as_json()

    for way in ways:
        settings, removed = switch_protocol(settings, way)
        settings = parse_design(settings).as_json()  # the new protocol's defaults become settings of the draft
        assert "analysis.outcome" in removed

    assert check_draft(settings).problems == []


def test_a_misspelt_setting_stays_and_is_named() -> None:
    switched, removed = switch_protocol({**DEMO, "task": {"aeras": [], "areas": []}}, "scales")

    assert switched["task"] == {"aeras": []}
    assert removed == ["task.areas"]


@pytest.mark.usefixtures("draft")
def test_the_planner_says_that_it_can_t_plan_a_protocol_rather_than_plan_areas(researcher_client: Client) -> None:
    Study.objects.update(design={**DEMO, "protocol": "scales"})

    said = "The planner does not cover this way of asking yet"
    form, plan = (html_of(researcher_client.get(f"/studies/demo/{page}/")) for page in ("edit/plan", "plan"))

    assert said in form
    assert "Difference that you want to find" not in form
    assert said in plan
    Study.objects.update(design=DEMO)
    assert "Difference that you want to find" in html_of(researcher_client.get("/studies/demo/edit/plan/"))


# --- The fields follow the choice at once ----------------------------------------------------------------------------


def swapped(client: Client, fields: dict[str, Any]) -> dict[str, Any]:
    """Choose in the form, without saving, and return what the form then holds."""
    typed = {**shown_fields(client, "demo", "task"), **fields}
    answer = client.post("/studies/demo/edit/task/fields/", typed)
    assert answer.status_code == 200
    return {"shown": typed["shown"], **fields_in(html_of(answer))}


def test_choosing_a_protocol_shows_its_fields_with_what_is_typed_and_saves_nothing(
    draft: Study, researcher_client: Client
) -> None:
    before = draft.design
    form = swapped(researcher_client, {"protocol": "scales", "task.title": "Typed already"})

    assert "task.criteria.question" in form
    assert "task.areas" not in form
    assert form["task.title"] == ["Typed already"]
    draft.refresh_from_db()
    assert draft.design == before
    saved = researcher_client.post("/studies/demo/edit/task/", {**form, "task.layout": "grid", "go": "plan"})
    assert saved["Location"] == "/studies/demo/edit/plan/"  # everything was read already
    draft.refresh_from_db()
    assert (draft.design["protocol"], draft.design["task"]["layout"]) == ("scales", "grid")
    assert draft.design["task"]["title"] == "Typed already"
    assert check_draft(draft.design).problems == []


def test_who_chooses_the_stored_protocol_again_has_its_settings_again(draft: Study, researcher_client: Client) -> None:
    before = draft.design
    there = swapped(researcher_client, {"protocol": "scales"})

    typed = {**there, "protocol": "areas", "task.title": "Anew"}
    back = fields_in(html_of(researcher_client.post("/studies/demo/edit/task/fields/", typed)))

    assert "Good" in back["task.areas"][0]
    assert back["task.title"] == ["Anew"]
    researcher_client.post("/studies/demo/edit/task/", {**back, "shown": there["shown"]})
    draft.refresh_from_db()
    assert draft.design == {**before, "task": {**before["task"], "title": "Anew"}}
