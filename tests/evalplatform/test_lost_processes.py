"""A lost process's task is given to another: on a real Redis and on the embedded broker, with real SIGKILLs."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from celery import Celery
from django.conf import settings
from kombu import Connection

from evalplatform.embedded_broker import count_live_processes
from tests.processes import BackgroundProcess, wait_until

StartProcess = Callable[..., BackgroundProcess]


@pytest.fixture(params=["embedded", "redis"])
def broker_environment(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    if request.param == "embedded":
        return {"VAR_DIR": str(tmp_path)}
    return {"BROKER_URL": request.getfixturevalue("redis_url"), "BROKER_LOST_TASK_SECONDS": "2"}


def test_the_task_of_a_killed_process_is_done_by_another(
    broker_environment: dict[str, str], start_process: StartProcess, tmp_path: Path
) -> None:
    diary = tmp_path / "diary"
    first = start_process(**broker_environment)
    _send("tests.slow_tasks.hang_the_first_time", str(diary), broker_environment)
    wait_until(diary.exists, "the first start")

    first.kill()
    start_process(**broker_environment)

    wait_until(lambda: "done" in diary.read_text(), "the task's second run")
    assert diary.read_text().count("started") == 2


def test_the_task_of_a_killed_pool_process_is_done_by_the_same_process(
    broker_environment: dict[str, str], start_process: StartProcess, tmp_path: Path
) -> None:
    diary = tmp_path / "diary"
    start_process(**broker_environment)
    _send("tests.slow_tasks.hang_the_first_time", str(diary), broker_environment)
    wait_until(lambda: diary.exists() and "\n" in diary.read_text(), "the first start")

    os.kill(int(diary.read_text().split()[1]), signal.SIGKILL)

    wait_until(lambda: "done" in diary.read_text(), "the task's second run")


def test_one_task_is_taken_at_a_time_so_that_the_others_wait_for_a_free_process(
    broker_environment: dict[str, str], start_process: StartProcess, tmp_path: Path
) -> None:
    environment = {**broker_environment, "BROKER_LOST_TASK_SECONDS": "60"}
    diaries = [tmp_path / f"diary{number}" for number in range(3)]
    start_process(**environment)

    for diary in diaries:
        _send("tests.slow_tasks.hang_the_first_time", str(diary), environment)
    wait_until(diaries[0].exists, "the first start")

    # One task runs and one may be fetched ahead; the third is still there for another process.
    assert _count_waiting(environment) >= 1
    start_process(**environment)
    wait_until(lambda: sum(diary.exists() for diary in diaries) == 2, "the start on a second process")


def test_a_task_for_gpus_waits_for_a_process_of_that_queue_and_runs_once(
    broker_environment: dict[str, str], start_process: StartProcess, tmp_path: Path
) -> None:
    gpu_diary, default_diary = tmp_path / "gpu", tmp_path / "default"
    start_process(queues="default", **broker_environment)

    _send("tests.slow_tasks.write_diary", str(gpu_diary), broker_environment, queue="gpu")
    _send("tests.slow_tasks.write_diary", str(default_diary), broker_environment)
    wait_until(default_diary.exists, "the default task")
    assert not gpu_diary.exists()
    start_process(queues="default,gpu", **broker_environment)

    wait_until(gpu_diary.exists, "the task for GPUs")
    _send("tests.slow_tasks.write_diary", str(tmp_path / "last"), broker_environment)
    wait_until((tmp_path / "last").exists, "a later task")
    assert gpu_diary.read_text() == "done\n"


def test_live_processes_are_told_from_dead_ones(start_process: StartProcess, tmp_path: Path) -> None:
    first = start_process(VAR_DIR=str(tmp_path))
    start_process(VAR_DIR=str(tmp_path))
    wait_until(lambda: count_live_processes(tmp_path / "broker") == 2, "the start of two processes")

    first.kill()

    wait_until(lambda: count_live_processes(tmp_path / "broker") == 1, "the end of one")


def test_an_unread_message_of_the_embedded_broker_survives_its_sender(tmp_path: Path) -> None:
    def connect() -> Connection:
        return Connection("files://localhost", transport_options={"folder": str(tmp_path)})

    with connect() as sender:
        sender.SimpleQueue("default").put({"number": 7})

    with connect() as receiver:
        message = receiver.SimpleQueue("default").get(timeout=5)
        assert message.payload == {"number": 7}
        message.ack()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_an_unreadable_message_is_set_aside_and_stops_nobody(tmp_path: Path) -> None:
    with Connection("files://localhost", transport_options={"folder": str(tmp_path)}) as connection:
        queue = connection.SimpleQueue("default")
        (tmp_path / "waiting" / "default~00000000000000000000~cut-off").touch()
        queue.put({"number": 7})

        assert queue.get(timeout=5).payload == {"number": 7}
    assert [path.name for path in (tmp_path / "broken").iterdir()] == ["default~00000000000000000000~cut-off"]


def test_a_requeued_message_is_delivered_again_and_once(tmp_path: Path) -> None:
    with Connection("files://localhost", transport_options={"folder": str(tmp_path)}) as connection:
        queue = connection.SimpleQueue("default")
        queue.put({"number": 7})
        queue.get(timeout=5).requeue()

        queue.get(timeout=5).ack()

        with pytest.raises(queue.Empty):
            queue.get(block=False)
    assert list((tmp_path / "waiting").iterdir()) == []


def _count_waiting(environment: dict[str, str]) -> int:
    if url := environment.get("BROKER_URL"):
        return int(redis.Redis.from_url(url).llen("default"))
    return len(list((Path(environment["VAR_DIR"]) / "broker" / "waiting").iterdir()))


def _send(task: str, argument: str, environment: dict[str, str], queue: str = "default") -> None:
    """From a Celery application of its own, since each test has a broker of its own."""
    url = environment.get("BROKER_URL", "files://localhost")
    with Celery(broker=url, set_as_current=False) as app:
        app.conf.task_queues = settings.CELERY_TASK_QUEUES
        if "VAR_DIR" in environment:
            app.conf.broker_transport_options = {"folder": f"{environment['VAR_DIR']}/broker"}
        app.send_task(task, args=[argument], queue=queue)
