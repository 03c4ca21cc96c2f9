"""Measure what serving workers costs: CPU per stored rating beside Turkle, and how it grows with the number of HITs.

python -m benchmarks.serving [--database sqlite postgresql] [--assignments 500] [--turkle-tasks 2000] [--hits 10000]

32 workers at once do whole assignments (open, 10 saves, 3 validations, submit) on gunicorn with 2 processes as
docs/settings.md starts it: with embedded parts on SQLite, in production mode on PostgreSQL. In the same run, Turkle
runs under gunicorn with 2 processes on the same database: accept, task page, frame and submit. CPU is that of the web
and database processes, not of the 32 workers. Every answer that was acknowledged is looked up in the database.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from benchmarks.serving_load import Load
from benchmarks.serving_ours import OurSite
from benchmarks.serving_turkle import TurkleSite
from tests.servers import postgresql

LEAST_TIMES_CHEAPER = 5
MOST_GROWTH = 1.1
FEW_HITS = 10
ASSIGNMENTS_PER_HIT = 9  # so that ten HITs are enough for a measurement
ROUNDS = 10
GROWTH_ROUNDS, SHORT_ROUND = 60, 30  # assignments
WARM_UP = 64  # a process imports most of what it needs with its first requests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    parser.add_argument("--assignments", type=int, default=500)
    parser.add_argument("--turkle-tasks", type=int, default=2000)
    parser.add_argument("--hits", type=int, default=10_000)
    arguments = parser.parse_args()
    are_within = [
        _is_within_limits(database, arguments.assignments, arguments.turkle_tasks, arguments.hits)
        for database in arguments.database
    ]
    if not all(are_within):
        sys.exit("A limit is broken. On a machine that does other work at the same time, measure again.")


def _is_within_limits(database: str, assignment_count: int, task_count: int, hit_count: int) -> bool:
    print(f"\n{database}: 32 workers at once, 2 server processes")
    ours, theirs = Load(), Load()
    with _databases(database) as databases, OurSite(next(databases), hit_count, ASSIGNMENTS_PER_HIT) as many:
        many.work(WARM_UP, Load())
        with TurkleSite(next(databases), WARM_UP + task_count) as turkle:
            turkle.work(WARM_UP, Load())
            for _ in range(ROUNDS):  # alternating, so that both meet the same swings of the machine
                many.work(assignment_count // ROUNDS, ours)
                turkle.work(task_count // ROUNDS, theirs)
            lost_by_turkle = turkle.lost()
        _show("EvalPlatform", "assignments", ours)
        _show("Turkle", "tasks", theirs)
        print(f"lost of all that Turkle acknowledged: {lost_by_turkle}")
        with OurSite(next(databases), FEW_HITS, ASSIGNMENTS_PER_HIT) as few:
            few.work(WARM_UP, Load())
            growth = _growth(few, many)
        lost = many.lost()
    times = theirs.cpu_ms_per_rating / ours.cpu_ms_per_rating
    print(f"CPU per persisted rating, Turkle / ours: {times:.1f} (at least {LEAST_TIMES_CHEAPER})")
    print(f"CPU per request, {hit_count:,} HITs / {FEW_HITS}: {growth:.2f} (at most {MOST_GROWTH})")
    print(f"lost of all that we acknowledged: {lost}")
    return times >= LEAST_TIMES_CHEAPER and growth <= MOST_GROWTH and lost == 0


def _growth(few: OurSite, many: OurSite) -> float:
    """Return the growth as a median of many short measurements: from one second to the next, the same work may take a
    fifth longer."""
    ratios = []
    for number in range(GROWTH_ROUNDS):
        if number * SHORT_ROUND % (FEW_HITS * ASSIGNMENTS_PER_HIT) == 0:
            few.forget_answers()
        at_few, at_many = Load(), Load()
        few.work(SHORT_ROUND, at_few)
        many.work(SHORT_ROUND, at_many)
        ratios.append(at_many.cpu_ms_per_request / at_few.cpu_ms_per_request)
    return median(ratios)


def _show(who: str, what: str, load: Load) -> None:
    print(
        f"{who}: {load.wholes / load.seconds:.1f} {what}/s, {load.ratings / load.seconds:.0f} ratings/s, "
        f"{load.cpu_ms_per_rating:.3f} CPU ms per persisted rating ({load.cpu_ms_per_request:.2f} per request)"
    )
    for name, milliseconds in load.milliseconds.items():
        cuts = quantiles(milliseconds, n=100)
        print(f"  {name:<10} {len(milliseconds):>6} requests   p50 {cuts[49]:>7.1f} ms   p99 {cuts[98]:>7.1f} ms")
    sys.stdout.flush()


@contextmanager
def _databases(kind: str) -> Iterator[Iterator[tuple[Path, str, int | None]]]:
    """Make new databases, each with a folder, an address, and the process of its server."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "sqlite":
            yield ((_made(Path(folder) / str(number)), "", None) for number in range(3))
            return
        os.environ.pop("TEST_DATABASE_URL", None)  # its processes could not be measured
        with postgresql() as url:
            yield _postgresql_databases(url, Path(folder))


def _postgresql_databases(url: str, folder: Path) -> Iterator[tuple[Path, str, int | None]]:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    for number in range(3):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE serving{number}".encode())
            row = connection.execute("SHOW data_directory").fetchone()
        assert row is not None
        parts = conninfo_to_dict(make_conninfo(url, dbname=f"serving{number}"))
        address = f"postgresql://{parts['user']}@/{parts['dbname']}?host={parts['host']}"
        server = int((Path(row[0]) / "postmaster.pid").read_text().split()[0])
        yield _made(folder / str(number)), address, server


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()
