"""A study that another version froze, with settings that this one does not have: one clear line, and never a 500."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from hits.crowds.mturk.client import MTurkMarket
from hits.models import Study
from tests.hits.crowd import publish
from tests.pages import html_of

LINE = "was frozen by evalplatform"


@pytest.fixture(
    params=[
        lambda design: {**design, "pay": {**design["pay"], "tip_cents": 5}},
        lambda design: {**design, "seed": "many"},
        lambda design: {**design, "protocol": "telepathy"},
    ],
    ids=["unknown setting", "invalid value", "unknown protocol"],
)
def study(request: pytest.FixtureRequest, demo_study: Study, market: MTurkMarket, researcher: User) -> Study:
    publish(demo_study, market)
    change: Callable[[dict[str, Any]], dict[str, Any]] = request.param
    Study.objects.update(owner=researcher, design=change(demo_study.design))
    return Study.objects.get()


def test_every_page_of_the_study_says_what_is_wrong_and_what_to_do(study: Study, researcher_client: Client) -> None:
    for page in ["", "monitor/", "workers/", "assignments/", "ledger/", "hits/0/"]:
        response = researcher_client.get(f"/studies/demo/{page}")

        assert response.status_code in (200, 409), page
        if response.status_code == 409:
            assert LINE in html_of(response)
            assert "run the version that froze it" in html_of(response)
    assert researcher_client.get("/studies/demo/").status_code == 409


def test_pages_about_all_studies_are_shown_as_before(study: Study, researcher_client: Client) -> None:
    for page in ["/", "/studies/"]:
        assert researcher_client.get(page).status_code == 200


@pytest.mark.parametrize("command", ["publish_hits", "sync_hits", "screen_study", "show_results"])
def test_a_command_ends_with_that_line(study: Study, command: str) -> None:
    with pytest.raises(CommandError) as refusal:
        call_command(command, "demo")

    assert LINE in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_worker_is_asked_to_try_again(study: Study, client: Client) -> None:
    response = client.get(f"/work/{study.key}/0/", {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})

    assert response.status_code == 503
    assert "What you saved before is safe" in html_of(response)
