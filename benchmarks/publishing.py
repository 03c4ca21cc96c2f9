"""Measure how fast 600 HITs are published over HTTP, with latency and throttling, and whether all of them arrive.

python -m benchmarks.publishing [--hits 600]

The local marketplace runs as a server with a database of its own. Beside our publishing, in the same run, plain boto3
makes the same calls from 16 threads with `standard` retries. The floors are latency x HITs / threads, and HITs / calls
a second.
"""

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
THREADS = 16
LATENCY_SECONDS = 0.15
CALLS_PER_SECOND = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hits", type=int, default=600)
    count = parser.parse_args().hits
    latency, throttle = ["--latency-ms", str(LATENCY_SECONDS * 1000)], ["--throttle", str(CALLS_PER_SECOND)]
    print(f"{'':34} {'seconds':>8} {'of floor':>9} {'lost':>5} {'double':>7}")
    broken = False
    for name, options, floor, limit in (
        (f"{LATENCY_SECONDS * 1000:.0f} ms latency", latency, count * LATENCY_SECONDS / THREADS, 1.15),
        (f"{CALLS_PER_SECOND} calls a second", [*latency, *throttle], count / CALLS_PER_SECOND, 1.25),
    ):
        for who, publish in (("ours", _publish_ours), ("plain boto3", _publish_plainly)):
            seconds, found = _measure(count, options, publish)
            lost, double = count - len(found), sum(found.values()) - len(found)
            print(f"{name + ', ' + who:34} {seconds:>8.1f} {seconds / floor:>9.2f} {lost:>5} {double:>7}", flush=True)
            broken |= who == "ours" and (seconds / floor > limit or lost > 0 or double > 0)
        print(f"{'limit':34} {floor * limit:>8.1f} {limit:>9.2f} {0:>5} {0:>7}")
    if broken:
        sys.exit("A limit is broken. On a machine that does other work at the same time, measure again.")


def _measure(count: int, options: list[str], publish: Callable[[str, int], float]) -> tuple[float, dict[str, int]]:
    """Measure in a process and a database of its own, so that nothing is left over from an earlier measurement."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "ERROR"}
        environment |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings", "OPTIONS": " ".join(options)}
        command = [sys.executable, "-c", RUN, publish.__name__, str(count)]
        output = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    seconds, *annotations = output.splitlines()
    found: dict[str, int] = {}
    for annotation in annotations:
        found[annotation] = found.get(annotation, 0) + 1
    return float(seconds), found


RUN = """
import os, sys, django
django.setup()
from benchmarks import publishing
publishing.run(getattr(publishing, sys.argv[1]), int(sys.argv[2]), os.environ["OPTIONS"].split())
"""


def run(publish: Callable[[str, int], float], count: int, options: list[str]) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    _make_study(count)
    with marketplace(Path(os.environ["VAR_DIR"]), *options) as other:
        print(publish(other.url, count))
    with closing(sqlite3.connect(other.database)) as connection:
        for (annotation,) in connection.execute("SELECT requester_annotation FROM localturk_turkhit"):
            print(annotation)


def _make_study(count: int) -> None:
    from benchmarks.batching_data import make_data
    from hits.batching import build_hits
    from hits.designing import create_study

    build_hits(create_study(make_data(count * 10)))


@dataclass(frozen=True)
class Marketplace:
    url: str
    database: Path
    process_id: int


@contextmanager
def marketplace(folder: Path, *options: str) -> Iterator[Marketplace]:
    """Run `manage.py localturk` as a process with a database of its own, as another company would."""
    database = folder / "marketplace.sqlite3"
    environment = {**os.environ, "DATABASE_URL": f"sqlite://{database}"}
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True)
    command = [*manage, "localturk", "--port", "0", *options]
    with (folder / "marketplace.log").open("w") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert server.stdout is not None
        url = next(word for word in server.stdout.readline().split() if word.startswith("http"))
        yield Marketplace(url, database, server.pid)
    finally:
        server.terminate()
        server.wait()


def _publish_ours(url: str, count: int) -> float:
    from django.utils import timezone

    from hits.crowds.mturk.client import MTurkMarket, boto_client
    from hits.models import Study, offering_for
    from hits.publishing import plan_publishing, publish_hits

    plan = plan_publishing(offering_for(Study.objects.get(), "local"))
    market = MTurkMarket(boto_client(url, has_own_credentials=False), calls_per_second=1000)
    started = time.perf_counter()
    publish_hits(plan, market, "http://127.0.0.1:8000/work", timezone.now)
    return time.perf_counter() - started


def _publish_plainly(url: str, count: int) -> float:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    from hits.crowds.mturk.question import external_question

    config = Config(retries={"mode": "standard"}, max_pool_connections=THREADS)
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    client: Any = boto3.client("mturk", endpoint_url=url, config=config, **keys)
    hit_type = client.create_hit_type(
        AssignmentDurationInSeconds=3600, Reward="0.40", Title="Rate replies", Description="Sort replies"
    )["HITTypeId"]

    def create(number: int) -> None:
        # The HIT is lost, as it would be for a script that only prints the error.
        with suppress(ClientError, BotoCoreError):
            client.create_hit_with_hit_type(
                HITTypeId=hit_type,
                MaxAssignments=4,
                LifetimeInSeconds=86_400,
                Question=external_question("http://127.0.0.1:8000/work", 800),
                RequesterAnnotation=f"plain {number}",
            )

    started = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(create, range(count)))
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
