"""Let a crowd work on a study: how many workers come, who stops for good, and each stint on market and pages.

The marketplace gets simulated times, of which the last is `ends_at`, so that a HIT seems to take its quarter of an hour
and nothing happens in the future. Our own pages use the real clock, and the workers tell them how long they took. Such
times count only as far as our clock allows, so submitted work gets its simulated times afterwards (dating.py).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.db.models import QuerySet
from django.urls import reverse

from evalplatform.errors import EvalPlatformError
from hits.models import USUAL_CROWD, Assignment, Study
from hits.models.design import StudyDesign
from hits.protocols import protocol_of
from localturk import working
from localturk.clock import Clock
from localturk.models import TurkAssignment, TurkHit, WorkerAccount
from localturk.worker_frame import work_frame
from simulated_crowd.channels import Channel
from simulated_crowd.dating import date_work
from simulated_crowd.judging import Judge
from simulated_crowd.knowing import KnownDialog, known_dialogs
from simulated_crowd.market_side import ensure_accounts, find_openings, pasts_of
from simulated_crowd.people import Crowd, SimulatedWorker
from simulated_crowd.scheduling import Ending, Limits, Opening, Stint, plan_stints
from simulated_crowd.visiting import TurnedAway, Visit

OnProgress = Callable[[int, int], None]
Reason = working.Reason

FOR_GOOD = {Reason.NOT_QUALIFIED, Reason.BLOCKED, "limit-reached"}


@dataclass
class SimulatedWork:
    """Counts of what happened. Refusals are counted by the reason that the marketplace or our page gave."""

    crowd: Crowd
    submitted: Counter[str] = field(default_factory=Counter)  # by type of worker
    returned: Counter[str] = field(default_factory=Counter)
    abandoned: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wanted: int = 0  # how many assignments were on offer

    @property
    def left(self) -> int:
        """Return how many of the assignments on offer nobody submitted."""
        return max(0, self.wanted - self.submitted.total())


def simulate(
    study: Study,
    crowd: Crowd,
    channel: Channel,
    on_progress: OnProgress = lambda done, total: None,
    hit_count: int | None = None,
    ends_at: datetime | None = None,
    speed: float | None = None,
) -> SimulatedWork:
    """Let the crowd work until no assignment is left, or nobody can take those that are left.

    `speed` is how many simulated seconds pass in a real one; without it, the crowd is as fast as the machine.
    """
    run = _Run(study, crowd, channel, on_progress, speed)
    while openings := find_openings(study, hit_count, Clock().now()):
        submitted_before = run.work.submitted.total()
        run.begin_round(openings, ends_at or Clock().now())
        if run.work.submitted.total() == submitted_before:
            break
    return run.work


def usual_size(study: Study) -> int:
    """Return the size of a crowd that can do the whole study, and in which few workers reach their limit."""
    return size_for(study.parsed_design, sum(study.hits.values_list("assignments", flat=True)))


def size_for(design: StudyDesign, assignments: int) -> int:
    return max(20, 3 * design.hits.assignments, round(2.5 * assignments / design.crowd.max_hits_per_worker))


class _Run:
    def __init__(
        self, study: Study, crowd: Crowd, channel: Channel, on_progress: OnProgress, speed: float | None
    ) -> None:
        self.work = SimulatedWork(crowd)
        self._study = study
        self._design = study.parsed_design
        self._protocol = protocol_of(self._design)
        self._crowd = crowd
        self._channel = channel
        self._on_progress = on_progress
        self._speed = speed
        self._accounts = ensure_accounts(crowd.workers)
        self._counters = dict(zip(Ending, (self.work.submitted, self.work.returned, self.work.abandoned), strict=True))
        self._gone: set[str] = set()  # ids of workers who can't take any more
        self._known: dict[int, list[KnownDialog]] = {}

    def begin_round(self, openings: Sequence[Opening], ends_at: datetime) -> None:
        self.work.wanted = self.work.wanted or sum(opening.free_count for opening in openings)
        limits = Limits(self._design.crowd.max_hits_per_worker, self._design.crowd.time_limit_minutes * 60)
        workers = list(self._find_who_may_work(openings[0]))
        pasts = pasts_of(self._study, workers, Clock().now(), timedelta(seconds=limits.seconds_per_hit))
        stints = list(plan_stints(openings, workers, pasts, limits))
        if stints:
            length = max(stint.ends for stint in stints)
            self._play_stints(stints, ends_at - timedelta(seconds=length))

    def _find_who_may_work(self, opening: Opening) -> Iterator[SimulatedWorker]:
        hit = TurkHit.objects.select_related("hit_type").get(hit_id=opening.crowd_hit_id)
        for worker in self._crowd.workers:
            if worker.worker_id in self._gone:
                continue
            refusal = working.can_accept(self._accounts[worker.worker_id], hit, Clock().now())
            if refusal is not None and refusal.reason in FOR_GOOD:
                self._note_refusal(worker, refusal.reason)
            else:
                yield worker

    def _play_stints(self, stints: Sequence[Stint], begins_at: datetime) -> None:
        """Play stints in the order in which they end, because one that gives a HIT back ends before another takes
        it."""
        in_order = sorted(stints, key=lambda stint: stint.ends)
        started = time.monotonic()
        for stint in in_order:
            if self._speed:
                time.sleep(max(0, started + (stint.ends - in_order[0].ends) / self._speed - time.monotonic()))
            if stint.worker.worker_id in self._gone:
                continue
            with self._channel.whole_stint():
                refusal = self._play_stint(stint, begins_at)
            if refusal:
                self._note_refusal(stint.worker, refusal)
            else:
                self._counters[stint.ending][stint.worker.type.name] += 1
                self._on_progress(self.work.submitted.total(), self.work.wanted)

    def _play_stint(self, stint: Stint, begins_at: datetime) -> str | None:
        """Do all that the worker does in a stint. Return why they could not, if so."""
        account = self._accounts[stint.worker.worker_id]
        starts_at, ends_at = (begins_at + timedelta(seconds=seconds) for seconds in (stint.starts, stint.ends))
        try:
            assignment = self._accept(account, stint, starts_at)
            try:
                with _pretend_accepted_now(assignment):
                    fields = self._work_on_page(assignment, stint)
            except TurnedAway as turned_away:
                working.return_assignment(assignment.assignment_id, account, starts_at)
                return turned_away.code
            if stint.ending == Ending.SUBMITTED:
                date_work(self._find_work(assignment, stint), stint.pace, starts_at, ends_at)
                working.submit(assignment.assignment_id, account, fields, ends_at)
            elif stint.ending == Ending.RETURNED:
                working.return_assignment(assignment.assignment_id, account, ends_at)
        except working.Refused as refused:
            return refused.refusal.reason
        return None

    def _find_work(self, assignment: TurkAssignment, stint: Stint) -> "QuerySet[Assignment]":
        ours = Assignment.objects.filter(offering__study=self._study, offering__crowd=USUAL_CROWD)
        there = ours.filter(offering__environment="local", crowd_worker_id=stint.worker.worker_id)
        return there.filter(crowd_assignment_id=assignment.assignment_id)

    def _work_on_page(self, assignment: TurkAssignment, stint: Stint) -> dict[str, list[str]]:
        """Work on our page, and return the fields that it would post to the marketplace."""
        judge = Judge(stint.worker, self._crowd.truth, len(self._protocol.scale.values))
        visit = Visit(self._channel, judge, self._protocol, self._known_dialogs(stint.opening.hit_pk), stint.pace)
        visit.open(self._page_path(assignment))
        visit.work_through(stint.dialog_count)
        if stint.ending != Ending.SUBMITTED:
            return {}
        return {name: [value] for name, value in visit.submit().items() if name != "assignmentId"}

    def _known_dialogs(self, hit_pk: int) -> list[KnownDialog]:
        if hit_pk not in self._known:
            self._known[hit_pk] = known_dialogs(self._design, hit_pk)
        return self._known[hit_pk]

    def _accept(self, account: WorkerAccount, stint: Stint, now: datetime) -> TurkAssignment:
        hit = TurkHit.objects.get(hit_id=stint.opening.crowd_hit_id)
        if hit.expires_at <= Clock().now():
            # The HIT was stopped meanwhile. The simulated time is earlier, so the marketplace would still give it out.
            raise working.Refused(working.Refusal(Reason.EXPIRED, "This HIT has expired."))
        return working.accept(account, hit, now)

    def _page_path(self, assignment: TurkAssignment) -> str:
        """Return path and query of our page's address in the marketplace's frame. The channel knows the server."""
        frame = work_frame(assignment, f"{self._channel.site}{reverse('market').rstrip('/')}")
        if frame is None:
            raise EvalPlatformError(f"The HITs of {self._study} on the local marketplace are not pages of ours.")
        url = urlsplit(frame.url)
        return f"{url.path}?{url.query}"

    def _note_refusal(self, worker: SimulatedWorker, reason: str) -> None:
        self.work.refused[str(reason)] += 1
        if reason in FOR_GOOD:
            self._gone.add(worker.worker_id)


@contextmanager
def _pretend_accepted_now(assignment: TurkAssignment) -> Iterator[None]:
    """Pretend that the assignment was accepted just now, while the worker is on our page: the page asks the marketplace
    since when the worker holds it, and uses the real clock."""
    row, now = TurkAssignment.objects.filter(pk=assignment.pk), Clock().now()
    row.update(accepted_at=now, deadline_at=now + (assignment.deadline_at - assignment.accepted_at))
    try:
        yield
    finally:
        row.update(accepted_at=assignment.accepted_at, deadline_at=assignment.deadline_at)
