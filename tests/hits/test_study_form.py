"""The study form without a browser: what a file can hold survives it, and no draft breaks a page."""

from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Upper
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evalplatform.errors import EvalPlatformError
from generation.models import Dataset, Dialog
from hits.batching import build_hits
from hits.designing import create_study, parse_design
from hits.models import Study
from hits.screening import RULES
from tests.conftest import DEMO
from tests.pages import html_of

STEPS = ("data", "models", "task", "checkpoints", "crowd", "plan", "analysis")

TRICKY: dict[str, Any] = {
    **DEMO,
    "generators": ["parrot", "generic", "listener-small", "listener-large"],
    "datasets": list(reversed(DEMO["datasets"])),
    "task": {"question": "First line\nsecond line"},
    "pay": {"expected_minutes": 7.3333333, "bonus": 0, "bonus_points": 0},
    "warm_up": {
        "context": ["One turn\nof two lines"],
        "replies": [{"text": "Two\nlines", "areas": ["good", "okay"]}, {"text": "Bad", "areas": ["bad"]}],
    },
    "screening": [{"rule": "too_few_points", "points": 2}, {"rule": "too_few_points", "points": 1}],
}

ALL_RULES: dict[str, Any] = {
    **DEMO,
    "checkpoints": {**DEMO["checkpoints"], "attention_checks": 2, "repeats": 1},
    "screening": [{"rule": name} for name in RULES] + [{"rule": "copies", "share": 0.7}],
}


