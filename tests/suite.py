"""The whole suite, as `make test` runs it: on SQLite, and what touches the database again on PostgreSQL.

Two lanes side by side, because many tests wait for processes, browsers and brokers: SQLite in one; in the other the
networks, in a process of their own so that torch is imported once and not by each, and then PostgreSQL. What the second
lane says is shown after the first has ended. With more processes than these, each takes longer and all end later.
TEST_DATABASE_URL and TEST_BROKER_URL name servers to use instead of embedded ones.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO

CORES = min(len(os.sched_getaffinity(0)), 8)
PYTEST = [sys.executable, "-m", "pytest"]
NETWORKS = [*PYTEST, "tests/networks"]
SPREAD = [*PYTEST, "--dist", "worksteal", "--ignore", "tests/networks"]
ON_SQLITE = [*SPREAD, "-n", str(max(CORES, 2)), "-m", "not postgresql"]
# The statistics know no database; importing what they are compared with takes seconds.
ON_POSTGRESQL = [*SPREAD, "-n", str(max(CORES // 2, 1)), "-m", "not once", "--ignore", "tests/hits/stats"]
WITH_A_SERVER = [sys.executable, "-m", "tests.servers", "postgresql", "--"]


def main() -> None:
    began = time.monotonic()
    on_sqlite = {name: value for name, value in os.environ.items() if name != "TEST_DATABASE_URL"}
    results: list[int] = []
    with tempfile.TemporaryFile("w+") as told:
        beside = threading.Thread(target=_run_beside, args=(on_sqlite, told, results))
        beside.start()
        results.append(subprocess.run(ON_SQLITE, env=on_sqlite).returncode)
        beside.join()
        told.seek(0)
        print(f"\nNetworks, then on PostgreSQL:\n{told.read()}")
    print(f"The suite took {time.monotonic() - began:.0f} seconds.")
    sys.exit(any(results))  # a pass that was killed has a negative number


def _run_beside(on_sqlite: dict[str, str], told: IO[str], results: list[int]) -> None:
    results.append(subprocess.run(NETWORKS, env=on_sqlite, stdout=told, stderr=subprocess.STDOUT).returncode)
    results.append(subprocess.run([*WITH_A_SERVER, *ON_POSTGRESQL], stdout=told, stderr=subprocess.STDOUT).returncode)


if __name__ == "__main__":
    main()
