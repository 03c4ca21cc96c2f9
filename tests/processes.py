"""Real processes for the tests: background processes that can be killed, and commands run as a user would."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class BackgroundProcess:
    """Celery's `worker` with its pool, in a process group of its own."""

    def __init__(
        self, log: Path, environment: dict[str, str], queues: str = "default,gpu", name: str = "celery@%h"
    ) -> None:
        self.log = log
        command = [
            sys.executable,
            "-m",
            "celery",
            "--app",
            "evalplatform",
            "--skip-checks",
            "worker",
            "--include",
            "tests.slow_tasks",
        ]
        options = ["--queues", queues, "--concurrency", "1", "--loglevel", "info", "--hostname", name]
        with log.open("w") as file:
            self._process = subprocess.Popen(
                [*command, *options],
                cwd=ROOT,
                env={**os.environ, **environment},
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def kill(self) -> None:
        """SIGKILL to the process and all of its pool: what a crash of the machine looks like to the broker."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def stop_all(processes: Iterable[BackgroundProcess]) -> None:
    for process in processes:
        process.kill()


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`manage.py` in a process of its own, as a user runs it."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**as_a_user_has_it(), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def as_a_user_has_it() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"}


def wait_until(is_true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {seconds:.0f} seconds")
        time.sleep(0.05)
