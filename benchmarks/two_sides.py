"""Shared code of the chaos benchmarks: a marketplace with its own process and database, and runs that are killed.

The marketplace is like another company's. Our runs are forked, disturbed and killed; then the marketplace's tables are
read.
"""

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.publishing import marketplace

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

MARKET = "market"  # the alias of the marketplace's own database, which only the benchmark's process looks into
FAULTS = ("throttle", "latency", "fail-before", "fail-after", "drop-after", "insufficient-funds")
BONUS_LAG_SECONDS = 600
FORK = multiprocessing.get_context("fork")


class MarketRouter:
    """Lets the benchmark's own process read the marketplace's tables in its database; our runs use HTTP only."""

    def db_for_read(self, model: Any, **_: Any) -> str | None:
        return MARKET if model._meta.app_label == "localturk" else None

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **_: Any) -> bool | None:
        return None


@contextmanager
def two_sides(database_url: str) -> Iterator["Server"]:
    """Set up Django for our side, with the marketplace's database beside it."""
    with tempfile.TemporaryDirectory() as name, marketplace(Path(name)) as other:
        os.environ |= {
            "VAR_DIR": name,
            "DATABASE_URL": database_url,
            "LOG_LEVEL": "ERROR",
            "MTURK_LOCAL_URL": other.url,
        }
        os.environ |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings", "MTURK_CALLS_PER_SECOND": "1000"}
        import django
        from django.conf import settings

        from evalplatform.environment import sqlite_in_file

        settings.DATABASES[MARKET] = sqlite_in_file(str(other.database))
        settings.DATABASE_ROUTERS = ["benchmarks.two_sides.MarketRouter"]
        django.setup()
        from django.core.management import call_command
        from django.db import connections

        from hits.management.commands import publish_hits, sync_hits  # noqa: F401  # loaded here, so in every fork
        from localturk.models import Account

        if "hits_study" not in connections["default"].introspection.table_names():  # tests bring their own tables
            call_command("migrate", verbosity=0)
        Account.objects.using(MARKET).update_or_create(pk=1, defaults={"balance_cents": 10**9})
        yield Server(other.process_id)
        connections.close_all()


@dataclass
class Server:
    """The marketplace's process. Its number of threads tells whether requests are still on their way."""

    process_id: int

    def __post_init__(self) -> None:
        self._idle = self._count_threads()

    def note_idle(self) -> None:
        self._idle = self._count_threads()

    def wait_for_what_is_on_its_way(self) -> None:
        """Wait until the last requests of a killed run are answered. (Then the clock may move on by a day.)"""
        while self._count_threads() > self._idle:
            time.sleep(0.01)

    def _count_threads(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.process_id}/task").iterdir())


def start_command(*command: str) -> "ForkProcess":
    """Run what `manage.py COMMAND` does once it is loaded, in a process forked from this one, which saves a second."""
    from django.db import connections

    connections.close_all()  # a connection must not be shared with a child, nor a pool of them
    ours: Any = connections["default"]
    if ours.vendor == "postgresql":
        ours.close_pool()
    process = FORK.Process(target=_run, args=command)
    process.start()
    return process


def _run(*command: str) -> None:
    from django.core.management import CommandError, call_command

    try:
        call_command(*command, stdout=StringIO(), stderr=StringIO())
    except CommandError:
        sys.exit(1)


@contextmanager
def some_faults(rng: random.Random) -> Iterator[str | None]:
    """Return a fault half of the time, and always some latency, so that a run can die between a call and its answer."""
    from localturk.models import Fault

    faults = Fault.objects.using(MARKET)
    made = [faults.create(kind="latency", amount=rng.uniform(5, 60))]
    kind = rng.choice(FAULTS) if rng.random() < 0.5 else None
    if kind is not None:
        amounts = {"throttle": rng.uniform(10, 20), "latency": rng.uniform(100, 400)}
        made.append(
            faults.create(
                kind=kind,
                amount=amounts.get(kind, 0),
                probability=1 if kind in amounts else rng.uniform(0.2, 1),
                times_left=None if kind in amounts else rng.randint(1, 8),
                seed=rng.randrange(10**6),
            )
        )
    yield kind
    faults.filter(pk__in=[one.pk for one in made]).delete()


