"""`manage.py localturk` in a process of its own, on the tests' database."""

import os
import subprocess
import sys

from django.db import connection

from tests.processes import ROOT, as_a_user_has_it


class LocalTurkProcess:
    def __init__(self, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "localturk", "--port", "0", *options],
            cwd=ROOT,
            env={**as_a_user_has_it(), "DATABASE_URL": database_url()},
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def url(self) -> str:
        """As it says itself when it has started. To be asked once."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert "http://" in line, f"localturk said {line!r}"
        return next(word for word in line.split() if word.startswith("http://"))

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def database_url() -> str:
    """Under which other processes find the tests' database."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite://{name}"
    base, _, query = os.environ["TEST_DATABASE_URL"].partition("?")
    return f"{base.rpartition('/')[0]}/{name}?{query}"