class FormReader(HTMLParser):
    """The successful controls of a page's large form, as a browser would send them."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: list[tuple[str, str]] = []
        self._textarea: str | None = None
        self._select = ""
        self._text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        name = values.get("name", "")
        if tag == "input" and name and (values.get("type") != "checkbox" or "checked" in values):
            self.fields.append((name, values.get("value", "").replace("\n", "")))
        elif tag == "textarea":
            self._textarea, self._text = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and "selected" in values:
            self.fields.append((self._select, values.get("value", "")))

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._textarea:
            self.fields.append((self._textarea, self._text.removeprefix("\n").replace("\n", "\r\n")))


def shown_fields(client: Client, name: str, step: str) -> dict[str, list[str]]:
    """Opens a step, and returns what a browser would send if it was saved without a change."""
    return fields_in(html_of(client.get(f"/studies/{name}/edit/{step}/")))


def fields_in(page: str) -> dict[str, list[str]]:
    reader = FormReader()
    reader.feed(page)
    data: dict[str, list[str]] = {}
    for field, value in reader.fields:
        data.setdefault(field, []).append(value)
    return data


def send_back(client: Client, name: str, step: str) -> None:
    """Opens a step and saves it without a change."""
    data = shown_fields(client, name, step)
    assert client.post(f"/studies/{name}/edit/{step}/", data).status_code == 302


@pytest.mark.usefixtures("example_corpus")
def test_a_step_that_was_saved_elsewhere_meanwhile_is_not_overwritten_unseen(researcher_client: Client) -> None:
    create_study(DEMO, User.objects.get())
    address = "/studies/demo/edit/plan/"
    one, other = (shown_fields(researcher_client, "demo", "plan") for _ in range(2))
    researcher_client.post(address, one | {"pay.reward": ["2.50"]})

    refused = researcher_client.post(address, other | {"hits.assignments": ["7"]})

    assert refused.status_code == 409
    assert "saved elsewhere" in html_of(refused)
    assert 'value="7"' in html_of(refused)
    assert parse_design(Study.objects.get().design).pay.reward_cents == 250

    assert researcher_client.post(address, fields_in(html_of(refused))).status_code == 302
    assert parse_design(Study.objects.get().design).hits.assignments == 7


@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize("given", [DEMO, TRICKY, ALL_RULES], ids=["demo", "tricky", "all rules"])
def test_saving_every_step_unchanged_changes_nothing(researcher_client: Client, given: dict[str, Any]) -> None:
    create_study(given, User.objects.get())

    for step in STEPS:
        send_back(researcher_client, "demo", step)

    assert parse_design(Study.objects.get().design).as_json() == parse_design(given).as_json()


@pytest.mark.usefixtures("example_corpus")
def test_names_with_commas_and_spaces_survive_the_form(researcher_client: Client) -> None:
    Dataset.objects.filter(name="example-empathetic").update(name="My set, v1")
    renamed = [{**part, "name": part["name"].replace("example-empathetic", "My set, v1")} for part in DEMO["datasets"]]
    given = {**DEMO, "datasets": renamed, "checkpoints": {"datasets": ["My set, v1"]}}
    create_study(given, User.objects.get())

    for step in STEPS:
        send_back(researcher_client, "demo", step)

    assert parse_design(Study.objects.get().design) == parse_design(given)


@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize(
    "design",
    [
        {"datasets": "x"},
        {"datasets": [1]},
        {"datasets": [{}]},
        {"warm_up": {"replies": 5}},
        {"warm_up": "x"},
        {"task": "x"},
        {"task": {"areas": [1]}},
        {"task": {"areas": [{}]}},
        {"screening": "x"},
        {"screening": [1]},
        {"generators": {"a": 1}},
        {"pay": {"reward": "1e999999"}},
        {"pay": []},
    ],
    ids=str,
)
def test_a_malformed_draft_breaks_no_page(researcher_client: Client, design: dict[str, Any]) -> None:
    Study.objects.create(name="odd", owner=User.objects.get(), design={**DEMO, "name": "odd", **design})

    addresses = ["/studies/", "/studies/odd/", *[f"/studies/odd/edit/{step}/" for step in STEPS]]

    assert [researcher_client.get(address).status_code for address in addresses] == [200] * len(addresses)


@pytest.mark.usefixtures("example_corpus")
def test_nonsense_that_is_posted_is_kept_out_or_named_and_never_an_error(researcher_client: Client) -> None:
    create_study(DEMO, User.objects.get())
    nonsense = {"pay.reward": "\1", "datasets.name": ["a"], "datasets.dialogs": ["x", "y"], "screening": ["\1", "q"]}

    for step in STEPS:
        response = researcher_client.post(f"/studies/demo/edit/{step}/", {**nonsense, "go": "nowhere"}, follow=True)
        assert response.status_code == 200
    for address in ("preview/task/", "preview/cost/"):
        assert researcher_client.post(f"/studies/demo/{address}", nonsense).status_code == 200
    assert researcher_client.get("/studies/demo/plan/", {"difference": "nan"}).status_code == 200


@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize("name", ["create", "new", "studies"])
def test_any_name_has_its_page_and_bad_names_are_refused(researcher_client: Client, name: str) -> None:
    researcher_client.post("/studies/", {"name": name})
    refused = researcher_client.post("/studies/", {"name": "Not A Name"}, follow=True)

    assert researcher_client.get(f"/studies/{name}/").status_code == 200
    assert "be a study&#x27;s name" in html_of(refused)


@pytest.mark.usefixtures("example_corpus")
def test_the_file_of_a_study_that_was_made_in_the_form_is_the_same_study(researcher_client: Client) -> None:
    study = create_study(DEMO, User.objects.get())
    for step in STEPS:
        send_back(researcher_client, "demo", step)

    assert create_study(DEMO, User.objects.get()).pk == study.pk


@pytest.mark.usefixtures("example_corpus")
def test_the_study_s_page_warns_when_looks_give_the_human_reply_away(
    researcher_client: Client, researcher: User
) -> None:
    create_study(DEMO, researcher)
    before = html_of(researcher_client.get("/studies/demo/"))
    Dialog.objects.update(gold=Upper("gold"))

    after = html_of(researcher_client.get("/studies/demo/"))

    assert "Looks give the human replies away" not in before
    assert "Looks give the human replies away" in after
    assert "finds the human reply in 100% of 20 dialogs" in after
    assert "<li>no small letters (100% of the human replies" in after

    build_hits(Study.objects.get())

    publishing = html_of(researcher_client.get("/studies/demo/")).split('id="publishing"')[1]
    assert "Looks give the human replies away" in publishing.split("Publish to")[0]


def test_a_time_limit_below_the_expected_time_is_said_at_its_step(researcher_client: Client) -> None:
    create_draft = {**DEMO, "name": "hasty", "crowd": {"time_limit_minutes": 5}}
    study = Study.objects.create(name="hasty", owner=User.objects.get(), design=create_draft)

    step = html_of(researcher_client.get(f"/studies/{study.name}/edit/crowd/"))

    assert "<code>crowd.time_limit_minutes</code>: 5 minutes are less than the 15 minutes that a HIT takes" in step
    with pytest.raises(EvalPlatformError, match="time_limit_minutes"):
        create_study(create_draft)


@pytest.mark.usefixtures("example_corpus")
def test_a_time_limit_below_the_expected_time_is_said_at_its_field_and_a_tight_one_in_the_summary(
    researcher_client: Client,
) -> None:
    def limited(minutes: int) -> None:
        Study.objects.update(design={**DEMO, "crowd": {"time_limit_minutes": minutes}})

    create_study(DEMO, User.objects.get())
    limited(14)
    page = html_of(researcher_client.get("/studies/demo/edit/crowd/"))
    assert 'id="crowd.time_limit_minutes-problem">14 minutes are less than the 15 minutes' in page

    limited(15)
    assert "is less than twice the 15 minutes that a HIT takes" in html_of(researcher_client.get("/studies/demo/"))
    limited(30)
    assert "is less than twice" not in html_of(researcher_client.get("/studies/demo/"))


@pytest.mark.usefixtures("example_corpus")
def test_a_draft_s_page_chooses_its_dialogs_once_and_names_none_of_them_to_the_database(
    researcher_client: Client,
) -> None:
    create_study({**DEMO, "checkpoints": {"per_hit": 0}, "pay": {"bonus": 0}, "screening": []}, User.objects.get())

    for address in ("/studies/demo/", "/studies/demo/edit/plan/"):
        with CaptureQueriesContext(connection) as queries:
            assert researcher_client.get(address).status_code == 200
        chosen = [one for one in queries if "external_id" in one["sql"] and "turns" not in one["sql"]]
        assert len(chosen) == len(DEMO["datasets"])
        named = [one["sql"] for one in queries if '"dialog_id" IN (' in one["sql"] and "SELECT" not in one["sql"][10:]]
        assert not named


@pytest.mark.usefixtures("example_corpus")
def test_the_study_s_page_shows_a_table_of_settings_in_words(researcher_client: Client) -> None:
    criteria = [
        {
            "name": "warmth",
            "label": "Warm",
            "question": "How warm is it?",
            "points": 3,
            "words": ["1: cold", "3: warm"],
        },
        {"name": "sense", "question": "Does it make sense?"},
    ]
    create_study({**DEMO, "name": "scales", "protocol": "likert", "task": {"criteria": criteria}}, User.objects.get())

    html = html_of(researcher_client.get("/studies/scales/"))

    assert "TableCell" not in html
    assert (
        "warmth · As people read it: Warm · Question: How warm is it? · Points: 3 · Words at points: 1: cold, 3: warm"
        in html
    )
    assert " sense · Question: Does it make sense? · Points: 5</dd>" in html


@pytest.mark.usefixtures("example_corpus")
def test_the_cost_panel_names_what_is_in_the_way_and_the_design_says_what_nothing_means(
    researcher_client: Client,
) -> None:
    create_study({**DEMO, "screening": [{"rule": "too_few_points", "points": 1}]}, User.objects.get())

    cost = html_of(
        researcher_client.post("/studies/demo/preview/cost/", {"hits.dialogs": "2", "pay.bonus_points": "9"})
    )
    study = html_of(researcher_client.get("/studies/demo/"))

    assert "<code>pay.bonus_points</code>: 9 points can never be won" in cost
    assert '>0 <span class="small">0: as many as one likes</span>' in study
    assert "too_few_points (points 1)" in study
