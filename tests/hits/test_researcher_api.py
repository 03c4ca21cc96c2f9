"""The API for researchers' programs: tokens, filters, pages, errors in one sentence."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.access import make_token, pseudonym
from hits.analysing import compute_results
from hits.models import ApiToken, Rating, Study, StudyResults, offering_for
from hits.screening import screen
from tests.hits.rated import rate


class Program:
    """A researcher's, with a token."""

    def __init__(self, user: User) -> None:
        self.token = make_token(user, "notebook", timezone.now())
        self.client = Client()

    def get(self, address: str, **parameters: Any) -> Any:
        url = address if address.startswith("http") else f"/api/{address}"
        return self.client.get(url, parameters or None, headers={"Authorization": f"Token {self.token}"})


@pytest.fixture
def program(researcher: User) -> Program:
    cache.clear()  # how often was asked, by the user's key
    return Program(researcher)


def rows(program: Program, study: Study, **parameters: Any) -> list[dict[str, Any]]:
    """Of all pages."""
    answer = program.get(f"studies/{study.key}/ratings/", **parameters)
    assert answer.status_code == 200, answer.content
    found = answer.json()["results"]
    while address := answer.json()["next"]:
        answer = program.get(address)
        found += answer.json()["results"]
    return list(found)


def test_a_program_lists_studies_and_reads_one(program: Program, demo_study: Study) -> None:
    (listed,) = program.get("studies/").json()["results"]
    shown = program.get(f"studies/{listed['key']}/").json()
    progress = program.get(f"studies/{listed['key']}/progress/").json()

    assert (listed["name"], listed["owner"], listed["is_frozen"]) == ("demo", "rosa", True)
    assert shown["manifest_hash"] == demo_study.manifest_hash
    assert shown["design"]["generators"] == ["generic", "listener-large", "listener-small", "parrot"]
    assert (progress["market"], progress["published"], progress["submitted"]) == ("local", 0, 0)


def test_ratings_come_page_by_page_with_filters(program: Program, demo_study: Study) -> None:
    rate(demo_study, hits=2)
    screen(offering_for(demo_study, "local"), timezone.now())

    every = rows(program, demo_study, page_size=100)
    kept = rows(program, demo_study, kept="true")
    left_out = rows(program, demo_study, kept="false")
    worker = pseudonym(demo_study, "WORKER1")

    assert [row["id"] for row in every] == list(Rating.objects.order_by("pk").values_list("pk", flat=True))
    assert len(kept) + len(left_out) == len(every)
    assert {(row["is_kept"], row["excluded_by"]) for row in kept} == {(True, None)}
    assert {(row["is_kept"], row["excluded_by"]) for row in left_out} == {(False, "same_answer")}
    human = rows(program, demo_study, generator="human")
    assert {row["generator"] for row in human} == {None}
    assert human
    some = rows(program, demo_study, dataset="example-emotional", generator="parrot", worker=worker)
    assert {(row["dataset"], row["generator"], row["worker"]) for row in some} == {
        ("example-emotional", "parrot", worker)
    }
    scores = {row["value"]: row["score"] for row in every}
    assert scores == {"good": 3, "okay": 2, "bad": 1}


def test_a_page_takes_as_many_queries_whatever_its_size(program: Program, demo_study: Study) -> None:
    rate(demo_study, hits=2)
    screen(offering_for(demo_study, "local"), timezone.now())

    def count(size: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            program.get(f"studies/{demo_study.key}/ratings/", page_size=size)
        return len(queries)

    count(1)  # notes that the token is used
    assert count(10) == count(300)


def test_results_are_given_as_they_were_computed_last(program: Program, demo_study: Study) -> None:
    address = f"studies/{demo_study.key}/results/"
    assert program.get(address).json()["state"] == "nothing rated"
    rate(demo_study, hits=1)
    asked = program.get(address)
    assert (asked.status_code, asked.json()["state"], asked.json()["results"]) == (202, "being computed", None)

    compute_results(offering_for(demo_study, "local"), timezone.now)

    answer = program.get(address)
    assert answer.status_code == 200
    assert answer.json()["state"] == "current"
    assert answer.json()["results"] == json.loads(StudyResults.objects.get().results)
    assert answer.json()["answer"].startswith("Simulated: not for publication.")


@pytest.mark.parametrize(
    ("address", "parameters", "status", "words"),
    [
        ("ratings/", {"kept": "maybe"}, 400, "'maybe' can't be the kept; it is one of: true, false."),
        ("ratings/", {"generator": "gpt"}, 400, "'gpt' can't be the generator"),
        ("ratings/", {"datset": "x"}, 400, "There is no parameter 'datset' here."),
        ("ratings/", {"worker": "W-NOBODY"}, 400, "No worker of this study is called 'W-NOBODY'."),
        ("ratings/", {"cursor": "nonsense"}, 404, "Invalid cursor"),
        ("progress/", {"market": "ebay"}, 400, "'ebay' is no marketplace here"),
        ("nothing/", {}, 404, "There is nothing at /api/studies/"),
    ],
)
def test_errors_are_one_sentence_in_json(
    program: Program, demo_study: Study, address: str, parameters: dict[str, str], status: int, words: str
) -> None:
    answer = program.get(f"studies/{demo_study.key}/{address}", **parameters)

    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")
    assert list(answer.json()) == ["error"]
    assert words in answer.json()["error"]


def test_without_a_token_that_is_known_nothing_is_answered(program: Program, researcher_client: Client) -> None:
    for headers in ({}, {"Authorization": "Token nonsense"}, {"Authorization": "Basic cm9zYQ=="}):
        answer = researcher_client.get("/api/studies/", headers=headers)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Token")
        assert "/tokens/" in answer.json()["error"]

    User.objects.update(is_active=False)
    assert program.get("studies/").status_code == 401


def test_who_asks_too_often_has_to_wait(program: Program, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = 2

    statuses = [program.get("studies/").status_code for _ in range(3)]

    assert statuses == [200, 200, 429]
    answer = program.get("studies/")
    assert int(answer["Retry-After"]) > 0
    assert "throttled" in answer.json()["error"]


def test_a_token_is_shown_once_and_can_be_revoked(researcher: User, researcher_client: Client) -> None:
    page = researcher_client.post("/tokens/", {"label": "my notebook"}).content.decode()
    token = page.split('aria-label="The new token">', 1)[1].split("<", 1)[0]
    later = researcher_client.get("/tokens/").content.decode()

    def ask() -> int:
        return Client().get("/api/studies/", headers={"Authorization": f"Token {token}"}).status_code

    assert token not in later
    assert "my notebook" in later
    assert token not in str(list(ApiToken.objects.values()))
    assert ask() == 200
    researcher_client.post(f"/tokens/{ApiToken.objects.get().pk}/revoke/")
    assert ask() == 401


def test_nobody_revokes_the_token_of_another(researcher_client: Client) -> None:
    other = User.objects.create_user("sam")
    make_token(other, "sam's", timezone.now())

    researcher_client.post(f"/tokens/{ApiToken.objects.get().pk}/revoke/")

    assert ApiToken.objects.get().revoked_at is None


def test_the_api_describes_itself_to_people_and_tools(researcher_client: Client) -> None:
    page = researcher_client.get("/api/").content.decode()
    schema = researcher_client.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"}).json()

    ours = [path for path in schema["paths"] if path.startswith("/api/studies/")]
    assert len(ours) == 5
    for path in ours:
        assert f"<code>{path}</code>" in page
    assert "excluded_by" in page
    assert "http" not in page.replace("http://testserver", "")
