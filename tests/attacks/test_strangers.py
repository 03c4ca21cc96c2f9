"""Strangers who come to a server in production mode, and to the local marketplace where it is open."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.attacks.production import ProductionServer, serve
from tests.processes import manage

KEYS = {"LOCAL_MARKET_KEY_ID": "AKIATHEIRS", "LOCAL_MARKET_SECRET_KEY": "a-secret-of-thirty-characters-"}
MAKE_A_STUDY = """
from pathlib import Path
from django.contrib.auth.models import User
from django.core.management import call_command
User.objects.create_superuser("rosa", password="the-usual-secret")
corpus = Path("examples/corpus")
for name in ("subtitles", "emotional", "empathetic"):
    call_command("import_dialogs", corpus / f"{name}.jsonl", dataset=f"example-{name}", owner="rosa")
call_command("import_candidates", corpus / "candidates.jsonl", owner="rosa")
call_command("create_study", "examples/demo.toml", owner="rosa")
call_command("build_hits", "demo")
call_command("publish_hits", "demo")
"""
VALUES = {"int": "1", "uuid": "2c2a4e4e-3f0e-4c5e-9f6a-000000000000"}

# What strangers may open, and nothing else: the door itself, whether the server is well, and workers' pages, which let
# in who comes from a marketplace. An unknown study's page is not found.
OPEN = {"/login/", "/health/"}


def all_addresses() -> list[str]:
    """Of every pattern, those too that a production server leaves out."""
    return sorted(set(_addresses("/", get_resolver("evalplatform.urls").url_patterns)))


def _addresses(prefix: str, patterns: list[Any]) -> Iterator[str]:
    for one in patterns:
        path = prefix + _filled(str(one.pattern))
        if isinstance(one, URLResolver):
            yield from _addresses(path, one.url_patterns)
        elif isinstance(one, URLPattern):
            yield path


def _filled(pattern: str) -> str:
    """`<int:pk>/` -> `1/`. The admin has a regular expression for what it does not know."""
    filled = re.sub(r"<(?:(\w+):)?\w+>", lambda found: VALUES.get(found[1], "x"), pattern)
    return re.sub(r"\(\?P.*\$", "x", filled).strip("^$")


def test_strangers_find_every_address_closed_but_the_few_that_are_for_them(server: ProductionServer) -> None:
    addresses = all_addresses()

    answers = {("GET", path): server.ask(path).status for path in addresses}
    # With a token against forged forms, which the log-in page gives to everyone.
    token = server.ask("/login/").headers["Set-Cookie"].split("csrftoken=")[1].split(";")[0]
    forms = {"Cookie": f"csrftoken={token}", "X-CSRFToken": token, "Referer": "https://eval.example.org/login/"}
    answers |= {("POST", path): server.ask(path, "POST", b"", forms).status for path in addresses}

    assert len(addresses) > 80
    assert {path for (_, path), status in answers.items() if status in (200, 503)} == OPEN
    let_in = {key: status for key, status in answers.items() if status not in (302, 401, 403, 404, 405)}
    assert {path for _, path in let_in} == OPEN
    assert all(
        server.ask(path).headers["Location"].startswith(("/login/", "/admin/login/")) for path in ("/", "/admin/")
    )


def test_a_researcher_who_logs_in_there_finds_every_page(server: ProductionServer) -> None:
    """None of them may need an address of the marketplace that is closed."""
    made = manage("shell", "-v0", "-c", MAKE_A_STUDY, **server.environment)
    assert made.returncode == 0, made.stderr
    token = server.ask("/login/").headers["Set-Cookie"].split("csrftoken=")[1].split(";")[0]
    forms = {
        "Cookie": f"csrftoken={token}",
        "X-CSRFToken": token,
        "Referer": "https://eval.example.org/login/",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    logged_in = server.ask("/login/", "POST", b"username=rosa&password=the-usual-secret", forms)
    assert logged_in.status == 302
    cookie = {"Cookie": f"sessionid={logged_in.all_cookies.split('sessionid=')[1].split(';')[0]}"}

    pages = ["/", "/datasets/", "/models/", "/studies/", "/studies/demo/", "/studies/demo/publishing/"]
    pages += ["/studies/demo/monitor/", "/studies/demo/workers/", "/tokens/", "/api/", "/api/schema/", "/admin/"]
    answers = {page: server.ask(page, headers=cookie) for page in pages}

    assert {page: answer.status for page, answer in answers.items()} == dict.fromkeys(pages, 200)
    assert not [page for page, answer in answers.items() if "/market/" in answer.text]


@pytest.mark.parametrize("path", ["/localturk/api/", "/market/", "/market/hits/", "/market/mturk/externalSubmit"])
def test_the_local_marketplace_does_not_exist_in_production(server: ProductionServer, path: str) -> None:
    target = {"X-Amz-Target": "MTurkRequesterServiceV20170117.ListHITs"}

    assert server.ask(path, "POST", b"{}", target).status == 404
    assert server.ask(path).status == 404


def test_a_stranger_s_schema_is_the_log_in_page(server: ProductionServer) -> None:
    assert server.ask("/api/schema/").headers["Location"] == "/login/?next=/api/schema/"
    assert server.ask("/api/").headers["Location"] == "/login/?next=/api/"


def test_the_marketplace_s_own_server_is_not_started_without_keys(server: ProductionServer) -> None:
    in_production = manage("localturk", "--port", "0", **server.environment)
    to_everyone = manage("localturk", "--port", "0", "--host", "0.0.0.0")

    for refused in (in_production, to_everyone):
        assert refused.returncode == 1
        assert "Set LOCAL_MARKET_KEY_ID and LOCAL_MARKET_SECRET_KEY first" in refused.stderr


def test_switching_it_on_in_production_needs_keys_and_then_strangers_meet_locks(server: ProductionServer) -> None:
    without = manage("check", **server.environment, LOCAL_MARKET="true")
    assert "LOCAL_MARKET_SECRET_KEY must be set" in without.stderr

    environment = {**server.environment, "LOCAL_MARKET": "true", **KEYS}
    with serve(environment, is_prepared=True) as server:
        target = {"X-Amz-Target": "MTurkRequesterServiceV20170117.ListHITs"}
        unsigned = server.ask("/localturk/api/", "POST", b"{}", target)
        market, hits = server.ask("/market/"), server.ask("/market/hits/")
        submitted = server.ask(
            "/market/mturk/externalSubmit",
            "POST",
            b"assignmentId=3X&a=1",
            {"Content-Type": "application/x-www-form-urlencoded"},
        )
        invited = manage("invite_worker", "--name", "Ana", "--country", "CH", **environment)
        path = invited.stdout.split()[-1].removeprefix("https://eval.example.org")
        invitation = server.ask(path)

    assert unsigned.status == 403
    assert json.loads(unsigned.text)["__type"] == "MissingAuthenticationTokenException"
    assert (market.status, hits.status, hits.headers["Location"]) == (200, 302, "/market/")
    assert "Sign in to work" in market.text
    assert "Alice" not in market.text
    assert submitted.status == 404
    assert "Welcome, Ana" in invitation.text
