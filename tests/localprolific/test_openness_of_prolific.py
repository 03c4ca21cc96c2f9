"""Where the local Prolific is open, and to whom: in rehearsals, to this machine and to researchers."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from localprolific.openness import is_open
from tests.conftest import ROOT
from tests.localprolific.conftest import this_machine

PAGES = ("", "studies/", "earned/", "submissions/complete?cc=A", ".well-known/study/jwks.json", "api/v1/users/me/")


@pytest.fixture
def client() -> Client:
    return this_machine()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000"])
def test_this_machine_may_be_called_by_each_of_its_names(db: None, settings: Settings, host: str) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

    assert Client(headers={"Host": host}).get("/localprolific/").status_code == 200


def test_a_rehearsal_shows_its_pages(client: Client, db: None) -> None:
    assert is_open()
    assert [client.get(f"/localprolific/{page}").status_code for page in PAGES] == [200, 302, 200, 409, 200, 401]


@pytest.mark.parametrize(
    "stranger",
    [
        Client(REMOTE_ADDR="203.0.113.9"),
        Client(headers={"X-Forwarded-For": "203.0.113.9"}),  # by a tunnel that nobody told us about
        Client(headers={"Host": "study.tunnel.example"}),  # by one that carries bytes and says nothing
    ],
)
def test_strangers_find_nothing_there_unless_they_have_logged_in(
    researcher: User, stranger: Client, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["testserver", "study.tunnel.example"]
    closed = {stranger.get(f"/localprolific/{page}").status_code for page in PAGES}

    stranger.force_login(researcher)

    assert closed == {404}
    assert stranger.get("/localprolific/").status_code == 200


@pytest.mark.parametrize(
    ("name", "value"), [("LOCAL_MARKET", False), ("MTURK_ENVIRONMENT", "sandbox"), ("MUST_WORKERS_SIGN_IN", True)]
)
def test_it_is_closed_where_real_people_come(
    client: Client, db: None, settings: Settings, name: str, value: object
) -> None:
    setattr(settings, name, value)

    assert {client.get(f"/localprolific/{page}").status_code for page in PAGES} == {404}


def test_each_doubtful_setting_stands_in_the_guide() -> None:
    source = (ROOT / "localprolific" / "behaviour.py").read_text()
    doubtful = re.findall(r"^    (\w+): .*# [CD]\b", source, flags=re.MULTILINE)
    guide = (ROOT / "docs" / "localprolific.md").read_text()

    times = {"publishing_seconds"}  # how long something takes, not whether
    assert len(doubtful) > 15
    assert [name for name in doubtful if name not in times and f"`{name}`" not in guide] == []
