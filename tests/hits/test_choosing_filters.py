"""The study form chooses Prolific's filters from what its API lists; without the list, ids are typed."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from hits.designing import check_draft, create_study
from hits.models import FilterList, Study
from localprolific import misbehaving
from localprolific.models import ParticipantGroup, Workspace
from tests.conftest import DEMO
from tests.hits.prolific_study import PARTICIPANTS, POUNDS, no_faults
from tests.hits.test_study_form import send_back, shown_fields
from tests.pages import html_of

__all__ = ["no_faults"]

PRESSED = "/studies/demo/edit/crowd/filters/"
COUNTRY = {"filter_id": "current-country-of-residence", "selected_values": ["1", "0"]}
RATE = {"filter_id": "approval_rate", "selected_range": {"lower": 95, "upper": 100}}
IDS = {"filter_id": "custom_allowlist", "selected_values": ["5f00a1c3b2d4e6f708192a01"]}
STRANGE = {"filter_id": "shoe-size", "selected_values": ["9"]}
PATH = "crowd.options.filters"


@pytest.fixture
def draft(example_corpus: None, researcher_client: Client) -> Study:
    options = {"filters": [COUNTRY, RATE, IDS, STRANGE], "devices": ["desktop"], "signed_links": True}
    return create_study({**DEMO, "crowd": {**PARTICIPANTS, "options": options}, "pay": POUNDS}, User.objects.get())


def press(client: Client, act: str, part_only: bool = True, **typed: Any) -> str:
    fields = {**shown_fields(client, "demo", "crowd"), "press": act, **typed}
    headers = {"HX-Request": "true"} if part_only else {}
    return html_of(client.post(PRESSED, fields, headers=headers))


def filters_of(study: Study) -> list[dict[str, Any]]:
    study.refresh_from_db()
    return list(study.design["crowd"]["options"]["filters"])


@pytest.mark.parametrize("is_listed", [False, True], ids=["without the list", "with the list"])
def test_saving_unchanged_changes_nothing(draft: Study, researcher_client: Client, is_listed: bool) -> None:
    if is_listed:
        press(researcher_client, "ask")
    before = draft.design

    send_back(researcher_client, "demo", "crowd")

    draft.refresh_from_db()
    assert draft.design == before


def test_without_the_list_ids_are_typed(draft: Study, researcher_client: Client) -> None:
    page = html_of(researcher_client.get("/studies/demo/edit/crowd/"))
    assert "Nobody has asked Prolific yet which filters it has" in page
    assert not FilterList.objects.exists()

    typed = shown_fields(researcher_client, "demo", "crowd")
    typed |= {f"{PATH}.4.id": ["age"], f"{PATH}.4.lower": ["18"], f"{PATH}.4.upper": ["35"], "go": [""]}
    typed |= {f"{PATH}.0.typed": ["0, 2"]}
    researcher_client.post("/studies/demo/edit/crowd/", typed)

    assert filters_of(draft) == [
        {**COUNTRY, "selected_values": ["0", "2"]},
        RATE,
        IDS,
        STRANGE,
        {"filter_id": "age", "selected_range": {"lower": 18, "upper": 35}},
    ]


def test_asking_lists_titles_and_choices_and_is_remembered(draft: Study, researcher_client: Client) -> None:
    part = press(researcher_client, "ask")
    page = html_of(researcher_client.get("/studies/demo/edit/crowd/"))

    for html in (part, page):
        assert "Current country of residence" in html
        assert re.search(r'value="0"\s+checked> United Kingdom', html)
        assert "from 0 to 100" in html
        assert "list has no filter of this id" in html  # shoe-size
    assert part.lstrip().startswith("<fieldset")
    assert FilterList.objects.get().environment == "local"


def test_filters_are_found_by_words_added_and_removed(draft: Study, researcher_client: Client) -> None:
    press(researcher_client, "ask")

    found = press(researcher_client, "find", sought="chatbots conversational")
    added = press(researcher_client, "add:ai-chatbots-use", sought="chatbots")
    removed = press(researcher_client, "remove:0")
    nothing = press(researcher_client, "find", sought="zebra")

    assert "Use of AI chatbots" in found
    assert "1 found." in found
    assert "Added: Use of AI chatbots." in added
    assert f'name="{PATH}.4.values" value="0"' in " ".join(added.split())
    assert "Removed: Current country of residence." in removed
    assert "No other filter has these words." in nothing
    assert len(filters_of(draft)) == 4  # nothing is saved by any of it


def test_groups_of_the_workspace_are_the_choices_of_filters_about_groups(
    draft: Study, researcher_client: Client
) -> None:
    press(researcher_client, "ask")  # makes the workspace
    workspace = Workspace.objects.get()
    for key, name in (("a1", "Those of the pilot"), ("a2", "EvalPlatform key local 12 enough")):
        ParticipantGroup.objects.create(group_id=key, workspace=workspace, name=name)

    press(researcher_client, "ask")
    part = press(researcher_client, "add:participant_group_allowlist")

    assert "Those of the pilot" in part
    assert "enough" not in part  # our own


def test_what_is_chosen_is_saved_by_the_form(draft: Study, researcher_client: Client) -> None:
    press(researcher_client, "ask")
    fields = shown_fields(researcher_client, "demo", "crowd")
    row = {f"{PATH}.row": ["0", "1", "2"], f"{PATH}.2.id": ["ai-chatbots-use"], f"{PATH}.2.values": ["0", "1"]}
    fields = {name: value for name, value in fields.items() if not name.startswith((f"{PATH}.2", f"{PATH}.3"))}

    researcher_client.post("/studies/demo/edit/crowd/", {**fields, **row, "go": ""})

    chatbots = {"filter_id": "ai-chatbots-use", "selected_values": ["0", "1"]}
    assert filters_of(draft) == [{**COUNTRY, "selected_values": ["0", "1"]}, RATE, chatbots]
    assert check_draft(draft.design).problems == []


def test_without_javascript_the_step_is_shown_again_with_what_is_typed(draft: Study, researcher_client: Client) -> None:
    page = press(researcher_client, "ask", part_only=False, **{"crowd.max_hits_per_worker": "7"})

    assert "<h1>Crowd</h1>" in page
    assert "Current country of residence" in page
    assert 'name="crowd.max_hits_per_worker" value="7"' in " ".join(page.split())
    draft.refresh_from_db()
    assert draft.design["crowd"].get("max_hits_per_worker") != 7


@pytest.mark.parametrize("was_asked", [False, True])
def test_a_prolific_that_cannot_be_reached_is_said_and_the_form_goes_on(
    draft: Study, researcher_client: Client, was_asked: bool
) -> None:
    if was_asked:
        press(researcher_client, "ask")
    misbehaving.add_process_fault("fail-before", operation="list_filters")

    part = press(researcher_client, "ask")

    assert "could not be asked: Prolific does not accept requests right now" in part
    assert ("Current country of residence" in part) is was_asked
    send_back(researcher_client, "demo", "crowd")
    assert filters_of(draft) == [COUNTRY, RATE, IDS, STRANGE]


def test_a_server_without_a_token_says_so(draft: Study, researcher_client: Client, settings: Settings) -> None:
    settings.PROLIFIC_ENVIRONMENT, settings.PROLIFIC_TOKEN = "production", ""

    assert "There is no token for Prolific." in press(researcher_client, "ask")


@pytest.mark.parametrize(
    "filters",
    [
        "no list",
        [7],
        [{}],
        [{"filter_id": 7, "selected_values": {"a": 1}}],
        [{"filter_id": "age", "selected_range": 4}],
    ],
)
def test_a_malformed_draft_breaks_no_page(draft: Study, researcher_client: Client, filters: Any) -> None:
    draft.design["crowd"]["options"]["filters"] = filters
    draft.save()

    press(researcher_client, "ask")
    for act in ("find", "add:age", "add:nothing", "remove:0", "remove:99", "remove:x", ""):
        press(researcher_client, act)
    assert researcher_client.get("/studies/demo/edit/crowd/").status_code == 200


def test_another_crowd_has_no_such_part(draft: Study, researcher_client: Client) -> None:
    create_study({**DEMO, "name": "other"}, User.objects.get())

    assert 'id="filters"' not in html_of(researcher_client.get("/studies/other/edit/crowd/"))
    assert press(researcher_client, "find", True, **{"crowd.name": "link"}) == ""  # chosen, and not saved yet
    assert researcher_client.get(PRESSED).status_code == 302
