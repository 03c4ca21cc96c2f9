"""Real worker processes and a real Redis, killed with SIGKILL in the middle: no hole, no double."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings
from django.utils import timezone
from redis import Redis

from generation.models import Candidate, Dialog, GenerationFailure, GenerationRun
from generation.requesting import count_run, pause_run, request_run, resume_run, undone_chunks
from tests.generation.scripted_runs import make_dialogs, make_generator
from tests.processes import WorkerProcess, wait_until
from tests.servers import RedisServer

pytestmark = [pytest.mark.usefixtures("scripted_kind"), pytest.mark.once]

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
    redis: RedisServer, send: Send, start_worker: Callable[..., WorkerProcess], test_database_url: str
) -> None:
    environment = {"BROKER_URL": redis.url, "BROKER_LOST_TASK_SECONDS": "2", "DATABASE_URL": test_database_url}
    dataset = make_dialogs(*(f"dialog {number}" for number in range(58)), "be empty", "be endless")
    run = request_run(make_generator(seconds=0.04, batch_size=2), dataset, chunk_size=6)
    first = start_worker(queues="gpu", **environment)
    send(undone_chunks(run))

    wait_until(lambda: Candidate.objects.count() >= 10, "the first replies")
    first.kill()
    second = start_worker(queues="gpu", **environment)
    send(undone_chunks(run))
    wait_until(lambda: Candidate.objects.count() >= 24, "the second worker's replies")
    redis.kill()
    second.kill()
    redis.start()
    pause_run(run, timezone.now())
    before_the_pause = Candidate.objects.count()
    send(undone_chunks(run))
    start_worker(queues="gpu", **environment)
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