@contextmanager
def some_lies(rng: random.Random, churn: "Churn") -> Iterator[list[str]]:
    """Choose how lists lie: they lag (those of bonuses by minutes), or are paged by offset while other projects' HITs
    come and go."""
    from localturk.models import Fault

    faults = Fault.objects.using(MARKET)
    amounts = {"list-lag": rng.uniform(0.5, 20), "offset-pages": rng.randint(20, 60)}
    told = [kind for kind in amounts if rng.random() < 0.4]
    made = [faults.create(kind=kind, amount=amounts[kind]) for kind in told]
    if rng.random() < 0.3:
        told.append("bonuses visible minutes later")
        made.append(faults.create(kind="list-lag", operation="ListBonusPayments", amount=BONUS_LAG_SECONDS))
    if "offset-pages" in told:
        churn.go_on()
    yield told
    churn.rest()
    faults.filter(pk__in=[one.pk for one in made]).delete()


class Churn:
    """A process that plays other projects in the same account, which create and delete HITs all the time."""

    def __init__(self) -> None:
        from django.db import connections

        self._goes_on = FORK.Event()
        connections.close_all()
        self._process = FORK.Process(target=self._run, args=(os.getpid(),), daemon=True)
        self._process.start()

    def go_on(self) -> None:
        self._goes_on.set()

    def rest(self) -> None:
        self._goes_on.clear()

    def _run(self, parent: int) -> None:
        from localturk.ids import new_id
        from localturk.models import TurkHit

        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        hits = TurkHit.objects.using(MARKET)
        there: list[TurkHit] = []
        rng = random.Random(parent)
        while os.getppid() == parent:  # else it was killed, and nobody ends us
            if not self._goes_on.wait(1):
                continue
            # Its own HITs are the newest, so all others on the list move up or down a place.
            if rng.random() < 0.5 and len(there) < 30 and (pattern := hits.first()):
                pattern.pk, pattern.hit_id, pattern.requester_annotation = None, new_id(), "comes and goes"
                pattern.held_count = 0  # without money, which is held for none of these
                pattern._state.adding = True
                pattern.save(using=MARKET)
                there.append(pattern)
            elif there:
                there.pop(rng.randrange(len(there))).delete()
            time.sleep(0.01)


class Played(Protocol):
    tally: Counter[str]
    problems: list[str]


class Limit:
    """Ends a benchmark after so many rounds, or minutes, and tells every 25 rounds how it goes."""

    def __init__(self, unit: str, count: int, minutes: float) -> None:
        self.unit = unit
        self._count = count
        self._until = time.perf_counter() + 60 * minutes
        self._told = 0

    def goes_on(self, played: Played) -> bool:
        done = played.tally[self.unit]
        if done >= self._told + 25:
            self._told = done
            print(f"{done} {self.unit}, {len(played.problems)} problems", file=sys.stderr, flush=True)
        return done < self._count and time.perf_counter() < self._until


Sides = Callable[[str], AbstractContextManager["Server"]]


def play_chaos(
    doc: str | None,
    unit: str,
    play: Callable[[random.Random, "Server", Limit], Played],
    reported: Sequence[str],
    sides: Sides = two_sides,
    take_protection_out: Callable[[], None] | None = None,
) -> Played:
    """Play a benchmark and print the outcome. `unit` names what is played 200 times, and the option for how often."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(f"--{unit}", type=int, default=200, dest="count")
    parser.add_argument("--minutes", type=float, default=10**6, help="begin nothing more after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database-url", default="", help="for our side; a new SQLite file unless given")
    if take_protection_out is not None:
        text = "take the protection out: then it must fail"
        parser.add_argument("--unprotected", action="store_true", help=text)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))  # and so end the marketplace, too
    started = time.perf_counter()
    with sides(options.database_url) as server:
        if take_protection_out is not None and options.unprotected:
            take_protection_out()
        played = play(random.Random(options.seed), server, Limit(unit, options.count, options.minutes))
    for what in reported:
        print(f"{played.tally[what]:>7,} {what}")
    for problem in played.problems:
        print(problem)
    print(f"{time.perf_counter() - started:>7,.0f} seconds (seed {options.seed})", flush=True)
    return played


def let_time_pass(hours: float) -> None:
    from localturk.models import ClockOffset

    offsets = ClockOffset.objects.using(MARKET)
    ahead = offsets.values_list("ahead", flat=True).first() or timedelta()
    offsets.update_or_create(pk=1, defaults={"ahead": ahead + timedelta(hours=hours)})
