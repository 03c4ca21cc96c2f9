"""How fast dialogs come in, at what memory, and how both grow with the file.

python -m benchmarks.importing [--sizes 10000 1000000] [--database sqlite postgresql]

Each size is imported by `import_dialogs` in a process of its own into a new database. Beside it, in the same run, the
floor: a bare loop that parses the same file and inserts the same columns with `executemany`, without checks, indexes
for matching, conflict detection or Django.

A shared machine's speed changes by half from minute to minute, and would pass for growth. So the large import is
stopped (SIGSTOP) every few seconds for an import of the smallest size, and compared with the median of those.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from tests.servers import postgresql

ROOT = Path(__file__).resolve().parent.parent
WORDS = "well then maybe tomorrow we could see whether the river has gone down and ask your sister about it".split()
MEMORY_LIMIT_MB = 400
SMALLEST_RATE_RATIO = 0.8
PAUSE_EVERY_SECONDS = 20

IMPORT = """
import resource, sys, time, django
from pathlib import Path
django.setup()
from django.core.management import call_command
from generation.importing import import_dialogs
call_command("migrate", verbosity=0)
started = time.monotonic()
counts = import_dialogs(Path(sys.argv[1]), "benchmark")
print(counts.added, time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--database", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite"])
    arguments = parser.parse_args()
    is_within = [_is_within_limits(arguments.sizes, database) for database in arguments.database]
    if not all(is_within):
        sys.exit("A limit is broken. On a machine that does other work at the same time, measure again.")


def _is_within_limits(sizes: list[int], database: str) -> bool:
    print(f"\nimport_dialogs into {database}")
    print(f"{'dialogs':>10} {'dialogs/s':>10} {'peak MB':>8} {'floor/s':>9} {'of floor':>9}")
    smallest, *larger = sizes
    small: list[Measured] = []

    def measure_smallest() -> None:
        small.append(_measure(smallest, database))

    measure_smallest()
    large = [_measure(size, database, measure_smallest) for size in larger]
    measure_smallest()
    ratio = large[-1].rate / median(one.rate for one in small)
    peak_mb = max(one.peak_mb for one in large)
    print(f"rate at the largest / median at the smallest: {ratio:.2f} (limit {SMALLEST_RATE_RATIO})")
    print(f"peak memory: {peak_mb:.0f} MB (limit {MEMORY_LIMIT_MB})")
    return ratio >= SMALLEST_RATE_RATIO and peak_mb <= MEMORY_LIMIT_MB


@dataclass(frozen=True)
class Measured:
    rate: float
    peak_mb: float


def _measure(size: int, database: str, in_pauses: Callable[[], None] | None = None) -> Measured:
    with tempfile.TemporaryDirectory() as folder, postgresql() if database == "postgresql" else nullcontext("") as url:
        file = Path(folder) / "dialogs.jsonl"
        _write_dialogs(file, size)
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": url, "LOG_LEVEL": "WARNING"}
        environment["DJANGO_SETTINGS_MODULE"] = "evalplatform.settings"
        command = [sys.executable, "-c", IMPORT, str(file)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        paused_seconds = _wait(process, in_pauses)
        assert process.stdout is not None
        added, seconds, peak_mb = (float(value) for value in process.stdout.read().split())
        if added != size:
            sys.exit(f"{added:,.0f} of {size:,} dialogs were imported")
        rate = size / (seconds - paused_seconds)
        floor = size / _bare_loop_seconds(file, url, Path(folder) / "floor.sqlite3")
        print(f"{size:>10,} {rate:>10,.0f} {peak_mb:>8,.0f} {floor:>9,.0f} {rate / floor:>9.2f}", flush=True)
        return Measured(rate, peak_mb)


def _wait(process: subprocess.Popen[str], in_pauses: Callable[[], None] | None) -> float:
    """Until the process ends. Returns how many seconds it stood still."""
    if in_pauses is None:
        process.wait()
        return 0
    paused_seconds = 0.0
    while True:
        try:
            process.wait(PAUSE_EVERY_SECONDS)
            return paused_seconds
        except subprocess.TimeoutExpired:
            stopped = time.monotonic()
            process.send_signal(signal.SIGSTOP)
            in_pauses()
            process.send_signal(signal.SIGCONT)
            paused_seconds += time.monotonic() - stopped


def _write_dialogs(file: Path, size: int) -> None:
    rng = random.Random(1)
    with file.open("w") as lines:
        for number in range(size):
            turns = [" ".join(rng.choices(WORDS, k=rng.randint(5, 25))) for _ in range(rng.choice([1, 3, 3, 5]))]
            values = {
                "id": f"conversation-{number}#1",
                "context": turns,
                "reference": " ".join(rng.choices(WORDS, k=12)),
                "emotion": rng.choice(WORDS),
                "context_labels": ["neutral"] * len(turns),
                "reference_label": "agreeing",
            }
            lines.write(json.dumps(values) + "\n")


def _bare_loop_seconds(file: Path, url: str, database: Path) -> float:
    connection: Any = psycopg.connect(url) if url else sqlite3.connect(database)
    mark = "%s" if url else "?"
    cursor = connection.cursor()
    if not url:
        cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute(
        "CREATE TABLE floor (name TEXT UNIQUE, turns TEXT, labels TEXT, gold TEXT, label TEXT, emotion TEXT)"
    )
    started = time.perf_counter()
    rows = _rows(file)
    while batch := list(islice(rows, 2_000)):
        cursor.executemany(f"INSERT INTO floor VALUES ({', '.join([mark] * 6)})", batch)
        connection.commit()
    return time.perf_counter() - started


def _rows(file: Path) -> Iterator[tuple[str, ...]]:
    with file.open() as lines:
        for line in lines:
            values = json.loads(line)
            turns, labels = json.dumps(values["context"]), json.dumps(values["context_labels"])
            yield values["id"], turns, labels, values["reference"], values["reference_label"], values["emotion"]


if __name__ == "__main__":
    main()
