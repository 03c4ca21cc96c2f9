"""The local marketplace and its cast. `turk` is a real boto3 client, once in-process and once over HTTP."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from localturk import faults, in_process
from localturk.clock import Clock
from localturk.models import WorkerAccount
from localturk.seeding import ensure_worker_accounts
from tests.localturk_process import LocalTurkProcess

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
def http_turk(localturk_url: str) -> Any:
    return boto_client(localturk_url)


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


@pytest.fixture
def start_server(transactional_db: None) -> Iterator[StartServer]:
    """`manage.py localturk` with options, for one test."""
    started: list[LocalTurkProcess] = []

    def start(*options: str) -> str:
        started.append(LocalTurkProcess(*options))
        return started[-1].url

    yield start
    for server in started:
        server.stop()


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
