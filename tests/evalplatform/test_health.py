"""The health page tells database, broker and background processes apart."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from tests.pages import html_of
from tests.processes import BackgroundProcess, manage, wait_until
from tests.servers import RedisServer

HEALTH = """
from evalplatform.health import check_health
print({part.name: part.is_well for part in check_health()})
"""


def health_of(**environment: str) -> str:
    return manage("shell", "-v0", "-c", HEALTH, **environment).stdout.strip()


def test_without_a_background_process_only_that_is_missing(tmp_path: Path) -> None:
    assert health_of(VAR_DIR=str(tmp_path)) == "{'Database': True, 'Broker': True, 'Background processes': False}"


def test_with_redis_the_broker_s_own_end_is_told_from_the_processes(
    tmp_path: Path, start_process: Callable[..., BackgroundProcess]
) -> None:
    redis = RedisServer(tmp_path)
    environment = {"VAR_DIR": str(tmp_path), "BROKER_URL": redis.url}
    try:
        start_process(**environment)
        all_well = "{'Database': True, 'Broker': True, 'Background processes': True}"
        wait_until(lambda: health_of(**environment) == all_well, "a healthy state")
    finally:
        redis.kill()

    assert health_of(**environment) == "{'Database': True, 'Broker': False, 'Background processes': False}"


@pytest.mark.parametrize("database_url", ["sqlite:///missing-folder/db.sqlite3", "postgresql://127.0.0.1:1/eval"])
def test_the_page_itself_comes_when_the_database_is_down_and_tells_it_from_the_others(
    database_url: str, tmp_path: Path
) -> None:
    script = """
from django.test import Client
client = Client(headers={"host": "localhost", "accept": "text/html"})
client.cookies["sessionid"] = "s0me0ne" * 5  # as long as one that would be looked up
response = client.get("/health/")
print(response.status_code, response.content.decode().count("missing</td>"))
print([part["is_well"] for part in client.get("/health/", headers={"accept": "application/json"}).json()["parts"]])
"""

    told = manage("shell", "-v0", "-c", script, VAR_DIR=str(tmp_path), DATABASE_URL=database_url)

    assert told.stdout == "503 2\n[False, True, False]\n"


@pytest.mark.django_db
def test_monitors_get_json_and_a_status_without_logging_in(client: Client) -> None:
    response = client.get("/health/", headers={"accept": "application/json"})

    assert response.status_code == 503
    assert response.json()["parts"] == [
        {"name": "Database", "is_well": True},
        {"name": "Broker", "is_well": True},
        {"name": "Background processes", "is_well": False},
    ]
    assert client.get("/health/", headers={"accept": "text/html"}).status_code == 503


def test_details_are_for_who_is_logged_in(researcher_client: Client) -> None:
    as_json = researcher_client.get("/health/", headers={"accept": "application/json"})
    as_page = html_of(researcher_client.get("/health/", headers={"accept": "text/html"}))
    as_stranger = html_of(Client().get("/health/", headers={"accept": "text/html"}))

    assert [part["detail"] for part in as_json.json()["parts"]][1:] == [
        "embedded: files on this machine",
        "none is running; start one with: .venv/bin/celery --app evalplatform worker --beat --queues default,gpu",
    ]
    assert "none is running" in as_page
    assert "none is running" not in as_stranger
