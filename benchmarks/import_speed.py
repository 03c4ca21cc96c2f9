"""Measure how fast dialogs and candidates are imported, how much memory that takes, and how both grow with the file.

python -m benchmarks.import_speed [--sizes 10000 1000000] [--database sqlite postgresql] [--kinds dialogs candidates]

`import_dialogs` or `import_candidates` imports each size in its own process into a new database (which holds the
dialogs if candidates are measured: ten for each dialog). Beside it, in the same run, the floor is a bare loop that
parses the same file and inserts the same columns with `executemany`, without checks, indexes for matching, finding the
candidates' dialogs, conflict detection or Django.

The speed of a shared machine changes by half from minute to minute, which would look like growth. So the large import
is stopped (SIGSTOP) every few seconds for an import of the smallest size, and compared with the median of those.
"""

import argparse
import json
import os
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

from benchmarks.importing_data import CANDIDATES, DIALOGS, KINDS, Kind
from tests.servers import postgresql

ROOT = Path(__file__).resolve().parent.parent
MEMORY_LIMIT_MB = 400
SMALLEST_RATE_RATIO = 0.8
PAUSE_EVERY_SECONDS = 20

IMPORT = """
import resource, sys, time, django
from pathlib import Path
django.setup()
from django.core.management import call_command
from generation import importing
call_command("migrate", verbosity=0)
run = {"dialogs": importing.import_dialogs, "candidates": importing.import_candidates}[sys.argv[1]]
started = time.monotonic()
counts = run(Path(sys.argv[2]), "benchmark")
print(counts.added, time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--database", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite"])
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    arguments = parser.parse_args()
    is_within = [
        _is_within_limits(KINDS[kind], arguments.sizes, database)
        for database in arguments.database
        for kind in arguments.kinds
    ]
    if not all(is_within):
        sys.exit("A limit is broken. On a machine that does other work at the same time, measure again.")


def _is_within_limits(kind: Kind, sizes: list[int], database: str) -> bool:
    print(f"\nimport_{kind.name} into {database}")
    print(f"{kind.name:>10} {kind.name + '/s':>12} {'peak MB':>8} {'floor/s':>9} {'of floor':>9}")
    smallest, *larger = sizes
    small: list[Measured] = []

    def measure_smallest() -> None:
        small.append(_measure(kind, smallest, database))

    measure_smallest()
    large = [_measure(kind, size, database, measure_smallest) for size in larger]
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


def _measure(kind: Kind, size: int, database: str, in_pauses: Callable[[], None] | None = None) -> Measured:
    with tempfile.TemporaryDirectory() as folder, postgresql() if database == "postgresql" else nullcontext("") as url:
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": url, "LOG_LEVEL": "WARNING"}
        environment["DJANGO_SETTINGS_MODULE"] = "evalplatform.settings"
        if kind is CANDIDATES:
            _import(DIALOGS, Path(folder), size // kind.per_dialog, environment)
        measured = _import(kind, Path(folder), size, environment, in_pauses)
        floor = size / _bare_loop_seconds(kind, Path(folder), url)
        rate, peak_mb = measured.rate, measured.peak_mb
        print(f"{size:>10,} {rate:>12,.0f} {peak_mb:>8,.0f} {floor:>9,.0f} {rate / floor:>9.2f}", flush=True)
        return measured


def _import(
    kind: Kind, folder: Path, size: int, environment: dict[str, str], in_pauses: Callable[[], None] | None = None
) -> Measured:
    kind.write(_file(kind, folder), size)
    command = [sys.executable, "-c", IMPORT, kind.name, str(_file(kind, folder))]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    paused_seconds = _wait(process, in_pauses)
    assert process.stdout is not None
    added, seconds, peak_mb = (float(value) for value in process.stdout.read().split())
    if added != size:
        sys.exit(f"{added:,.0f} of {size:,} {kind.name} were imported")
    return Measured(size / (seconds - paused_seconds), peak_mb)


def _file(kind: Kind, folder: Path) -> Path:
    return folder / f"{kind.name}.jsonl"


def _wait(process: subprocess.Popen[str], in_pauses: Callable[[], None] | None) -> float:
    """Wait until the process ends. Return how many seconds it was stopped."""
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


def _bare_loop_seconds(kind: Kind, folder: Path, url: str) -> float:
    connection: Any = psycopg.connect(url) if url else sqlite3.connect(folder / "floor.sqlite3")
    mark = "%s" if url else "?"
    cursor = connection.cursor()
    if not url:
        cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute(f"CREATE TABLE floor ({kind.floor_columns})")
    started = time.perf_counter()
    rows = _rows(kind, _file(kind, folder))
    while batch := list(islice(rows, 2_000)):
        marks = ", ".join([mark] * len(batch[0]))
        cursor.executemany(f"INSERT INTO floor VALUES ({marks})", batch)
        connection.commit()
    return time.perf_counter() - started


def _rows(kind: Kind, file: Path) -> Iterator[tuple[str, ...]]:
    with file.open() as lines:
        for line in lines:
            yield from kind.floor_rows(json.loads(line))


if __name__ == "__main__":
    main()
