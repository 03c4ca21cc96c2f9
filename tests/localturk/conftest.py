"""The local marketplace and its cast. `turk` is a real boto3 client, once in-process and once over HTTP."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from django.db import connection
from pytest_django import DjangoDbBlocker

from hits.localturk import faults, in_process
from hits.localturk.clock import Clock
from hits.localturk.models import WorkerAccount
from hits.localturk.seeding import ensure_worker_accounts
from tests.processes import ROOT, as_a_user_has_it

Worker = WorkerAccount
StartServer = Callable[..., str]


# Only what another process must see has to be committed, and cleared away after the test: that takes its time.
@pytest.fixture(
    params=[
        pytest.param("in-process", marks=pytest.mark.django_db),
        pytest.param("http", marks=pytest.mark.django_db(transaction=True)),
    ]
)
def turk(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("in_process_turk" if request.param == "in-process" else "http_turk")


@pytest.fixture(scope="session")
def in_process_turk() -> Any:
    client = boto_client("http://localturk.invalid")
    in_process.attach(client)
    return client


@pytest.fixture(scope="session")
def http_turk(server_url: str) -> Any:
    return boto_client(server_url)


def boto_client(url: str, **retries: Any) -> Any:
    """Without retries unless asked for: a test sees the first answer."""
    return boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="any",
        aws_secret_access_key="any",
        config=Config(retries=retries or {"mode": "standard", "total_max_attempts": 1}),
    )


@pytest.fixture(scope="session")
def server_url(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """One server for all tests, on their database. It makes workers when it starts; tests make their own."""
    with django_db_blocker.unblock():
        server = _start_server(_database_url())
        url = _url_of(server)
        WorkerAccount.objects.all().delete()
    yield url
    _stop(server)


@pytest.fixture
def start_server(test_database_url: str) -> Iterator[StartServer]:
    """`manage.py localturk` with options, for one test."""
    started: list[subprocess.Popen[str]] = []

    def start(*options: str) -> str:
        started.append(_start_server(test_database_url, *options))
        return _url_of(started[-1])

    yield start
    for server in started:
        _stop(server)


@pytest.fixture
def clock(db: None) -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    faults.clear_process_faults()


@pytest.fixture
def workers(db: None) -> dict[str, Worker]:
    return {worker.name: worker for worker in ensure_worker_accounts()}


@pytest.fixture
def alice(workers: dict[str, Worker]) -> Worker:
    return workers["Alice"]


@pytest.fixture
def bruno(workers: dict[str, Worker]) -> Worker:
    return workers["Bruno"]


def _database_url() -> str:
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite://{name}"
    base, _, query = os.environ["TEST_DATABASE_URL"].partition("?")
    return f"{base.rpartition('/')[0]}/{name}?{query}"


def _start_server(database_url: str, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "localturk", "--port", "0", *options],
        cwd=ROOT,
        env={**as_a_user_has_it(), "DATABASE_URL": database_url},
        stdout=subprocess.PIPE,
        text=True,
    )


def _url_of(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    line = server.stdout.readline()
    assert "http://" in line, f"localturk said {line!r}"
    return next(word for word in line.split() if word.startswith("http://"))


def _stop(server: subprocess.Popen[str]) -> None:
    server.terminate()
    server.wait()
