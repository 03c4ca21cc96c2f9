"""The whole suite, as `make test` runs it: on SQLite, and what tests/repeated.py lists again on PostgreSQL.

Two lanes side by side, because many tests wait for processes, browsers and brokers. The first has a process for each
core, and all that runs on SQLite. The second is one process: first the networks, so that torch is imported once and not
by each, then PostgreSQL. It is the shorter one by far. So both cores are busy to the end: the first lane's processes
take over each other's tests, and no single process is left with the rest. What the second lane says is shown after the
first has ended. With more processes than these, each takes longer and all end later.

Tests that failed run once more, alone, after both lanes have ended, since a busy machine can be too slow for a browser.
If they pass then, the suite is green, and its last lines name them so that they get repaired. There is no second try
where a process of tests crashed, since others may then have been left out, or where clearing away failed.

TEST_DATABASE_URL and TEST_BROKER_URL name servers to use instead of embedded ones.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from tests.repeated import REPEATED

CORES = min(len(os.sched_getaffinity(0)), 8)
PYTEST = [sys.executable, "-m", "pytest"]
OF_NETWORKS = ["tests/networks", "tests/frozen/test_networks.py"]
NETWORKS = [*PYTEST, *OF_NETWORKS]
SPREAD = [*PYTEST, "--dist", "worksteal"]
NOT_HERE = [option for place in OF_NETWORKS for option in ("--ignore", place)]
ON_SQLITE = [*SPREAD, "-n", str(max(CORES, 2)), "-m", "not postgresql", *NOT_HERE]
# Only these files: importing all others takes longer than many tests.
ON_POSTGRESQL = [*SPREAD, "-n", str(max(CORES // 2, 1)), "-m", "not once", *REPEATED]
WITH_A_SERVER = [sys.executable, "-m", "tests.servers", "postgresql", "--"]

SOME_TESTS_FAILED = 1  # pytest's exit code; others say that it was stopped, or could not read the tests
MOST_TRIED_AGAIN = 10


class Pass:
    """One run of pytest over a part of the suite, and which of its tests failed."""

    def __init__(self, pytest: Sequence[str], environment: dict[str, str], cache: Path, before: Sequence[str] = ()):
        """`before` is what the command line begins with: a program that starts a server for pytest."""
        self._pytest, self._environment, self._cache, self._before = pytest, environment, cache, before
        self._outcome = cache.with_suffix(".xml")
        self.is_green = False
        self.failed: list[str] = []

    def run(self, told: IO[str] | None = None) -> None:
        """Run it; what it says goes into `told`."""
        code = self._call(self._pytest, told)
        self.is_green = code == 0
        # pytest keeps the ids of failed tests for its option --last-failed. Without them, the server did not start.
        noted = self._cache / "v" / "cache" / "lastfailed"
        if code == SOME_TESTS_FAILED and noted.exists() and self._ran_to_its_end():
            self.failed = list(json.loads(noted.read_text()))

    def try_again(self) -> None:
        """Run what failed once more, in one process. A test that is skipped now has not passed."""
        has_passed = self._call([*PYTEST, *self.failed]) == 0
        self.is_green = has_passed and len(self._cases()) == len(self.failed) and not self._marked("skipped")

    def _ran_to_its_end(self) -> bool:
        """Return whether each test was run: after a few processes that crash, xdist gives up and leaves out the rest.

        What fails while it is cleared away counts as well, since it says nothing about the test whose name it has.
        """
        said = [str(one.get("message")) for one in [*self._marked("failure"), *self._marked("error")]]
        return not any("crashed while running" in one or "failed on teardown" in one for one in said)

    def _cases(self) -> list[Element]:
        return list(ElementTree.parse(self._outcome).iter("testcase"))

    def _marked(self, mark: str) -> list[Element]:
        return [found for case in self._cases() for found in case.findall(mark)]

    def _call(self, pytest: Sequence[str], told: IO[str] | None = None) -> int:
        self._outcome.unlink(missing_ok=True)
        command = [*self._before, *pytest, "-o", f"cache_dir={self._cache}", f"--junitxml={self._outcome}"]
        return subprocess.run(command, env=self._environment, stdout=told, stderr=told and subprocess.STDOUT).returncode


def main() -> None:
    began = time.monotonic()
    on_sqlite = {name: value for name, value in os.environ.items() if name != "TEST_DATABASE_URL"}
    with tempfile.TemporaryDirectory(prefix="evalplatform-suite-") as folder, tempfile.TemporaryFile("w+") as told:
        sqlite, networks, postgresql = (Path(folder) / name for name in ("sqlite", "networks", "postgresql"))
        first = Pass(ON_SQLITE, on_sqlite, sqlite)
        second = [
            Pass(NETWORKS, on_sqlite, networks),
            Pass(ON_POSTGRESQL, dict(os.environ), postgresql, before=WITH_A_SERVER),
        ]
        beside = threading.Thread(target=_run_in_turn, args=(second, told))
        beside.start()
        first.run()
        beside.join()
        told.seek(0)
        print(f"\nNetworks, then on PostgreSQL:\n{told.read()}", flush=True)
        late = try_failed_again([first, *second])
    print(f"The suite took {time.monotonic() - began:.0f} seconds.")
    if late:
        print("\n  ".join(["passed only at the second try:", *late]))
    sys.exit(not all(one.is_green for one in [first, *second]))


def _run_in_turn(passes: Sequence[Pass], told: IO[str]) -> None:
    for one in passes:
        one.run(told)


def try_failed_again(passes: Sequence[Pass]) -> list[str]:
    """Run what failed once more, unless it is too much to be chance; tell which tests a second try made green."""
    red = [one for one in passes if one.failed]
    if sum(len(one.failed) for one in red) > MOST_TRIED_AGAIN:
        return []
    for one in red:
        print(f"\nOnce more, alone: {' '.join(one.failed)}", flush=True)
        one.try_again()
    return [test for one in red if one.is_green for test in one.failed]


if __name__ == "__main__":
    main()
