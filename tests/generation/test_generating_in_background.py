"""Real processes and a real Redis, killed with SIGKILL in the middle: no hole, no double, nothing paid for twice."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings
from django.utils import timezone
from redis import Redis

from generation.models import Candidate, Dialog, GenerationFailure, GenerationRun
from generation.registering import Registration, register_generator
from generation.run_requests import count_run, pause_run, request_run, resume_run, undone_chunks
from tests.generation.chat_server import CUT, ChatServer, chat_server
from tests.generation.scripted_runs import make_dialogs, make_generator
from tests.processes import ROOT, BackgroundProcess, as_a_user_has_it, wait_until
from tests.servers import RedisServer

pytestmark = [pytest.mark.usefixtures("scripted_kind")]

Send = Callable[[Iterable[int]], None]


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def send(redis: RedisServer) -> Send:
    """From a Celery application of its own: the test's own has another broker."""

    def send(chunk_ids: Iterable[int]) -> None:
        with Celery(broker=redis.url, set_as_current=False) as app:
            app.conf.task_queues = settings.CELERY_TASK_QUEUES
            for chunk_id in chunk_ids:
                app.send_task("generation.tasks.answer_chunk_of_run", args=[chunk_id], queue="gpu")

    return send


def test_killed_workers_a_killed_broker_and_double_deliveries_leave_no_hole_and_no_double(
    redis: RedisServer, send: Send, start_process: Callable[..., BackgroundProcess], test_database_url: str
) -> None:
    environment = {"BROKER_URL": redis.url, "BROKER_LOST_TASK_SECONDS": "2", "DATABASE_URL": test_database_url}
    dataset = make_dialogs(*(f"dialog {number}" for number in range(58)), "be empty", "be endless")
    run = request_run(make_generator(seconds=0.04, batch_size=2), dataset, chunk_size=6)
    first = start_process(queues="gpu", **environment)
    send(undone_chunks(run))

    wait_until(lambda: Candidate.objects.count() >= 10, "the first replies")
    first.kill()
    second = start_process(queues="gpu", **environment)
    send(undone_chunks(run))
    wait_until(lambda: Candidate.objects.count() >= 24, "the second process's replies")
    redis.kill()
    second.kill()
    redis.start()
    pause_run(run, timezone.now())
    before_the_pause = Candidate.objects.count()
    send(undone_chunks(run))
    start_process(queues="gpu", **environment)
    wait_until(lambda: Redis.from_url(redis.url).llen("gpu") == 0, "putting aside what comes during the pause")
    assert Candidate.objects.count() == before_the_pause
    resume_run(run, timezone.now())
    send(undone_chunks(run))
    wait_until(lambda: GenerationRun.objects.get().finished_at is not None, "the end")

    answered = Counter(Candidate.objects.values_list("dialog__external_id", flat=True))
    assert answered.keys() == {f"dialog {number}" for number in range(58)}
    assert max(answered.values()) == 1
    failures = Counter(GenerationFailure.objects.values_list("dialog__external_id", "attempt"))
    assert failures == {(name, attempt): 1 for name in ("be empty", "be endless") for attempt in (1, 2)}
    counts = count_run(GenerationRun.objects.get(), timezone.now())
    assert (counts.answered, counts.failed) == (58, 2)
    assert Dialog.objects.count() == 60


AT_ONCE = 3


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """With replies that take a while, and one dialog over which it hangs up."""
    with chat_server() as server:
        server.seconds, server.bad = 0.05, {"dialog 7": CUT}
        yield server


@pytest.fixture
def run_on_server(server: ChatServer, transactional_db: None) -> GenerationRun:
    settings = {"url": server.url, "batch_size": AT_ONCE, "attempts": 2}
    generator = register_generator(Registration("llama", "openai-compatible", "m", settings))
    return request_run(generator, make_dialogs(*(f"dialog {number}" for number in range(60))), chunk_size=15)


def assert_that_no_answer_was_paid_for_twice(server: ChatServer, kills: int) -> None:
    saved = Counter(Candidate.objects.values_list("dialog__external_id", flat=True))
    assert saved == {f"dialog {number}": 1 for number in range(60) if number != 7}
    again = {turn: count for turn, count in server.answered.items() if count > 1}
    assert sum(again.values()) - len(again) <= kills * AT_ONCE  # what was under way, and nothing else
    assert server.asked["dialog 7"] <= 2 * 2 + kills * 2


def test_a_command_that_is_killed_asks_again_for_no_more_than_what_was_under_way(
    run_on_server: GenerationRun, server: ChatServer, test_database_url: str
) -> None:
    command = [sys.executable, "manage.py", "generate_candidates", "--dataset", "D", "--generator", "llama", "--here"]
    environment = {**as_a_user_has_it(), "DATABASE_URL": test_database_url}
    for answers in (8, 25):
        process = subprocess.Popen(command, cwd=ROOT, env=environment)
        wait_until(lambda answers=answers: Candidate.objects.count() >= answers, "the first replies")  # type: ignore[misc]
        process.kill()
        process.wait()

    subprocess.run(command, cwd=ROOT, env=environment, check=True)

    assert_that_no_answer_was_paid_for_twice(server, kills=2)


def test_killed_workers_and_messages_that_come_twice_pay_for_no_more_than_what_was_under_way(
    run_on_server: GenerationRun,
    server: ChatServer,
    redis: RedisServer,
    send: Send,
    start_process: Callable[..., BackgroundProcess],
    test_database_url: str,
) -> None:
    environment = {"BROKER_URL": redis.url, "BROKER_LOST_TASK_SECONDS": "2", "DATABASE_URL": test_database_url}
    first = start_process(queues="gpu", **environment)
    send(undone_chunks(run_on_server))
    wait_until(lambda: Candidate.objects.count() >= 8, "the first replies")
    first.kill()

    start_process(queues="gpu", **environment)
    send(undone_chunks(run_on_server))  # beside those that the broker gives back
    wait_until(lambda: GenerationRun.objects.get().finished_at is not None, "the end")

    assert_that_no_answer_was_paid_for_twice(server, kills=1)


def test_two_workers_at_the_same_chunk_at_once_ask_for_the_same_only_where_they_meet(
    server: ChatServer,
    redis: RedisServer,
    send: Send,
    start_process: Callable[..., BackgroundProcess],
    test_database_url: str,
) -> None:
    server.bad, server.seconds = {}, 0.2
    settings = {"url": server.url, "batch_size": AT_ONCE}
    generator = register_generator(Registration("llama", "openai-compatible", "m", settings))
    run = request_run(generator, make_dialogs(*(f"dialog {number}" for number in range(60))), chunk_size=60)
    environment = {"BROKER_URL": redis.url, "DATABASE_URL": test_database_url}
    send(undone_chunks(run) * 2)
    for _ in range(2):
        start_process(queues="gpu", **environment)

    wait_until(lambda: GenerationRun.objects.get().finished_at is not None, "the end")

    assert Candidate.objects.count() == 60
    twice = sum(server.asked.values()) - 60
    assert twice <= 2 * AT_ONCE
