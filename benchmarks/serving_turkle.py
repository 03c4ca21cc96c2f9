"""Turkle's side of `benchmarks.serving`: its workers accept, see and submit tasks of ten ratings.

On SQLite, Turkle refuses workers who come at the same time ("The database is busy. Please try again."). They try again.
"""

import json
import os
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlencode

from benchmarks.environments import python_of
from benchmarks.serving_load import AT_ONCE, Browser, Load, put_load
from benchmarks.serving_server import ROOT, gunicorn, settle
from benchmarks.third_party.drive_turkle import QUESTIONS, RATINGS


class TurkleSite:
    def __init__(self, database: tuple[Path, str, int | None], task_count: int) -> None:
        folder, url, self._database_process = database
        self._python = python_of("turkle")
        self._environment = {
            **os.environ,
            "VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "benchmarks.third_party.turkle_site",
            "TURKLE_DATABASE": json.dumps(_settings(folder, url)),
        }
        filled = self._run("fill", task_count, AT_ONCE)
        settle(url)
        self._batch = filled["batch"]
        self._sessions: SimpleQueue[str] = SimpleQueue()
        for session in filled["sessions"]:
            self._sessions.put(session)
        self._acknowledged: dict[str, dict[str, str]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> "TurkleSite":
        site = ["django.core.wsgi:get_wsgi_application()", "--workers", "2"]
        command = [str(self._python), "-m", "gunicorn", *site]
        self._port, self._process = self._stack.enter_context(gunicorn(command, self._environment))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def work(self, count: int, load: Load) -> None:
        processes = [self._process, self._database_process]
        put_load(load, range(count), lambda number: self._do(load, number), processes)

    def _do(self, load: Load, number: int) -> int:
        session = self._sessions.get()
        try:
            return self._do_as(session, load, number)
        finally:
            self._sessions.put(session)

    def _do_as(self, session: str, load: Load, number: int) -> int:
        browser = Browser(self._port, load, {"Cookie": f"sessionid={session}"})
        address = self._accept(browser)
        browser.ask("task page", "GET", address)
        task, assignment = re.findall(r"\d+", address)
        frame, headers = browser.ask("frame", "GET", f"/task/{task}/assignment/iframe/{assignment}/")
        fields = {f"rating{question}": RATINGS[(number + question) % 3] for question in range(QUESTIONS)}
        form, cookie = _form_token(frame, headers)
        browser.ask(
            "submit",
            "POST",
            address,
            urlencode({**fields, **form}),
            302,
            {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"sessionid={session}{cookie}"},
        )
        self._acknowledged[assignment] = fields
        return QUESTIONS

    def _accept(self, browser: Browser) -> str:
        while True:
            _, headers = browser.ask("accept", "GET", f"/batch/{self._batch}/accept_next_task/", expected=302)
            if "/task/" in headers["Location"]:
                return str(headers["Location"])

    def lost(self) -> int:
        stored = self._run("answers")
        return sum(
            stored.get(assignment, {}).get(name) != value
            for assignment, fields in self._acknowledged.items()
            for name, value in fields.items()
        )

    def _run(self, *words: object) -> Any:
        command = [str(self._python), "-m", "benchmarks.third_party.drive_turkle", *map(str, words)]
        output = subprocess.run(command, cwd=ROOT, env=self._environment, stdout=subprocess.PIPE, check=True).stdout
        return json.loads(output.splitlines()[-1])


def _settings(folder: Path, url: str) -> dict[str, Any]:
    if not url:
        # This is SQLite as in Turkle's documentation, but it waits for a lock instead of failing under 32 workers.
        file = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "turkle.sqlite3")}
        return {**file, "OPTIONS": {"timeout": 60}}
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(url)
    # Connections stay open. Its documentation does not ask for this, and it makes Turkle faster.
    names = {"NAME": parts["dbname"], "USER": parts["user"], "HOST": parts["host"]}
    return {"ENGINE": "django.db.backends.postgresql", **names, "CONN_MAX_AGE": None}


def _form_token(frame: str, headers: Any) -> tuple[dict[str, str], str]:
    """Return Django's CSRF token of the form in the frame: the field and the cookie."""
    field = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', frame)
    cookie = re.search(r"csrftoken=(\w+)", headers.get("Set-Cookie", ""))
    assert field is not None
    assert cookie is not None
    return {"csrfmiddlewaretoken": field[1]}, f"; csrftoken={cookie[1]}"
