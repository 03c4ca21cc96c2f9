"""Run public MTurk tools, which others wrote for Amazon, with the local marketplace over HTTP.

python -m benchmarks.third_party_clients [--tools psiturk mephisto dallinger]

Each tool comes from PyPI into its own environment under var/bench/, and its own code publishes HITs, lists them,
approves and rejects work, pays a bonus and deletes them (`benchmarks.third_party.drive_*`). Workers of the marketplace
do the work in between. We read the outcome from the marketplace's tables, and the calls from what its server prints.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.environments import python_of, requirements_of, version_in
from benchmarks.third_party.scenario import BONUS_DOLLARS, HITS, REWARD_DOLLARS, TITLE

if TYPE_CHECKING:
    from localturk.models import TurkAssignment, TurkHit

ROOT = Path(__file__).resolve().parent.parent
REWARD_CENTS, BONUS_CENTS = round(REWARD_DOLLARS * 100), round(BONUS_DOLLARS * 100)
WORKERS = ("A1ALICEQ8R2KZ7", "A3FINNXZ2GF8T4")  # both from the US
FROM_ELSEWHERE = "A2INESBV3HA1Q6"
MOST_SECONDS = 120


@dataclass(frozen=True)
class Tool:
    """A tool, with the number of assignments that it wants for a HIT, and the calls that it expects to be refused."""

    name: str
    max_assignments: int
    refused: dict[str, int]

    def version_of(self, package: str) -> str:
        return version_in(requirements_of(self.name), package)


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("psiturk", 2, {}),
        # It tries to delete every HIT, and expires those that can't be yet.
        Tool("mephisto", 1, {"DeleteHIT": 10}),
        # A name that is taken, two workers without the qualification, and two who are approved automatically.
        Tool("dallinger", 2, {"CreateQualificationType": 1, "GetQualificationScore": 2, "ApproveAssignment": 2}),
    )
}


class Broken(Exception):
    """The tool or the marketplace did something wrong."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    names = parser.parse_args().tools
    print(f"{'tool':10} {'version':8} {'botocore':9} {'calls':>6} {'refused':>8} {'seconds':>8}  result")
    broken = [name for name in names if not _try_out(TOOLS[name])]
    if broken:
        sys.exit(f"Broken with {', '.join(broken)}.")


def _try_out(tool: Tool) -> bool:
    python = python_of(tool.name)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "ERROR"}
        environment |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings"}
        command = [sys.executable, "-c", RUN, tool.name, str(python)]
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
        calls = [line.split() for line in _lines(Path(folder) / "calls.log")[1:]]
    refused = Counter(operation for operation, status in calls if status != "200")
    result = ran.stderr.strip() if ran.returncode else "ok" if refused == tool.refused else f"refused {dict(refused)}"
    versions = f"{tool.version_of(tool.name):8} {tool.version_of('botocore'):9}"
    print(f"{tool.name:10} {versions} {len(calls):>6} {refused.total():>8} {seconds:>8.1f}  {result}")
    operations = Counter(operation for operation, _ in calls)
    words = ", ".join(f"{operation} {count}" for operation, count in sorted(operations.items()))
    print(textwrap.indent(textwrap.fill(words, 106), " " * 11), flush=True)
    return result == "ok"


RUN = """
import sys, django
django.setup()
from benchmarks import third_party_clients
third_party_clients.run(sys.argv[1], sys.argv[2])
"""


def run(name: str, python: str) -> None:
    """Run a tool's scenario in its own process, with a database for this tool alone."""
    try:
        _run(TOOLS[name], Path(python), Path(os.environ["VAR_DIR"]))
    except Broken as error:
        sys.exit(str(error))


def _run(tool: Tool, python: Path, folder: Path) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    home = folder / "home"
    home.mkdir()
    with _server(folder / "calls.log") as url:
        published = _drive(tool, python, home, url, "publish")
        hits = _check_published(tool, published)
        done = [_work(hit, worker_id) for hit, worker_id in zip(hits, WORKERS, strict=False)]
        found = [
            {"hit_id": one.hit.hit_id, "assignment_id": one.assignment_id, "worker_id": one.worker.worker_id}
            for one in done
        ]
        _check_reviewed(done, published, _drive(tool, python, home, url, "review", json.dumps(found)))


