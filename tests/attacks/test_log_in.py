"""Guessing passwords, and failing on purpose so that others can't log in."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from evalplatform.models import AttemptCount
from tests.attacks.production import ProductionServer
from tests.pages import html_of
from tests.processes import manage

PASSWORD = "the-usual-secret"


def log_in(client: Client, name: str = "rosa", password: str = "a guess", address: str = "198.51.100.1") -> Any:
    return client.post("/login/", {"username": name, "password": password}, REMOTE_ADDR=address)


def let_time_pass(seconds: float) -> None:
    AttemptCount.objects.update(last_at=F("last_at") - timedelta(seconds=seconds))


def test_after_some_guesses_even_the_right_password_has_to_wait_and_is_told_how_long(researcher: User) -> None:
    stranger = Client()
    assert [log_in(stranger).status_code for _ in range(10)] == [200] * 10

    refused = log_in(stranger, password=PASSWORD)

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert "Please try again in 5 seconds." in html_of(refused)
    let_time_pass(5)
    assert log_in(stranger, password=PASSWORD).status_code == 302


def test_waits_double_and_end_at_a_minute(researcher: User) -> None:
    stranger = Client()
    for number in range(10):
        log_in(stranger, address=f"198.51.100.{number}")
    waits = []

    for number in range(6):
        waits.append(int(log_in(stranger, address=f"203.0.113.{number}").headers["Retry-After"]))
        let_time_pass(waits[-1])
        assert log_in(stranger, address=f"203.0.113.{number}").status_code == 200

    assert waits == [5, 10, 20, 40, 60, 60]


def test_one_address_that_tries_many_names_has_to_wait_and_others_do_not(researcher: User) -> None:
    stranger = Client()
    for number in range(20):
        assert log_in(stranger, name=f"name{number}").status_code == 200

    assert log_in(stranger, name="one more").status_code == 429
    assert log_in(Client(), password=PASSWORD).status_code == 429
    assert log_in(Client(), password=PASSWORD, address="192.0.2.9").status_code == 302


def test_logging_in_to_one_s_own_account_does_not_clear_the_address(researcher: User) -> None:
    User.objects.create_user("mallory", password=PASSWORD)
    attempts = 0

    for number in range(40):
        attempts += log_in(Client(), name=f"victim{number}").status_code == 200
        log_in(Client(), name="mallory", password=PASSWORD)

    assert attempts == 20


def test_a_browser_that_has_logged_in_before_is_not_held_up_by_a_stranger(researcher: User) -> None:
    own = Client()
    log_in(own, password=PASSWORD)
    own.post("/logout/")
    for number in range(60):
        log_in(Client(), address=f"198.51.100.{number}")
    assert log_in(Client(), password=PASSWORD, address="192.0.2.9").status_code == 429

    assert log_in(own, password=PASSWORD).status_code == 302


def test_a_known_browser_is_known_for_its_own_account_only_and_is_limited_too(researcher: User) -> None:
    User.objects.create_user("mallory", password=PASSWORD)
    mallory = Client()
    log_in(mallory, name="mallory", password=PASSWORD)

    assert [log_in(mallory).status_code for _ in range(11)] == [200] * 10 + [429]
    assert [log_in(mallory, name="mallory").status_code for _ in range(11)] == [200] * 10 + [429]


@pytest.mark.django_db(transaction=True)
def test_many_guesses_at_once_are_no_way_around_it() -> None:
    User.objects.create_user("rosa", password=PASSWORD)

    def guess(_: int) -> int:
        try:
            return int(log_in(Client()).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(guess, range(40)))

    assert statuses.count(200) == 10
    assert statuses.count(429) == 30


@pytest.mark.parametrize("spelling", ["rosa", "ROSA", "ｒｏｓａ", "Rosa"])
def test_other_spellings_of_a_name_are_the_same_account(researcher: User, spelling: str) -> None:
    for number in range(10):
        log_in(Client(), address=f"198.51.100.{number}")

    assert log_in(Client(), name=spelling).status_code == 429


def test_the_admin_has_no_door_of_its_own(researcher: User) -> None:
    guess = Client().post("/admin/login/", {"username": "rosa", "password": PASSWORD})

    assert (guess.status_code, guess.headers["Location"]) == (302, "/login/?next=%2Fadmin%2F")
    assert "sessionid" not in guess.cookies


def test_behind_a_proxy_the_address_is_the_proxy_s_word_and_not_the_visitor_s(
    researcher: User, settings: Settings
) -> None:
    settings.PROXY_COUNT = 1

    def guess(number: int) -> int:
        claimed = f"10.0.0.{number}, 198.51.100.1"
        client = Client(headers={"X-Forwarded-For": claimed})
        return int(log_in(client, name=f"name{number}", address="127.0.0.1").status_code)

    assert [guess(number) for number in range(21)] == [200] * 20 + [429]


def test_what_was_typed_as_a_name_is_nowhere_in_the_database(researcher: User) -> None:
    log_in(Client(), name="my password by mistake")

    assert not AttemptCount.objects.filter(key__contains="password").exists()
    assert AttemptCount.objects.count() == 2


@pytest.mark.parametrize("database_url", ["sqlite:///missing-folder/db.sqlite3", "postgresql://127.0.0.1:1/eval"])
def test_the_log_in_page_comes_while_the_database_is_away(database_url: str, tmp_path: Path) -> None:
    script = """
from django.test import Client
client = Client(headers={"host": "localhost"})
print(client.get("/login/").status_code)
client.cookies["sessionid"] = "s0me0ne" * 5  # as long as one that would be looked up
print(client.get("/login/").status_code)
"""

    told = manage("shell", "-v0", "-c", script, VAR_DIR=str(tmp_path), DATABASE_URL=database_url)

    assert told.stdout == "200\n200\n", told.stderr


def test_logging_in_without_a_database_says_what_is_wrong_and_keeps_the_name(tmp_path: Path) -> None:
    script = """
from django.test import Client
client = Client(headers={"host": "localhost"})
response = client.post("/login/", {"username": "rosa", "password": "x"})
page = response.content.decode()
print(response.status_code, "database does not answer" in page, 'value="rosa"' in page)
"""

    told = manage(
        "shell", "-v0", "-c", script, VAR_DIR=str(tmp_path), DATABASE_URL="sqlite:///missing-folder/db.sqlite3"
    )

    assert told.stdout == "503 True True\n", told.stderr


def test_strangers_who_ask_for_health_all_the_time_do_not_slow_the_log_in_down(server: ProductionServer) -> None:
    with ThreadPoolExecutor(10) as strangers:
        for _ in range(2):  # each process looks once
            list(strangers.map(lambda _: server.ask("/health/"), range(10)))
        asked = [strangers.submit(server.ask, "/health/") for _ in range(500)]
        started = time.monotonic()
        page = server.ask("/login/")
        seconds = time.monotonic() - started
        statuses = {one.result().status for one in asked}

    assert page.status == 200
    assert seconds < 1.5
    assert statuses == {503}
