"""The study form chooses the crowd: its options and its words follow, and no filter stays that it can't apply."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hits.batching import build_hits
from hits.crowds import CROWDS
from hits.crowds.mturk.mturk_words import MTURKS_WORDS
from hits.designing import check_draft, create_study, parse_design, switch_crowd
from hits.models import Study
from hits.serving import drafted_page, drafted_study, frozen_hit, shown_pages
from tests.conftest import DEMO
from tests.hits.test_study_form import STEPS, send_back, shown_fields
from tests.hits.toy_crowd import WORDS, ToyCrowd
from tests.pages import html_of

TOY = {"name": "toy", "countries": [], "min_approved": 0, "min_approval_percent": 0}
TEXTS = ("welcome", "consent", "contact")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> ToyCrowd:
    crowd = ToyCrowd()
    monkeypatch.setitem(CROWDS, crowd.name, crowd)
    return crowd


@pytest.fixture
def draft(example_corpus: None, researcher_client: Client, toy: ToyCrowd) -> Study:
    return create_study(DEMO, User.objects.get())


def form_of(client: Client, step: str) -> str:
    return html_of(client.get(f"/studies/demo/edit/{step}/"))


def post(client: Client, fields: dict[str, Any], go: str = "") -> str:
    typed = {**shown_fields(client, "demo", "crowd"), **fields, "go": go}
    return html_of(client.post("/studies/demo/edit/crowd/", typed, follow=True))


def test_one_crowd_is_no_choice(
    example_corpus: None, researcher_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CROWDS.keys() - {"mturk"}:
        monkeypatch.delitem(CROWDS, name)
    create_study(DEMO, User.objects.get())

    page = form_of(researcher_client, "crowd")

    assert 'name="crowd.name"' not in page
    assert 'name="crowd.frame_height"' in page


def test_choosing_another_crowd_asks_for_its_options_and_unsets_what_it_can_t_do(
    draft: Study, researcher_client: Client
) -> None:
    assert '<option value="mturk" selected>Amazon Mechanical Turk</option>' in form_of(researcher_client, "crowd")

    page = post(researcher_client, {"crowd.name": "toy"}, go="plan")

    draft.refresh_from_db()
    assert draft.design["crowd"] == {**draft.design["crowd"], **TOY}
    assert check_draft(draft.design).problems == []
    assert "It can&#x27;t choose people by country or approved work" in page
    assert 'name="crowd.options.ages"' in page  # the step is shown again, with the crowd's own settings
    assert 'name="crowd.frame_height"' not in page
    post(researcher_client, {"crowd.options.ages": "18-25, 26-40"})
    draft.refresh_from_db()
    assert draft.design["crowd"]["options"] == {"ages": ["18-25", "26-40"]}
    assert 'value="18-25, 26-40"' in form_of(researcher_client, "crowd")

    page = post(researcher_client, {"crowd.name": "mturk"})

    draft.refresh_from_db()
    assert "Removed, because only the former one has them: ages." in page
    assert parse_design(draft.design).crowd.countries == ["US", "AU", "NZ", "GB", "CA"]
    assert parse_design(draft.design) == parse_design(DEMO)


@pytest.mark.usefixtures("draft")
def test_a_draft_for_another_crowd_survives_the_form(researcher_client: Client) -> None:
    given = {**DEMO, "crowd": {**TOY, "options": {"ages": ["18-25"]}}, "task": {"welcome": "Our own."}}
    Study.objects.update(design=given)

    for step in STEPS:
        send_back(researcher_client, "demo", step)

    assert parse_design(Study.objects.get().design) == parse_design(given)
    assert Study.objects.get().design["task"] == {"welcome": "Our own."}


@pytest.mark.parametrize("crowd", ["x", [1], {"name": 1}, {"name": "toy", "options": "x"}, {"options": {"ages": 1}}])
@pytest.mark.usefixtures("draft")
def test_no_malformed_crowd_breaks_a_page(researcher_client: Client, crowd: Any) -> None:
    Study.objects.update(design={**DEMO, "crowd": crowd})

    for step in STEPS:
        assert researcher_client.get(f"/studies/demo/edit/{step}/").status_code == 200


@pytest.mark.usefixtures("draft")
def test_a_crowd_that_nobody_knows_is_a_problem_that_the_form_repairs(researcher_client: Client) -> None:
    Study.objects.update(design={**DEMO, "crowd": {"name": "songs"}})
    assert "&#x27;songs&#x27; is no crowd; use one of: mturk" in form_of(researcher_client, "crowd")

    post(researcher_client, {"crowd.name": "mturk"})

    assert check_draft(Study.objects.get().design).problems == []


# --- Its words -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("toy")
def test_default_texts_are_true_on_every_crowd() -> None:
    usual, other = (parse_design({**DEMO, **crowd}).task for crowd in ({}, {"crowd": TOY}))

    assert usual == other
    said = " ".join(getattr(usual, name) for name in TEXTS)
    for word in ("HIT", "marketplace", "MTurk", "Prolific", "worker", "participant", "return"):
        assert word not in said
    assert "you may stop at any time, and stopping does not count against you" in said


@pytest.mark.usefixtures("toy")
def test_texts_stay_when_the_crowd_changes() -> None:
    settings = {**DEMO, "task": {"welcome": "Our own.", "contact": parse_design(DEMO).task.contact}}

    switched, _ = switch_crowd(settings, "toy")

    assert switched["task"] == settings["task"]
    assert switched["crowd"] == TOY
    assert switch_crowd(switched, "mturk")[0]["crowd"] == {"name": "mturk"}


def test_previews_of_a_draft_use_the_words_of_the_planned_crowd(draft: Study) -> None:
    design = parse_design({**DEMO, "crowd": TOY})
    study = create_study({**DEMO, "name": "other", "crowd": TOY}, User.objects.get())
    build_hits(study)

    for page in [drafted_page(drafted_study(design)), *shown_pages(frozen_hit(study.key, 0), None)]:
        assert page["crowd"]["hit"] == WORDS.hit
        assert page["facts"]["requester"] == WORDS.requester
        assert MTURKS_WORDS.requester not in json.dumps(page)
    assert drafted_page(drafted_study(parse_design(DEMO)))["crowd"]["hit"] == "HIT"
