"""Kill and disturb collecting and paying over and over: is every answer collected, and everything paid once?

python -m benchmarks.sync_chaos [--rounds 200] [--minutes 60] [--seed 1] [--unprotected]

Each round has a study of its own, published to `manage.py localturk`, which has its own process and database. A
simulated crowd works on it, while `sync_hits` runs once or twice at a time, meets faults, and is ended by SIGKILL at
random moments. Sometimes our database is restored to an earlier state (and pages are opened again in it), and sometimes
a day or four pass, so that the marketplace has forgotten its tokens or has approved by itself. Sometimes another server
with an earlier copy of our database syncs in between. Its lists lag (those of bonuses by minutes), or are
paged by offset while other projects' HITs come and go. Some workers submit nothing at all. Somebody on the
marketplace's own pages rejects work, takes that back, and gives bonuses. Then `sync_hits` is started again without
faults. What workers submitted was noted on the way, and is compared with the marketplace's tables and ours.
(Work that comes late does not exist here: MTurk takes a HIT back when its time is over.)

With --unprotected, nobody looks at the HIT's bonuses before paying. Then payments must come out double, or this
benchmark could not find them.
"""

import random
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.restored_rows import HandedIn, Snapshot
from benchmarks.sync_outcome import AND_ZERO, MUST_BE_ZERO, SyncOutcome
from benchmarks.sync_side import (
    annotation_of,
    both_sides_at_once,
    change_by_hand,
    count_approved,
    how_far,
    import_corpus,
    make_study,
    take_protection_out,
)
from benchmarks.two_sides import (
    MARKET,
    Churn,
    Limit,
    Server,
    let_time_pass,
    play_chaos,
    some_faults,
    some_lies,
    start_command,
)

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

    from hits.models import Study

ROUNDS_KEPT = 8
WORKERS = 12
REPORTED = (
    "rounds",
    "  met by throttle",
    "  met by latency",
    "  met by fail-before",
    "  met by fail-after",
    "  met by drop-after",
    "  met by insufficient-funds",
    "  met by list-lag",
    "  met by offset-pages",
    "  met by bonuses visible minutes later",
    "  two syncs at once",
    "  restored to an earlier state",
    "  synced by another installation in between",
    "pages opened again after that, with a form of before",
    "  a day or four later",
    "syncs killed",
    "  with money moved that we had not noted",
    "  at another moment",
    "assignments handed in",
    "answers of them",
    "empty submissions",
    "  approved by the marketplace itself",
    "rejections overridden there",
    "bonuses given there by hand",
    "rewards",
    "bonuses",
    *MUST_BE_ZERO,
    *AND_ZERO,
)


def main() -> None:
    chaos = play_chaos(__doc__, "rounds", _play, REPORTED, take_protection_out=take_protection_out)
    if any(chaos.tally[what] for what in (*MUST_BE_ZERO, *AND_ZERO)):
        sys.exit("Collecting and paying is not exactly once.")


def _play(rng: random.Random, server: Server, limit: Limit) -> "Chaos":
    chaos = Chaos(rng, server)
    while limit.goes_on(chaos):
        chaos.play()
    return chaos


class Chaos:
    def __init__(self, rng: random.Random, server: Server) -> None:
        self._rng = rng
        self._server = server
        self.tally: Counter[str] = Counter()
        self.problems: list[str] = []
        self._played: list[str] = []
        import_corpus()
        self._churn = Churn()

    def play(self) -> None:
        study = make_study(f"chaos-{uuid.UUID(int=self._rng.getrandbits(128))}", self._rng)
        round_ = _Round(study, self._rng, self._server, self.tally)
        with some_lies(self._rng, self._churn) as lies:
            round_.play()
        round_.finish(lies)
        self.tally["rounds"] += 1
        self.problems += [f"{study}: {what}, {round_.story}" for what in round_.compare()]
        self._forget_old_ones(study)

    def _forget_old_ones(self, study: "Study") -> None:
        """Delete old HITs. Otherwise each round would look through more and more of them."""
        from localturk.models import TurkHit

        self._played.append(f"evalplatform {study.key} ")
        if len(self._played) > ROUNDS_KEPT:
            old = TurkHit.objects.filter(requester_annotation__startswith=self._played.pop(0))
            old.update(status=TurkHit.Status.DISPOSED)


