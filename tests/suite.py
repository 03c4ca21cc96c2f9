"""The whole suite, as `make test` runs it: on SQLite, and what touches the database again on PostgreSQL.

The tests of networks have a process of their own beside the first pass: importing torch takes each process seconds.
TEST_DATABASE_URL and TEST_BROKER_URL name servers to use instead of embedded ones.
"""

import os
import subprocess
import sys
import tempfile
import time

PYTEST = [sys.executable, "-m", "pytest"]
SPREAD = ["-n", "3", "--dist", "worksteal", "--ignore", "tests/networks"]
ON_POSTGRESQL = [sys.executable, "-m", "tests.servers", "postgresql", "--"]


def main() -> None:
    started = time.monotonic()
    without_url = {name: value for name, value in os.environ.items() if name != "TEST_DATABASE_URL"}
    with tempfile.TemporaryFile("w+") as told:
        networks = subprocess.Popen([*PYTEST, "tests/networks"], env=without_url, stdout=told, stderr=subprocess.STDOUT)
        passes = [subprocess.run([*PYTEST, *SPREAD, "-m", "not postgresql"], env=without_url).returncode]
        passes.append(networks.wait())
        told.seek(0)
        sys.stdout.write(f"The networks' tests:\n{told.read()}")
        sys.stdout.flush()
    passes.append(subprocess.run([*ON_POSTGRESQL, *PYTEST, *SPREAD, "-m", "not once"]).returncode)
    print(f"The suite took {time.monotonic() - started:.0f} seconds.")
    sys.exit(max(passes))


if __name__ == "__main__":
    main()
