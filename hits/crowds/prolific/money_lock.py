"""Lets one run of this server at a time move money on Prolific: calls that meet there are answered with 429.

It is politeness, not safety: what must happen once is claimed in the database as well. The lock is a PostgreSQL
advisory lock, or a file's lock beside SQLite; both are free again when the process that held them has died.
"""

import fcntl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from hits.errors import MarketUnavailable

WAIT_SECONDS = 60.0
LOOK_SECONDS = 0.05
LOCK_NUMBER = 7_376_109_642  # any number that nobody else uses in this database

_in_this_process = threading.Lock()


@contextmanager
def money_lock(wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    until = time.monotonic() + wait_seconds
    if not _in_this_process.acquire(timeout=wait_seconds):
        raise _busy()
    try:
        with _in_all_processes(until):
            yield
    finally:
        _in_this_process.release()


@contextmanager
def _in_all_processes(until: float) -> Iterator[None]:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            while not _ask(cursor, "SELECT pg_try_advisory_lock(%s)"):
                _wait(until)
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                _ask(cursor, "SELECT pg_advisory_unlock(%s)")
        return
    with (settings.VAR_DIR / "prolific-money.lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                _wait(until)
        yield  # closing the file unlocks it


def _ask(cursor: object, sql: str) -> bool:
    cursor.execute(sql, [LOCK_NUMBER])  # type: ignore[attr-defined]
    return bool(cursor.fetchone()[0])  # type: ignore[attr-defined]


def _wait(until: float) -> None:
    if time.monotonic() > until:
        raise _busy()
    time.sleep(LOOK_SECONDS)


def _busy() -> MarketUnavailable:
    return MarketUnavailable("Another run of this server is paying on Prolific. The next sync goes on.")