@dataclass
class _Round:
    study: "Study"
    rng: random.Random
    server: Server
    tally: Counter[str]
    handed_in: dict[tuple[str, str], "HandedIn"] = field(default_factory=dict)  # by assignment and worker
    empty: set[tuple[str, str]] = field(default_factory=set)

    story: str = ""

    def play(self) -> None:
        hit_count = self.study.hits.count()
        with some_faults(self.rng) as kind:
            self._hand_in_nothing()
            self._work(self.rng.randint(0, hit_count))
            earlier = Snapshot(self.study) if self.rng.random() < 0.5 else None
            before = [self._start()] if self.rng.random() < 0.6 else []
            if self.rng.random() < 0.5:
                self._disturb_all(before)  # else it goes on while workers hand in
            self._work(hit_count)
            self._disturb_all(before)
            self._act_by_hand()
            at_once = 1 + (self.rng.random() < 0.4)
            self._sync(at_once)
            is_elsewhere = earlier is not None and self.rng.random() < 0.3
            if earlier is not None and is_elsewhere:
                self._sync_elsewhere(earlier)
            if self.rng.random() < 0.5:
                self._take_rejections_back()
        is_restored = earlier is not None and self.rng.random() < 0.7
        hours = self.rng.choice([0, 0, 0, 30, 96])
        if hours:
            self.server.wait_for_what_is_on_its_way()
            let_time_pass(hours)
        if is_restored and earlier is not None:
            earlier.restore()
            if self.rng.random() < 0.5:
                self._open_again()
            if self.rng.random() < 0.3:
                self._sync(1)
        self.tally[f"  met by {kind}"] += 1
        self.tally["  two syncs at once"] += at_once > 1
        self.tally["  restored to an earlier state"] += is_restored
        self.tally["  synced by another installation in between"] += is_elsewhere
        self.tally["  a day or four later"] += bool(hours)
        self.story = f"met by {kind}, {at_once} at once, restored: {is_restored}, {hours} hours later"
        self._take_rejections_back()

    def finish(self, lies: list[str]) -> None:
        """Run sync_hits without faults, twice: the first may meet requests of killed runs that are still on their way,
        and leave those HITs alone."""
        self.tally.update(f"  met by {lie}" for lie in lies)
        self.story += f", {lies}"
        self._finish()

    # --- What others do on the marketplace ---

    def _hand_in_nothing(self) -> None:
        """Let workers accept and post a bare form, without ever opening our page."""
        from django.db import transaction

        from localturk import working
        from localturk.clock import Clock
        from localturk.models import TurkHit, WorkerAccount
        from localturk.refusals import Refused
        from localturk.seeding import ensure_worker_accounts

        ensure_worker_accounts()
        hits = list(TurkHit.objects.filter(requester_annotation__startswith=annotation_of(self.study)))
        accounts = list(WorkerAccount.objects.order_by("pk")[:5])
        for _ in range(self.rng.choice([0, 0, 1, 2, 3])):
            account = self.rng.choice(accounts)
            try:
                with transaction.atomic(using=MARKET):
                    held = working.accept(account, self.rng.choice(hits), Clock().now())
                    working.submit(held.assignment_id, account, {}, Clock().now())
            except Refused:
                continue
            self.empty.add((held.assignment_id, account.worker_id))

    def _act_by_hand(self) -> None:
        """Let somebody reject work on the marketplace, and give bonuses there."""
        for assignment_id, worker_id in sorted(self.handed_in):
            draw = self.rng.random()
            if draw < 0.15:
                change_by_hand("RejectAssignment", AssignmentId=assignment_id, RequesterFeedback="A slip.")
            elif draw < 0.3:
                words = {"Reason": "Thank you for your letter.", "BonusAmount": "0.07"}
                change_by_hand("SendBonus", AssignmentId=assignment_id, WorkerId=worker_id, **words)

    def _take_rejections_back(self) -> None:
        from localturk.models import TurkAssignment

        ours = TurkAssignment.objects.filter(hit__requester_annotation__startswith=annotation_of(self.study))
        for one in ours.filter(status="Rejected"):
            is_done = change_by_hand("ApproveAssignment", AssignmentId=one.assignment_id, OverrideRejection=True)
            self.tally["rejections overridden there"] += is_done

    def _work(self, hit_count: int) -> None:
        """Let the crowd work on the first HITs. What they submit is noted here, whatever happens to our database."""
        from hits.models import Assignment
        from simulated_crowd.people import Crowd
        from simulated_crowd.simulating import simulate
        from simulated_crowd.truths import read_truth

        if hit_count:
            crowd = Crowd(WORKERS, read_truth("demo"), seed=self.study.design["seed"])
            simulate(self.study, crowd, both_sides_at_once(), hit_count=hit_count)
        for assignment in Assignment.objects.filter(hit__study=self.study).exclude(submitted_at=None):
            key = assignment.crowd_assignment_id, assignment.crowd_worker_id
            if key not in self.handed_in:
                self.handed_in[key] = HandedIn.of(assignment)

    def _open_again(self) -> None:
        """Whose rows were lost: they had opened the page again and handed in the form of before, which is in the order
        of before. As the page does it, past the question who holds it: by now it is handed in."""
        from django.utils import timezone

        from hits.models import Assignment, offering_for

        now = timezone.now()
        for (assignment_id, worker_id), handed_in in sorted(self.handed_in.items(), key=lambda one: one[0]):
            _, is_new = Assignment.objects.get_or_create(
                offering=offering_for(self.study, "local"),
                crowd_assignment_id=assignment_id,
                crowd_worker_id=worker_id,
                defaults={
                    **{"hit_id": handed_in.hit_pk, "rotation": self.rng.randrange(3)},
                    **{"opened_at": now, "held_at": now},
                },
            )
            self.tally["pages opened again after that, with a form of before"] += is_new

    def _sync(self, at_once: int) -> None:
        self._disturb_all([self._start() for _ in range(at_once)])

    def _sync_elsewhere(self, copy: Snapshot) -> None:
        """Sync with an earlier copy of our database, as another server on the same account would. Then go on with our
        own, which knows nothing of that."""
        self.server.wait_for_what_is_on_its_way()
        ours = Snapshot(self.study)
        copy.restore()
        self._sync(1)
        self.server.wait_for_what_is_on_its_way()
        ours.restore()

    def _start(self) -> "ForkProcess":
        return start_command("sync_hits", self.study.name)

    def _disturb_all(self, processes: "list[ForkProcess]") -> None:
        """Kill each run at a random moment, or let only its fault act."""
        for process in processes:
            if process.is_alive():
                self._disturb(process)

    def _disturb(self, process: "ForkProcess") -> None:
        if self.rng.random() < 0.25:
            process.join(120)
        else:
            count = self.rng.randint(0, len(self.handed_in))
            until = time.monotonic() + self.rng.uniform(0, 3)
            while process.is_alive() and time.monotonic() < until and count_approved(self.study) < count:
                time.sleep(0.005)
            process.join(self.rng.uniform(0, 0.15))
        if process.is_alive():
            process.kill()
            process.join()
            self.tally["syncs killed"] += 1
            self.tally[f"  {how_far(self.study)}"] += 1

    def _finish(self) -> None:
        for _ in range(2):
            process = self._start()
            process.join(120)
            self.tally["last syncs that failed"] += process.exitcode != 0
            self.server.wait_for_what_is_on_its_way()

    def compare(self) -> Iterator[str]:
        """Count what came of the round, and yield what must not have happened."""
        tally = SyncOutcome(self.study, self.handed_in, self.empty).counts()
        self.tally.update(tally)
        yield from (f"{count} {what}" for what, count in tally.items() if count and what in (*MUST_BE_ZERO, *AND_ZERO))


if __name__ == "__main__":
    main()
