"""Run public clients for Prolific, which others wrote, with the local Prolific over HTTP.

python -m benchmarks.third_party_prolific [--clients pyrolific dallinger]

Each client comes from PyPI into its own environment under var/bench/, and its own code publishes a study, reads the
work, reviews it and pays a bonus (`benchmarks.third_party.drive_*`). Participants work in between. We read the outcome
from the tables, and the calls from what the server prints.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environments import python_of, requirements_of, version_in
from benchmarks.third_party.prolific_scenario import BONUS_CENTS

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS = 120


@dataclass(frozen=True)
class PublicClient:
    """A client, the module that drives it, and what it should see when it looks at the work."""

    driver: str
    seen: dict[str, Any]


CLIENTS = {
    "pyrolific": PublicClient(
        "drive_pyrolific",
        {
            "statuses": ["APPROVED", "REJECTED"],
            "bonus_cents": BONUS_CENTS,
            "places": [3, 4],
            "rewards": 600,
            "currency": "GBP",
            "members": 1,
            "filters": True,
            "event_types": 4,
            "secret": True,
        },
    ),
    "dallinger": PublicClient(
        "drive_dallinger_prolific",
        {"submissions": 2, "statuses": ["APPROVED"], "places": [3, 4], "cost": 840, "studies": 1, "me": True},
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", nargs="+", choices=CLIENTS, default=list(CLIENTS))
    print(f"{'client':10} {'version':8} {'calls':>6} {'refused':>8} {'seconds':>8}  result")
    broken = [name for name in parser.parse_args().clients if not _try_out(name)]
    if broken:
        sys.exit(f"Broken with {', '.join(broken)}.")


def _try_out(name: str) -> bool:
    python = python_of(name)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "ERROR"}
        environment |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings"}
        command = [sys.executable, "-c", RUN, name, str(python)]
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
        calls = [line.split() for line in _lines(Path(folder) / "calls.log")[2:]]
    refused = Counter(f"{method} {path}" for method, path, status in calls if not status.startswith("2"))
    result = ran.stderr.strip() if ran.returncode else f"refused {dict(refused)}" if refused else "ok"
    version = version_in(requirements_of(name), name)
    print(f"{name:10} {version:8} {len(calls):>6} {refused.total():>8} {seconds:>8.1f}  {result}", flush=True)
    return result == "ok"


RUN = """
import sys, django
django.setup()
from benchmarks import third_party_prolific
third_party_prolific.run(sys.argv[1], sys.argv[2])
"""


def run(name: str, python: str) -> None:
    """Run a client's scenario in its own process, with a database for this client alone."""
    from datetime import timedelta

    from django.core.management import call_command

    from localprolific.models import PaidBonus, WalletEntry
    from localprolific.panel_clock import Clock
    from localprolific.passing_time import settle

    call_command("migrate", verbosity=0)
    with _server(Path(os.environ["VAR_DIR"]) / "calls.log") as (url, token):
        study_id = _drive(name, python, "publish", url, token)
        settle(Clock().advance(timedelta(seconds=5)))
        _work(study_id)
        seen = _drive(name, python, "review", url, token, study_id)
        settle(Clock().advance(timedelta(minutes=5)))
    _expect("what the client saw", seen, CLIENTS[name].seen)
    _expect("bonuses", list(PaidBonus.objects.values_list("amount_cents", flat=True)), [BONUS_CENTS])
    _expect("payments", sorted(WalletEntry.objects.values_list("kind", flat=True)), ["Bonus", "Reward"])


def _work(study_id: str) -> None:
    from localprolific import participating
    from localprolific.models import ProlificStudy
    from localprolific.panel_clock import Clock
    from localprolific.seeding import ensure_participants

    study, now = ProlificStudy.objects.get(study_id=study_id), Clock().now()
    for who in ensure_participants()[:2]:
        participating.start(participating.reserve(who, study, now), now)
        participating.complete(who, "DONE1", now)


@contextmanager
def _server(log: Path) -> Iterator[tuple[str, str]]:
    with log.open("w") as file:
        command = [sys.executable, "manage.py", "localprolific", "--port", "0", "--verbosity", "2"]
        server = subprocess.Popen(command, cwd=ROOT, stdout=file)
    try:
        deadline = time.monotonic() + MOST_SECONDS
        while len(lines := _lines(log)) < 2:
            if time.monotonic() > deadline:
                sys.exit("The local Prolific did not start.")
            time.sleep(0.05)
        yield next(word for word in lines[0].split() if word.startswith("http")), lines[1].split()[-1]
    finally:
        server.terminate()
        server.wait()


def _lines(log: Path) -> list[str]:
    """Return the complete lines."""
    return [line.strip() for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _drive(name: str, python: str, *step: str) -> Any:
    """Run a step of the client with its own home folder."""
    home = Path(os.environ["VAR_DIR"])
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    command = [python, "-m", f"benchmarks.third_party.{CLIENTS[name].driver}", *step]
    options: dict[str, Any] = {"capture_output": True, "text": True, "check": False, "timeout": MOST_SECONDS}
    ran = subprocess.run(command, cwd=home, env=environment, **options)
    if ran.returncode != 0:
        sys.exit(f"{step[0]} failed:\n{ran.stdout}{ran.stderr}")
    return json.loads(ran.stdout.splitlines()[-1])


def _expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"{what}: {found}, expected {expected}")


if __name__ == "__main__":
    main()
