"""Tasks whose processes the tests kill, and a kind of generator that only their processes know."""

import os
import time
from pathlib import Path

from celery import shared_task

import tests.scripted_generator  # noqa: F401


@shared_task
def hang_the_first_time(diary: str) -> None:
    """Writes its process id into the diary; then hangs if it is the first to do so, and is done otherwise."""
    with Path(diary).open("a") as file:
        file.write(f"started {os.getpid()}\n")
    if Path(diary).read_text().count("started") == 1:
        time.sleep(600)
    with Path(diary).open("a") as file:
        file.write("done\n")


@shared_task
def write_diary(diary: str) -> None:
    with Path(diary).open("a") as file:
        file.write("done\n")
