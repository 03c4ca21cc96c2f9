"""The whole suite, as `make test` runs it: on SQLite, and what touches the database again on PostgreSQL.

The networks' tests have a process of their own beside the first pass, so that torch is imported once and not by each.
TEST_DATABASE_URL and TEST_BROKER_URL name servers to use instead of embedded ones.
"""

import os
import subprocess
import sys
import tempfile
import time

PYTEST = [sys.executable, "-m", "pytest"]
NETWORKS = [*PYTEST, "tests/networks"]
SPREAD = [*PYTEST, "-n", "3", "--dist", "worksteal", "--ignore", "tests/networks"]  # beyond 3, two cores gain nothing
ON_SQLITE = [*SPREAD, "-m", "not postgresql"]
ON_POSTGRESQL = [sys.executable, "-m", "tests.servers", "postgresql", "--", *SPREAD, "-m", "not once"]


def main() -> None:
    began = time.monotonic()
    on_sqlite = {name: value for name, value in os.environ.items() if name != "TEST_DATABASE_URL"}
    with tempfile.TemporaryFile("w+") as told:
        networks = subprocess.Popen(NETWORKS, env=on_sqlite, stdout=told, stderr=subprocess.STDOUT)
        results = [subprocess.run(ON_SQLITE, env=on_sqlite).returncode, networks.wait()]
        told.seek(0)
        print(f"\nNetworks:\n{told.read()}\nOn PostgreSQL:", flush=True)
    results.append(subprocess.run(ON_POSTGRESQL).returncode)
    print(f"The suite took {time.monotonic() - began:.0f} seconds.")
    sys.exit(any(results))  # a pass that was killed has a negative number


if __name__ == "__main__":
    main()
