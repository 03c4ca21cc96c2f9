"""Run gunicorn during a `with` block, and let a database come to rest before it is measured."""

import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def gunicorn(command: list[str], environment: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    """Run gunicorn, and yield its port and process. It logs to a file, as a real one would."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (Path(environment["VAR_DIR"]) / "server.log").open("w") as log:
        bound = [*command, "--bind", f"127.0.0.1:{port}"]
        process = subprocess.Popen(bound, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        _wait_for(port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.1)
    raise RuntimeError("the server did not start within a minute")


def settle(url: str) -> None:
    """Let PostgreSQL clean up after the filling now, and not while workers are measured."""
    if url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
