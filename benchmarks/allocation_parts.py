"""Do what `benchmarks.allocation` measures, in a process and a database of its own; the last line is JSON.

python -m benchmarks.allocation_parts story ARRIVALS ARRIVALS_PER_HIT | cost HITS
"""

import heapq
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median, quantiles
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.models import Count, F, Max, Min  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from benchmarks.batching_data import make_data  # noqa: E402
from hits.batching import build_hits  # noqa: E402
from hits.budgeting import recount_places  # noqa: E402
from hits.crowds import CROWDS, Visit, open_crowd  # noqa: E402
from hits.designing import create_study  # noqa: E402
from hits.models import Assignment, Hit, HitPlaces, Offering, Publication, offering_for  # noqa: E402
from hits.models.assignment import HAS_PLACE  # noqa: E402
from hits.publishing import settle_offering  # noqa: E402
from hits.serving import DialogState, Ticket, WorkRefused, frozen_hit, give_back, save_dialogs, submit  # noqa: E402
from hits.serving import frozen as frozen_hits  # noqa: E402
from hits.serving.frozen import frozen_study  # noqa: E402
from hits.serving.opening_assignments import open_free_assignment  # noqa: E402
from tests.hits.toy_study_crowd import WholeCrowd  # noqa: E402

START = datetime(2026, 11, 16, 8, tzinfo=UTC)
LIMIT = timedelta(minutes=30)
SECOND = timedelta(seconds=1)
DIALOGS_PER_HIT, PLACES = 2, 9
PEOPLE_PER_HIT, MOST_HITS = 4, 5
QUIET_END = 500
MEASURED, SEEN_BEFORE = 200, 3  # arrivals, and HITs that each of them has had before


# --- The study ------------------------------------------------------------------------------------------------------


