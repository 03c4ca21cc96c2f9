"""Run the paper's experiment at full size on the local marketplace, and measure the time of each stage.

python -m benchmarks.full_size [--hits 600]

It publishes 600 HITs of 10 dialogs with 4 assignments each. A simulated crowd works on them through the worker's page;
then they are collected, paid and screened, with SQLite and in one process. The same is done before with half as many
HITs: twice as many may take at most 2.2 times as long to collect and pay. At the end, every assignment must have been
collected and paid once, and our ledger must equal the marketplace's to the cent.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ASSIGNMENTS = 4
MOST_GROWTH = 2.2
ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hits", type=int, default=600)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)  # for child processes: where to write
    options = parser.parse_args()
    if options.result:
        options.result.write_text(json.dumps(_play(options.hits)))
        return
    half, full = (_in_a_process_of_its_own(count) for count in (options.hits // 2, options.hits))
    growth = full["Collecting and paying"] / half["Collecting and paying"]
    print(f"\nTwice as many HITs take {growth:.2f} times as long to collect and pay (at most {MOST_GROWTH})")
    if problems := [*half["problems"], *full["problems"], *(["That is too long."] if growth > MOST_GROWTH else [])]:
        sys.exit("\n".join(problems))


def _in_a_process_of_its_own(hit_count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "ERROR", "MTURK_LOCAL_URL": ""}
        environment |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings", "MTURK_CALLS_PER_SECOND": "1000"}
        command = [sys.executable, "-m", "benchmarks.full_size", "--hits", str(hit_count), "--result", str(result)]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        found: dict[str, Any] = json.loads(result.read_text())
        return found


def _play(hit_count: int) -> dict[str, Any]:
    import django

    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from benchmarks.batching_data import make_data
    from hits.batching import build_hits
    from hits.crowds.mturk.crowd import connect
    from hits.designing import create_study
    from hits.models import Study, offering_for
    from hits.publishing import check_funds, plan_publishing, publish_hits
    from hits.screening import describe_funnel, screen
    from hits.syncing import sync
    from localturk.models import Account
    from simulated_crowd.channels import InProcess
    from simulated_crowd.people import Crowd
    from simulated_crowd.simulating import simulate, usual_size
    from simulated_crowd.truths import read_truth

    call_command("migrate", verbosity=0)
    seconds: dict[str, Any] = {}
    print(f"\n{hit_count:,} HITs, {ASSIGNMENTS * hit_count:,} assignments", flush=True)
    market = connect()
    with _stage("Importing and building", seconds):
        build_hits(create_study(make_data(10 * hit_count)))
        study = Study.objects.get()
    with _stage("Publishing", seconds):
        market.balance_cents()  # the first call creates the account
        Account.objects.update(balance_cents=100 * 100 * hit_count)
        plan = plan_publishing(offering_for(study, "local"))
        check_funds(plan, market, None)
        publish_hits(plan, market, "http://127.0.0.1:8000/work", timezone.now)
    with _stage("Working", seconds):
        work = simulate(study, Crowd(usual_size(study), read_truth("table5"), seed=1), InProcess())
    with _stage("Collecting and paying", seconds):
        sync(offering_for(study, "local"), market, timezone.now)
    with _stage("  again, with nothing new", seconds):
        sync(offering_for(study, "local"), market, timezone.now)
    with _stage("Screening", seconds):
        screened = screen(offering_for(study, "local"), timezone.now())
    print("\n".join(["", *describe_funnel(screened.funnel), ""]))
    problems = list(_problems(ASSIGNMENTS * hit_count, work.left))
    print("\n".join(problems) or "Each collected and paid once; both ledgers are equal to the cent.", flush=True)
    return {**seconds, "problems": problems}


@contextmanager
def _stage(name: str, seconds: dict[str, Any]) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - started
    print(f"  {name:28} {seconds[name]:>7.1f} s", flush=True)


def _problems(wanted: int, left: int) -> Iterator[str]:
    from django.db.models import Count, F, Sum

    from hits.models import Payment, Submission
    from localturk.models import LedgerEntry, TurkAssignment

    collected, approved = Submission.objects.filter(problem=""), TurkAssignment.objects.filter(status="Approved")
    entries = LedgerEntry.objects.values("assignment", "kind").annotate(count=Count("pk"))
    theirs = LedgerEntry.objects.aggregate(cents=Sum(F("amount_cents") + F("fee_cents")))["cents"]
    ours = Payment.objects.paid().cents()
    print(f"{collected.count():,} collected, {approved.count():,} approved, {ours} and {theirs} cents in the ledgers")
    if left or not wanted == collected.count() == approved.count():
        yield f"{wanted:,} assignments were wanted, and {left:,} were left."
    if entries.filter(kind="Reward").count() != wanted or entries.filter(count__gt=1).exists():
        yield "Not every assignment was paid once."
    if Payment.objects.owed().exists() or ours != theirs:
        yield "The ledgers differ."


if __name__ == "__main__":
    main()