@contextmanager
def _server(log: Path) -> Iterator[str]:
    with log.open("w") as file:
        command = [sys.executable, "manage.py", "localturk", "--port", "0", "--verbosity", "2"]
        server = subprocess.Popen(command, cwd=ROOT, stdout=file)
    try:
        yield _url_in(log)
    finally:
        server.terminate()
        server.wait()


def _url_in(log: Path) -> str:
    deadline = time.monotonic() + MOST_SECONDS
    while not (lines := _lines(log)):
        if time.monotonic() > deadline:
            raise Broken("The marketplace's server did not start.")
        time.sleep(0.05)
    return next(word for word in lines[0].split() if word.startswith("http"))


def _lines(log: Path) -> list[str]:
    """Return the complete lines."""
    return [line.strip() for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _drive(tool: Tool, python: Path, home: Path, url: str, *step: str) -> Any:
    """Run a step of the tool with its own home folder, which holds its settings, credentials and database."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        "LOCALTURK_URL": url,
        "AWS_ENDPOINT_URL_MTURK": url,
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    command = [str(python), "-m", f"benchmarks.third_party.drive_{tool.name}", *step]
    options: dict[str, Any] = {"capture_output": True, "text": True, "check": False, "timeout": MOST_SECONDS}
    ran = subprocess.run(command, cwd=home, env=environment, **options)
    if ran.returncode != 0:
        raise Broken(f"{step[0]} failed:\n{ran.stdout}{ran.stderr}")
    return json.loads(ran.stdout.splitlines()[-1])


def _check_published(tool: Tool, published: list[str]) -> list["TurkHit"]:
    from django.utils import timezone

    from localturk.models import TurkHit, WorkerAccount
    from localturk.working import Reason, can_accept

    hits = list(TurkHit.objects.select_related("hit_type"))
    _expect("HITs", sorted(hit.hit_id for hit in hits), sorted(published))
    _expect("number of HITs", len(hits), HITS)
    offered = {(hit.hit_type.title, hit.hit_type.reward_cents, hit.max_assignments, str(hit.status)) for hit in hits}
    _expect("what is on offer", offered, {(TITLE, REWARD_CENTS, tool.max_assignments, "Assignable")})
    refusal = can_accept(WorkerAccount.objects.get(worker_id=FROM_ELSEWHERE), hits[0], timezone.now())
    _expect("what a worker from elsewhere hears", refusal and refusal.reason, Reason.NOT_QUALIFIED)
    return hits


def _work(hit: "TurkHit", worker_id: str) -> "TurkAssignment":
    from django.utils import timezone

    from localturk.models import WorkerAccount
    from localturk.working import accept, submit

    worker = WorkerAccount.objects.get(worker_id=worker_id)
    held = accept(worker, hit, timezone.now())
    return submit(held.assignment_id, worker, {"rating": ["good"], "note": ["fine & <short>"]}, timezone.now())


def _check_reviewed(done: list["TurkAssignment"], published: list[str], seen: dict[str, Any]) -> None:
    from localturk.funds import get_account
    from localturk.models import BonusPayment, LedgerEntry, TurkHit
    from localturk.rendering import dollars

    _expect("HITs that the tool lists", sorted(seen["listed"]), sorted(published))
    ids = sorted(one.assignment_id for one in done)
    _expect("assignments that the tool lists", sorted(seen["submitted"]), ids)
    for one in done:
        one.refresh_from_db()
    _expect("verdicts", [str(one.status) for one in done], ["Approved", "Approved"])
    rewards = LedgerEntry.objects.filter(kind=LedgerEntry.Kind.REWARD).values_list("assignment_id", "amount_cents")
    _expect("rewards", sorted(rewards), sorted((one.pk, REWARD_CENTS) for one in done))
    bonuses = BonusPayment.objects.values_list("assignment_id", "amount_cents")
    _expect("bonuses", list(bonuses), [(done[0].pk, BONUS_CENTS)])
    _expect("states of the HITs", set(TurkHit.objects.values_list("status", flat=True)), {"Disposed"})
    account = get_account()
    _expect("money held", account.held_cents, 0)
    _expect("balance that the tool shows", seen["balance"], dollars(account.available_cents))


def _expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Broken(f"{what}: {found}, expected {expected}")


if __name__ == "__main__":
    main()
