"""Our side of `benchmarks.serving`: serve the paper's study on synthetic dialogs, and let workers do it.

As a program, in the environment of the site, it takes `fill HITS ASSIGNMENTS`, `answers` or `forget`, and prints JSON
in its last line.
"""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.serving_load import Browser, Load, put_load
from benchmarks.serving_server import ROOT, gunicorn, settle

AREAS = ("good", "okay", "bad")
HITS_PER_WORKER = 40
Places = dict[int, dict[str, str]]  # the area of each card's place, by the dialog's position


class OurSite:
    def __init__(self, database: tuple[Path, str, int | None], hit_count: int, assignments_per_hit: int) -> None:
        folder, url, self._database_process = database
        self._environment = {
            **os.environ,
            "VAR_DIR": str(folder),
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "evalplatform.settings",
            "LOG_FORMAT": "json",  # as where nobody looks at a terminal
            **(PRODUCTION if url else {}),
        }
        self._scheme = "https" if url else "http"
        self._assignments_per_hit = assignments_per_hit
        self._study_key = self._run("fill", hit_count, assignments_per_hit)
        settle(url)
        self._next = 0
        self._acknowledged: dict[str, Places] = {}
        self._stack = ExitStack()

    def __enter__(self) -> "OurSite":
        if "SERVER_MODE" in self._environment:
            collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
            subprocess.run(collect, cwd=ROOT, env=self._environment, check=True)
        command = [sys.executable, "-m", "gunicorn", "evalplatform.wsgi", "--workers", "2"]
        self._port, self._process = self._stack.enter_context(gunicorn(command, self._environment))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def work(self, count: int, load: Load) -> None:
        """Do the next assignments, HIT by HIT."""
        numbers = range(self._next, self._next + count)
        self._next += count
        put_load(load, numbers, lambda number: self._do(load, number), [self._process, self._database_process])

    def address(self, number: int) -> str:
        """Return the address of an assignment's page, as in the marketplace's frame."""
        hit, place = divmod(number, self._assignments_per_hit)
        visit = {
            "assignmentId": f"ASSIGNMENT{number}",
            "hitId": f"HIT{hit}",
            "workerId": f"WORKER{place}X{hit // HITS_PER_WORKER}",
            "turkSubmitTo": f"{self._scheme}://127.0.0.1:{self._port}",
        }
        return f"http://127.0.0.1:{self._port}/work/{self._study_key}/{hit}/?{urlencode(visit)}"

    def _do(self, load: Load, number: int) -> int:
        browser = Browser(self._port, load, {"X-Forwarded-Proto": self._scheme})  # as a proxy in front says it
        html, _ = browser.ask("open", "GET", self.address(number).removeprefix(f"http://127.0.0.1:{self._port}"))
        page = json.loads(unescape(html.split('type="application/json">', 1)[1].split("</script>", 1)[0]))
        token = {"Authorization": f"Assignment {page['token']}", "Content-Type": "application/json"}
        answers: Places = {}
        for position, dialog in enumerate(page["dialogs"]):
            areas = {str(card): AREAS[(number + position + card) % 3] for card in range(len(dialog["cards"]))}
            answer = {"position": position, "revision": 0, "areas": areas, "active_ms": 30_000, "hidden_ms": 0}
            body: dict[str, Any] = {"dialogs": [answer], "step": f"dialog-{position}"}
            if position == 0:
                body["consent"] = page["consent_version"]
            saved = json.loads(_post(browser, "save", body, token))
            answer["revision"] = saved["dialogs"][0]["revision"]
            if dialog["has_bonus"]:
                _post(browser, "check", {**answer, "attempt": 1}, token)
            answers[position] = areas
        _post(browser, "submit", {"dialogs": [], "feedback": ""}, token)  # as the page does when all is saved
        self._acknowledged[f"ASSIGNMENT{number}"] = answers
        return sum(map(len, answers.values()))

    def lost(self) -> int:
        """Count acknowledged ratings that the database does not have in the same place."""
        stored = self._run("answers")
        return sum(
            stored.get(assignment, {}).get(str(position), {}).get(place) != area
            for assignment, dialogs in self._acknowledged.items()
            for position, areas in dialogs.items()
            for place, area in areas.items()
        )

    def forget_answers(self) -> None:
        self._run("forget")
        self._acknowledged.clear()
        self._next = 0

    def _run(self, *words: object) -> Any:
        command = [sys.executable, "-m", "benchmarks.serving_ours", *map(str, words)]
        output = subprocess.run(
            command, cwd=ROOT, env={**self._environment, "LOG_LEVEL": "ERROR"}, stdout=subprocess.PIPE, check=True
        ).stdout
        return json.loads(output.splitlines()[-1])


PRODUCTION = {
    "SERVER_MODE": "production",
    "SECRET_KEY": "only-for-a-benchmark-on-this-machine-0123456789-abcdefghijklmnopqrstuvwxyz",
    "ALLOWED_HOSTS": "127.0.0.1",
    "BROKER_URL": "redis://127.0.0.1:1/0",  # serving asks no broker
    "PUBLIC_URL": "https://127.0.0.1",
    "BEHIND_HTTPS_PROXY": "1",
    "LOCAL_MARKET": "1",  # where the benchmark's workers come from
    "LOCAL_MARKET_KEY_ID": "benchmark",
    "LOCAL_MARKET_SECRET_KEY": "only-for-a-benchmark-on-this-machine",
}


def _post(browser: Browser, name: str, body: dict[str, Any], headers: dict[str, str]) -> str:
    return browser.ask(name, "POST", f"/work/api/{name}/", json.dumps(body), headers=headers)[0]


def fill(hit_count: int, assignments_per_hit: int) -> str:
    from django.core.management import call_command
    from django.utils import timezone

    from benchmarks.batching_data import make_data
    from hits.batching import build_hits
    from hits.designing import create_study
    from hits.models import Publication, offering_for

    call_command("migrate", verbosity=0)
    settings = make_data(hit_count * 10)
    settings["hits"]["assignments"] = assignments_per_hit
    study = create_study(settings)
    build_hits(study)
    now, offering = timezone.now(), offering_for(study, "local")
    Publication.objects.bulk_create(
        (
            Publication(
                hit=hit,
                offering=offering,
                crowd_hit_id=f"HIT{hit.number}",
                intended_at=now,
                published_at=now,
            )
            for hit in study.hits.order_by("number")
        ),
        batch_size=1000,
    )
    return str(study.key)


def answers() -> dict[str, Any]:
    """Return the answers of submitted assignments, by the cards' places."""
    from hits.models import Answer

    found: dict[str, Any] = {}
    names = ("assignment__crowd_assignment_id", "item__position", "card_order", "value")
    for assignment, position, order, value in Answer.objects.filter(assignment__submitted_at__isnull=False).values_list(
        *names
    ):
        areas = {str(place): value["areas"].get(str(card)) for place, card in enumerate(order)}
        found.setdefault(assignment, {})[position] = areas
    return found


def forget() -> None:
    from hits.models import Answer, Assignment, BonusCheck

    for model in (BonusCheck, Answer, Assignment):
        model._default_manager.all().delete()


if __name__ == "__main__":
    import django

    django.setup()
    what, *numbers = sys.argv[1:]
    steps: dict[str, Any] = {"fill": fill, "answers": answers, "forget": forget}
    print(json.dumps(steps[what](*map(int, numbers))))
