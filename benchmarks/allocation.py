"""Measure who gets which HIT where people come without one: is any HIT overfilled, and what does an arrival cost?

python -m benchmarks.allocation [--arrivals 10000] [--database sqlite postgresql] [--hits 10 100 1000 10000]

People arrive at a study through `open_free_assignment` and hand in through `submit`; the clock is an argument, so that
a day passes in minutes. Of 100 who arrive, 12 return the HIT, 8 vanish, 6 hand in after their time is over, and the
others hand in in time; one in five comes back to the page. Each person may do several HITs. Nobody among the last 500
gives up, so that what others gave up at the end is filled. First there are more people than places, then fewer.

Limits: no HIT has more workers in places than places; whoever hands in beyond them came late, and is called extra;
nobody gets a dialog twice, or more HITs than they may; everyone gets a HIT that is filled as little as any that they
may have; at rest, when all have gone, the HITs' filled places differ by at most one; counting everything again finds
nothing wrong. An arrival at 10,000 HITs takes at most 1.2 times the steps of SQLite's machine, 1.5 times the
milliseconds (of the quickest tenth, since other programs run on the machine), and no query more than at 10 HITs. For
the cost, what is kept at hand of HITs is forgotten before each arrival.

How far HITs differ during the day is printed, and has no limit: each arrival gets a least filled HIT, so arrivals alone
keep them within one, but several who leave the same HIT empty it faster than others arrive to fill it again.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers import postgresql

ROOT = Path(__file__).resolve().parent.parent
MOST_STEPS, MOST_MS = 1.2, 1.5
ARRIVALS_FOR_MORE, ARRIVALS_FOR_LESS = 14, 8  # for each HIT, of 9 places


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arrivals", type=int, default=10_000)
    parser.add_argument("--database", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    parser.add_argument("--hits", type=int, nargs="+", default=[10, 100, 1_000, 10_000])
    options = parser.parse_args()
    problems = []
    for database in options.database:
        print(f"\n{database}", flush=True)
        with _addresses(database) as addresses:
            full = _in_a_process_of_its_own(next(addresses), "story", options.arrivals, ARRIVALS_FOR_MORE)
            half_full = _in_a_process_of_its_own(next(addresses), "story", options.arrivals // 4, ARRIVALS_FOR_LESS)
            costs = [_in_a_process_of_its_own(next(addresses), "cost", count) for count in options.hits]
        problems += [f"{database}: {problem}" for problem in full["problems"] + half_full["problems"]]
        problems += [f"{database}: {problem}" for problem in _problems_of(costs)]
    if problems:
        sys.exit("\n".join(problems))


def _problems_of(costs: list[dict[str, Any]]) -> Iterator[str]:
    few, many = costs[0], costs[-1]
    print(f"  {many['hits']:,} HITs to {few['hits']:,}:", end="")
    for name, most in (("steps", MOST_STEPS), ("ms", MOST_MS), ("queries", 1)):
        if few[name]:
            ratio = many[name] / few[name]
            print(f"  {name} {ratio:.2f} (at most {most})", end="")
            if ratio > most:
                yield f"An arrival takes {ratio:.2f} times the {name} at {many['hits']:,} HITs."
    print(flush=True)


@contextmanager
def _addresses(database: str) -> Iterator[Iterator[str]]:
    """Yield new databases, one after the other."""
    if database == "sqlite":
        yield iter(lambda: "", None)  # a file in the process's own folder
        return
    os.environ.pop("TEST_DATABASE_URL", None)
    with postgresql() as url:
        yield _new_databases(url)


def _new_databases(url: str) -> Iterator[str]:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    number = 0
    while True:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE allocating{number}".encode())
        parts = conninfo_to_dict(make_conninfo(url, dbname=f"allocating{number}"))
        yield f"postgresql://{parts['user']}@/{parts['dbname']}?host={parts['host']}"
        number += 1


def _in_a_process_of_its_own(url: str, part: str, *counts: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": url, "LOG_LEVEL": "ERROR"}
        environment |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings", "MTURK_LOCAL_URL": ""}
        command = [sys.executable, "-m", "benchmarks.allocation_parts", part, *map(str, counts)]
        output = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    *lines, last = output.stdout.splitlines()
    print("\n".join(lines), flush=True)
    found: dict[str, Any] = json.loads(last)
    return found


if __name__ == "__main__":
    main()
