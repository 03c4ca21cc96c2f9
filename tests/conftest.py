"""The cast of the tests: real files, real servers, a researcher."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import redis
from django.contrib.auth.models import User
from django.contrib.contenttypes.management import create_contenttypes
from django.db.models.signals import post_migrate
from django.test import Client, TransactionTestCase, override_settings
from pytest_django import DjangoDbBlocker

from generation.importing import import_candidates, import_dialogs
from hits.batching import build_hits
from hits.designing import create_study, read_study_file
from hits.models import Study
from localturk.models import WorkerAccount
from tests import localturk_process, snapshots
from tests.processes import BackgroundProcess, stop_all
from tests.repeated import is_repeated
from tests.servers import RedisServer

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "examples" / "corpus"
DEMO = read_study_file(ROOT / "examples" / "demo.toml")
SHARED_DATA = ROOT.parent / "shared" / "data"

WriteFile = Callable[..., Path]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what `make test` does not repeat on PostgreSQL: what tests/repeated.py does not list, and of that what
    touches no database or is about something else.

    That is the real data, which is about formats, and the emulator over HTTP, which is about the wire: the same
    operations run in-process on both databases.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        touches_database = item.get_closest_marker("django_db") or fixtures & {"db", "transactional_db"}
        parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
        is_on_the_wire = "http" in parameters or "over HTTP" in parameters
        if not is_repeated(item.nodeid) or not touches_database or is_on_the_wire or "shared_data" in fixtures:
            if item.get_closest_marker("postgresql"):
                raise pytest.UsageError(f"{item.nodeid} would run nowhere: tests/repeated.py does not list it.")
            item.add_marker("once")
    # The longest begins first, so that all others run beside it.
    items.sort(key=lambda item: not item.nodeid.startswith("tests/test_demo"))


@pytest.fixture
def shared_data() -> Path:
    if not SHARED_DATA.exists():
        pytest.skip("the real data in ../shared/data is not here")
    return SHARED_DATA


@pytest.fixture
def write_lines(tmp_path: Path) -> WriteFile:
    """Writes lines into a file: dicts become JSON, text and bytes stay as they are."""

    def write(*lines: Any, name: str = "file.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(b"".join(_as_bytes(line) + b"\n" for line in lines))
        return path

    return write


def _as_bytes(line: Any) -> bytes:
    if isinstance(line, bytes):
        return line
    return line.encode() if isinstance(line, str) else json.dumps(line).encode()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Django would make rights and content types anew whenever a test has cleared the tables; none asks for them."""
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)
    TransactionTestCase._fixture_teardown = lambda case: snapshots.clear()  # type: ignore[attr-defined]
    with django_db_blocker.unblock():
        snapshots.take(_build_demo_study)


@pytest.fixture
def example_corpus(db: None) -> None:
    snapshots.put_back(snapshots.CORPUS)


def _import_example_corpus() -> None:
    for name in ("subtitles", "emotional", "empathetic"):
        import_dialogs(CORPUS / f"{name}.jsonl", f"example-{name}")
    import_candidates(CORPUS / "candidates.jsonl")


def _build_demo_study() -> None:
    _import_example_corpus()
    build_hits(create_study(DEMO))


@pytest.fixture
def demo_study(example_corpus: None, researcher: User) -> Study:
    """The researcher's, built and frozen: 6 HITs of 10 dialogs of the example corpus."""
    snapshots.put_back(snapshots.STUDY)
    study = Study.objects.get()
    study.owner = researcher
    study.key = uuid4()  # what is kept at hand of a frozen study is another test's
    study.save()
    return study


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Django's own way to hash takes half a second on purpose."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture
def scripted_kind() -> None:
    """A kind of generator that does what a dialog's last turn tells it to."""
    import tests.scripted_generator  # noqa: F401


@pytest.fixture
def researcher(db: None) -> User:
    return User.objects.create_user("rosa", password="the-usual-secret")


@pytest.fixture
def researcher_client(client: Client, researcher: User) -> Client:
    client.force_login(researcher)
    return client


@pytest.fixture
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database for this process in the Redis that TEST_BROKER_URL names, empty again after the test; or a Redis of
    its own."""
    if server_url := os.environ.get("TEST_BROKER_URL"):
        number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        url = urlsplit(server_url)._replace(path=f"/{number}").geturl()
        yield url
        redis.Redis.from_url(url).flushdb()
        return
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server.url
    server.kill()


@pytest.fixture
def start_process(tmp_path: Path) -> Iterator[Callable[..., BackgroundProcess]]:
    """Start real background processes, which are ended with the test."""
    started: list[BackgroundProcess] = []

    def start(queues: str = "default,gpu", **environment: str) -> BackgroundProcess:
        started.append(BackgroundProcess(tmp_path / f"process{len(started)}.log", environment, queues))
        return started[-1]

    yield start
    stop_all(started)


@pytest.fixture
def test_database_url(transactional_db: None) -> str:
    return localturk_process.database_url()


@pytest.fixture(scope="session")
def localturk_url(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """One server for all tests, on their database. It makes workers when it starts; tests make their own."""
    with django_db_blocker.unblock():
        server = localturk_process.LocalTurkProcess()
        url = server.url
        WorkerAccount.objects.all().delete()
    yield url
    server.stop()