def offer(hit_count: int) -> Offering:
    call_command("migrate", verbosity=0)
    CROWDS["whole"] = WholeCrowd()
    settings = make_data(-(-hit_count * DIALOGS_PER_HIT // 3) * 3)
    settings |= {"name": "allocating", "screening": [], "checkpoints": {"per_hit": 0}}
    settings["hits"] = {"dialogs": DIALOGS_PER_HIT, "assignments": PLACES, "uneven_end": "drop"}
    settings["pay"] = {"approval": "by hand", "bonus": 0}
    wanted = {"countries": [], "min_approved": 0, "min_approval_percent": 0}
    limits = {"time_limit_minutes": LIMIT // timedelta(minutes=1), "max_hits_per_worker": MOST_HITS}
    settings["crowd"] = {"name": "whole", **wanted, **limits}
    study = create_study(settings)
    build_hits(study)
    study.refresh_from_db()
    offering = offering_for(study, "whole.panel")
    noted = {"offering": offering, "intended_at": START, "published_at": START}
    hits = Hit.objects.filter(study=study).order_by("number")[:hit_count]
    Publication.objects.bulk_create(
        (Publication(hit=hit, crowd_hit_id=f"part-{hit.number}-0", **noted) for hit in hits), batch_size=1000
    )
    settle_offering(offering, open_crowd(offering))
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # as its own background process does within a minute
    return offering


# --- A day ----------------------------------------------------------------------------------------------------------


@dataclass(order=True)
class Later:
    at: datetime
    order: int
    what: str = field(compare=False)
    assignment: Assignment = field(compare=False)


class Day:
    def __init__(self, offering: Offering, arrivals: int) -> None:
        self._offering, self._arrivals = offering, arrivals
        self._study = frozen_study(offering.study.key)
        self._rng = random.Random(7)
        self._later: list[Later] = []
        self.counts: Counter[str] = Counter()
        self.not_least_filled = 0
        self.spreads: Counter[int] = Counter()  # how far apart HITs were, at each arrival that got one

    def pass_by(self) -> None:
        people = [f"p{number}" for number in range(PEOPLE_PER_HIT * HitPlaces.objects.count())]
        between = timedelta(days=1) / self._arrivals
        for number in range(self._arrivals):
            now = START + number * between
            while self._later and self._later[0].at <= now:
                self._do(heapq.heappop(self._later))
            self._arrive(self._rng.choice(people), number, now)
        while self._later:
            self._do(heapq.heappop(self._later))

    def _arrive(self, worker: str, number: int, now: datetime) -> None:
        visit = Visit("whole", "panel", f"s{number}", worker)
        self.counts["arrivals"] += 1
        try:
            assignment = open_free_assignment(self._study, visit, now)
        except WorkRefused as refused:
            self.counts[f"  refused: {refused.refusal}"] += 1
            return
        self.counts["  got a HIT"] += 1
        self._check_least_filled(assignment)
        fate = self._rng.random() if number < self._arrivals - QUIET_END else 1.0
        minutes = self._rng.uniform(5, 28)
        if fate < 0.12:
            self._plan("return", assignment, now + timedelta(minutes=minutes / 3))
        elif fate < 0.20:
            self.counts["  vanished"] += 1
        elif fate < 0.26:
            self._plan("hand in late", assignment, now + LIMIT + timedelta(minutes=minutes))
        else:
            self._plan("hand in", assignment, now + timedelta(minutes=minutes))
        if self._rng.random() < 0.2:
            self._plan("reload", assignment, now + timedelta(minutes=4))

    def _plan(self, what: str, assignment: Assignment, at: datetime) -> None:
        heapq.heappush(self._later, Later(at, len(self._later) + self.counts.total(), what, assignment))

    def _do(self, later: Later) -> None:
        visit = _visit(later.assignment)
        self.counts[f"  {later.what}"] += 1
        if later.what == "return":
            give_back(self._offering, visit.assignment_id, visit.worker_id)
        elif later.what == "reload":
            try:
                assert open_free_assignment(self._study, visit, later.at).pk == later.assignment.pk
            except WorkRefused as refused:  # they had returned it, and somebody else has their place
                self.counts[f"    refused: {refused.refusal}"] += 1
        else:
            hand_in(self._offering, later.assignment, later.at)

    def _check_least_filled(self, given: Assignment) -> None:
        """No HIT that they might have had was filled less, before theirs was counted."""
        rows = HitPlaces.objects.filter(offering=self._offering)
        theirs = Assignment.objects.filter(offering=self._offering, crowd_worker_id=given.crowd_worker_id)
        others = rows.filter(taken__lt=F("places")).exclude(hit__in=theirs.values("hit"))
        least = others.aggregate(least=Min("taken"))["least"]
        taken = rows.get(hit=given.hit_id).taken - 1
        self.not_least_filled += least is not None and taken > least
        most_and_least = rows.aggregate(most=Max("taken"), least=Min("taken"))
        self.spreads[most_and_least["most"] - most_and_least["least"]] += 1


def hand_in(offering: Offering, assignment: Assignment, now: datetime) -> None:
    hit = frozen_hit(offering.study.key, assignment.hit.number, offering)
    ticket = Ticket(offering.study.key, hit.number, _visit(assignment))
    sent_by = hit.study.protocol.sent_by
    answers = [DialogState(item.position, 0, sent_by([0] * item.card_count)) for item in hit.items]
    save_dialogs(ticket, [], now, consent=hit.study.design.task.consent_version)
    submit(ticket, answers, "", now)


def _visit(assignment: Assignment) -> Visit:
    return Visit("whole", "panel", assignment.crowd_assignment_id, assignment.crowd_worker_id)


def story(arrivals: int, arrivals_per_hit: int) -> dict[str, Any]:
    offering = offer(arrivals // arrivals_per_hit)
    day = Day(offering, arrivals)
    started = time.perf_counter()
    day.pass_by()
    seconds = time.perf_counter() - started
    for name, count in day.counts.items():
        print(f"  {name:<32}{count:>8,}")
    ours = Assignment.objects.filter(offering=offering)
    in_places = dict(ours.filter(HAS_PLACE).values("hit").annotate(count=Count("pk")).values_list("hit", "count"))
    handed_in = Counter(ours.exclude(submitted_at=None).values_list("hit", flat=True))
    extra = Counter(ours.filter(place="extra").values_list("hit", flat=True))
    filled = Counter(ours.filter(place="filled").values_list("hit", flat=True))
    handed = ours.exclude(submitted_at=None).values_list("hit", "held_at", "submitted_at")
    late = Counter(hit for hit, held_at, at in handed if at and at - held_at > LIMIT)
    dialogs = list(ours.values_list("crowd_worker_id", "hit__items__dialog"))
    of_worker = Counter(ours.filter(HAS_PLACE).values_list("crowd_worker_id", flat=True))
    everyone = [filled[hit] for hit in HitPlaces.objects.filter(offering=offering).values_list("hit", flat=True)]
    found = {
        "HITs with more in places than places": sum(count > PLACES for count in in_places.values()),
        "HITs with more extra work than late work": sum(extra[hit] > late[hit] for hit in extra),
        "HITs whose extra work has room": sum(handed_in[hit] <= PLACES for hit in extra),
        "dialogs that somebody got twice": len(dialogs) - len(set(dialogs)),
        "people with more HITs than they may have": sum(count > MOST_HITS for count in of_worker.values()),
        "arrivals whose HIT was not a least filled one": day.not_least_filled,
        "filled places beyond a difference of one": max(0, max(everyone) - min(everyone) - 1),
        "HITs that nobody did": everyone.count(0),
        "HITs that are wrong when counted again": recount_places(offering),
    }
    print(
        f"  {len(everyone):,} HITs of {PLACES} places; {sum(extra.values()):,} extra; {seconds:.0f} s\n"
        f"  at rest, when all have gone: filled {min(everyone)} to {max(everyone)}\n"
        f"  during the day, at each arrival, the fullest and the emptiest HIT differed by: {_shares(day.spreads)}"
    )
    for name, count in found.items():
        print(f"  {name:<48}{count:>4} (0)")
    return {"problems": [f"{count} {name}" for name, count in found.items() if count]}


def _shares(spreads: Counter[int]) -> str:
    return ", ".join(f"{spread} ({count / spreads.total():.1%})" for spread, count in sorted(spreads.items()))


# --- What an arrival costs ------------------------------------------------------------------------------------------


def cost(hit_count: int) -> dict[str, Any]:
    offering = offer(hit_count)
    study, number = frozen_study(offering.study.key), 0
    # Half of all places are taken, as in the middle of a study.
    middle = PLACES // 2
    HitPlaces.objects.filter(offering=offering).update(taken=middle)
    milliseconds: list[float] = []
    steps: list[float] = []
    queries: list[float] = []
    for number in range(MEASURED):
        worker = f"p{number}"
        with transaction.atomic():
            for before in range(SEEN_BEFORE):
                open_free_assignment(study, Visit("whole", "panel", f"b{number}-{before}", worker), START)
            for measure in (milliseconds, steps, queries):
                frozen_hits._cached.clear()
                visit = Visit("whole", "panel", f"s{number}", worker)
                point = transaction.savepoint()
                with _measured(measure, milliseconds, steps):
                    open_free_assignment(study, visit, START + SECOND)
                transaction.savepoint_rollback(point)
            transaction.set_rollback(True)
    found = {
        "hits": hit_count,
        "ms": quantiles(milliseconds, n=10)[0],
        "steps": _or_none(steps),
        "queries": _or_none(queries),
    }
    told = f"{found['steps']:>6,.0f} steps, {found['queries']:.0f} queries" if found["steps"] else ""
    print(f"  {hit_count:>6,} HITs: {found['ms']:6.2f} ms an arrival  {told}")
    return found


@contextmanager
def _measured(measure: list[float], milliseconds: list[float], steps: list[float]) -> Iterator[None]:
    if measure is milliseconds:
        started = time.perf_counter()
        yield
        measure.append(1000 * (time.perf_counter() - started))
    elif connection.vendor != "sqlite":
        yield  # our statements there pass Django's cursor by
    elif measure is steps:
        done = 0

        def count() -> int:
            nonlocal done
            done += 1
            return 0

        connection.connection.set_progress_handler(count, 1)
        yield
        connection.connection.set_progress_handler(None, 1)
        measure.append(done)
    else:
        with CaptureQueriesContext(connection) as captured:
            yield
        measure.append(len(captured))


def _or_none(values: list[float]) -> float | None:
    return median(values) if values else None


if __name__ == "__main__":
    parts: dict[str, Any] = {"story": story, "cost": cost}
    print(json.dumps(parts[sys.argv[1]](*map(int, sys.argv[2:]))))
