"""Requests that no form of ours sends: they are refused, and never end in a stack trace. Run on both databases."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.urls.converters import UUIDConverter
from django.utils import timezone

from generation.corpora import jsonl
from generation.corpora.lines import Line, Problem
from generation.models import Dataset
from hits.access import make_token
from hits.designing import start_draft
from hits.models import Assignment, Event, Study
from tests.hits.rated import rate
from tests.hits.working import Worker, publish

NUL = "a\0b"
NESTED = "[" * 100_000
PARAMETERS = (
    *("market", "state", "page", "order", "show", "screening", "difference", "hourly", "hits", "budget", "reading"),
    *("name", "user_name", "label", "typed_name", "reason", "is_meant", "q", "dataset", "worker", "cursor", "next"),
    *("username", "password", "assignmentId", "workerId", "hitId", "turkSubmitTo", "note", "total_cents", "count"),
)


@pytest.fixture
def asking(researcher: User) -> Client:
    """Shows what a browser would see instead of raising what went wrong."""
    client = Client(raise_request_exception=False)
    client.force_login(researcher)
    return client


def every_address(study: Study) -> Iterator[str]:
    values: dict[str, Any] = {
        "name": study.name, "study_key": study.key, "key": 1, "pk": 1, "number": 0, "step": "data", "worker": "W-1",
        "hit_id": "H", "assignment_id": "A", "rest": "x", "token": "x",
        "call": 1, "secret": "x", "crowd": "prolific", "study_id": "a" * 24, "submission_id": "b" * 24,
    }  # fmt: skip
    for pattern in _patterns(get_resolver().url_patterns):
        if pattern.name:
            converters = pattern.pattern.converters
            given = {
                one: study.key if isinstance(converter, UUIDConverter) else values[one]
                for one, converter in converters.items()
            }
            yield reverse(pattern.name, kwargs=given)


def _patterns(found: list[Any]) -> Iterator[URLPattern]:
    for one in found:
        if isinstance(one, URLPattern):
            yield one
        elif one.namespace is None:
            yield from _patterns(one.url_patterns)


def test_nul_in_any_parameter_of_any_page_is_refused_and_nothing_breaks(asking: Client, demo_study: Study) -> None:
    rate(demo_study, hits=1)
    fields = dict.fromkeys(PARAMETERS, NUL)

    answers = {
        (method, address): getattr(asking, method)(address, fields).status_code
        for address in every_address(demo_study)
        for method in ("get", "post")
    }

    assert len(answers) > 100
    assert {code for code in answers.values() if code >= 500} == set(), answers
    assert set(answers.values()) <= {400, 401, 404, 422}, answers


@pytest.mark.parametrize("letter", ["a", "%", '"', "\x01", "\U0001f600"])
def test_a_search_for_a_word_without_end_finds_nothing_and_breaks_nothing(
    asking: Client, demo_study: Study, letter: str
) -> None:
    address = f"/datasets/{Dataset.objects.all()[0].pk}/"

    answer = asking.get(address, {"q": letter * 100_000})

    assert (answer.status_code, answer.context["page"].paginator.count) == (200, 0)


@pytest.mark.parametrize("address", ["/login/", "/admin/login/"])
def test_nul_in_a_user_name_is_no_login(db: None, address: str) -> None:
    client = Client(raise_request_exception=False)

    answer = client.post(address, {"username": NUL, "password": NUL})

    assert answer.status_code == 400
    assert client.post(address, f"username=a%00&password={NUL}", content_type="text/plain").status_code < 500


def test_nul_in_an_address_is_not_found(asking: Client, demo_study: Study) -> None:
    for address in ("/studies/a%00b/", f"/work/{demo_study.key}/0%00/", "/api/studies/%00/"):
        assert asking.get(address).status_code == 400


def test_a_worker_s_text_may_hold_anything_and_breaks_nothing(demo_study: Study) -> None:
    publish(demo_study)
    worker = Worker(demo_study.hits.all()[0]).open()
    worker.client.raise_request_exception = False

    for body in (
        NESTED,
        NESTED[:50_000],
        '{"feedback": "a\\u0000b \\ud800"}',
        json.dumps({"dialogs": [{"position": 0, "revision": 1, "areas": {NUL: NUL}, "problem": NUL}]}),
        json.dumps({"token": NUL, "dialogs": [], "feedback": NUL, "step": 1}),
    ):
        for name in ("save", "check", "submit"):
            answer = worker.call(name, body)
            assert answer.status_code < 500, (name, body[:60], answer.content[:200])


def test_nested_json_is_refused_by_every_program_s_door(asking: Client, demo_study: Study) -> None:
    token = make_token(User.objects.get(), "mine", timezone.now())
    addresses = [*(a for a in every_address(demo_study) if a.startswith(("/api/", "/work/api/"))), "/localturk/api/"]

    for address in addresses:
        headers = {"Authorization": f"Token {token}", "X-Amz-Target": "MTurkRequesterServiceV20170117.GetHIT"}
        answer = asking.post(address, NESTED, content_type="application/json", headers=headers)
        assert 400 <= answer.status_code < 500, address


def test_a_nested_line_of_a_file_is_a_problem_of_that_line() -> None:
    [problem] = jsonl.read_candidates([Line(1, '{"context": ' + NESTED)])

    assert isinstance(problem, Problem)
    assert problem.line == 1


@pytest.mark.parametrize("action", ["publish", "publish/again", "stop", "resume"])
def test_a_draft_can_t_be_published_stopped_or_resumed_and_that_is_said(
    asking: Client, researcher: User, action: str
) -> None:
    start_draft("a-draft", researcher)

    answer = asking.post(f"/studies/a-draft/{action}/", {"market": "local"}, follow=True)

    assert answer.status_code in (200, 422)
    assert "a-draft has no HITs yet" in answer.content.decode()
    assert not Event.objects.filter(text__contains="HITs").exists()
    assert not Assignment.objects.exists()
