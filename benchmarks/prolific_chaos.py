"""Kill and disturb publishing, collecting and paying on Prolific: is every answer stored, and everything paid once?

python -m benchmarks.prolific_chaos [--rounds 200] [--minutes 60] [--seed 1] [--unprotected]

Each round has a study of its own on `manage.py localprolific`, which has its own process and database. `publish_hits`
and `sync_hits` run once or twice at a time, meet faults (no answer, 500 although it acted, 429), and are ended by
SIGKILL at random moments. Bonuses become visible late, lists lag and shift, our database is restored to an earlier
state, another server with an earlier copy of it syncs in between, and somebody gives bonuses on Prolific's own pages.
Then `sync_hits` runs without faults; a person pays by hand what the ledger could not settle, which is counted; and
Prolific's tables are compared with what was handed in, and with ours. Answers are stored by this server alone, so a
database is restored to after they came. Some people are still at it when their time is over, and hand in when others
have their place; sometimes the budget has no room for that, and a person decides. In the end, some studies are deleted
on Prolific, and nothing may come of it.

With --unprotected, whatever is not visible is ordered again. Then payments must come out double, or this benchmark
could not find them.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from benchmarks.prolific_side import (
    Rater,
    at_prolific,
    cents_here,
    cents_there,
    hang_up,
    let_time_run_out,
    make_study,
    new_raters,
    pay_by_hand,
    prolific_beside_us,
    study_of,
    submissions_of,
    take_protection_out,
    time_there,
)
from benchmarks.restored_rows import HandedIn, Snapshot, rating_key
from benchmarks.sync_side import import_corpus
from benchmarks.two_sides import Limit, Server, play_chaos, start_command

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

    from hits.models import Study

FAULTS = ("throttle", "fail-before", "fail-after", "drop-after")
APPROVALS = "approve_in_bulk,transition_submission"
MONEY = "pay_bonus_payments,approve_in_bulk,create_bonus_payments,transition_submission"
OPERATIONS = (
    "",
    MONEY,
    "pay_bonus_payments",
    APPROVALS,
    "create_study,transition_study,change_study",
    "add_members,create_group",
)
GIVEN_BY_HAND = 7
MUST_BE_ZERO = (
    "answers lost",
    "answers changed",
    "payments double",
    "payments missing",
    "payments to the wrong",
    "cents of difference between our ledger and Prolific's",
    "studies published twice",
    "rounds above their budget",
    "payments after the study was deleted there",
    "last syncs that failed",
)
REPORTED = (
    "rounds",
    *(f"  met by {kind}" for kind in (*FAULTS, "bonus-lag", "list-lag", "rows-between-pages")),
    "  two syncs at once",
    "  restored to an earlier state",
    "  synced by another installation in between",
    "  bonuses given there by hand",
    "  with a budget of just its places",
    "  deleted there by hand in the end",
    "runs killed",
    "  with money moved that we had not noted",
    "approvals that acted and answered 500",
    "submissions",
    "  late, when their time was over",
    "  of them extra, since others had their place",
    "  waited for a person, since the budget had no room",
    "answers",
    "rewards",
    "bonuses",
    "  settled by a person",
    *MUST_BE_ZERO,
)


def main() -> None:
    sides, switch = prolific_beside_us, take_protection_out
    chaos = play_chaos(__doc__, "rounds", _play, REPORTED, sides, take_protection_out=switch)
    if any(chaos.tally[what] for what in MUST_BE_ZERO):
        sys.exit("Publishing, collecting and paying is not exactly once.")


def _play(rng: random.Random, server: Server, limit: Limit) -> "Chaos":
    import_corpus()
    chaos = Chaos(rng, server)
    while limit.goes_on(chaos):
        chaos.play()
    return chaos


@dataclass
class Chaos:
    rng: random.Random
    server: Server
    tally: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def play(self) -> None:
        round_ = _Round(make_study(self.rng), self.rng, self.server, self.tally)
        round_.play()
        name = f"round {self.tally['rounds']}, {round_.study.name}"
        self.problems += [f"{name}: {what}; {round_.story}" for what in (*round_.compare(), *round_.delete_there())]
        self.tally["rounds"] += 1


@dataclass
class _Round:
    study: "Study"
    rng: random.Random
    server: Server
    tally: Counter[str]
    handed_in: dict[str, HandedIn] = field(default_factory=dict)  # by submission
    earlier: Snapshot | None = None
    story: str = ""

    def play(self) -> None:
        self._publish()
        self._set_budget()
        raters = new_raters(self.rng, 6)
        with self._faults() as kind:
            self._work(raters)
            self._let_time_run_out(raters)
            before = [self._start()] if self.rng.random() < 0.5 else []
            self._work(raters)
            self._hand_in_late(raters)
            self._disturb_all(before)
            self.earlier = earlier = Snapshot(self.study) if self.rng.random() < 0.6 else None
            self._sync()
            if earlier is not None and self.rng.random() < 0.4:
                self._sync_elsewhere(earlier)
            self._give_by_hand()
            if earlier is not None:
                self._wait_for_what_is_on_its_way()
                earlier.restore()
                self.tally["  restored to an earlier state"] += 1
            self._sync()
        self.story = f"met by {kind}, restored: {earlier is not None}"
        self._finish()

    # --- The outside world ---

    @contextmanager
    def _faults(self) -> Iterator[str]:
        from localprolific.misbehaving import add_fault, clear_faults
        from localprolific.models import PanelFault

        kind, most = self.rng.choice(FAULTS) if self.rng.random() < 0.7 else "", self.rng.randint(1, 4)
        told = [kind] if kind else []
        if kind:
            operation = self.rng.choice(OPERATIONS)
            limits = {"probability": self.rng.uniform(0.2, 1), "seed": self.rng.randrange(10**6)}
            add_fault(kind, operation=operation, times_left=most, **limits)
        if self.rng.random() < 0.5:
            add_fault("bonus-lag", self.rng.choice([1, 30, 600]))
            told.append("bonus-lag")
        if self.rng.random() < 0.15:
            add_fault("list-lag", self.rng.uniform(0.2, 2))
            told.append("list-lag")
        if self.rng.random() < 0.2:
            add_fault("rows-between-pages")
            told.append("rows-between-pages")
        self.tally.update(f"  met by {one}" for one in told)
        yield " and ".join(told) or "nothing"
        struck = PanelFault.objects.filter(kind="fail-after", operation=APPROVALS)
        self.tally["approvals that acted and answered 500"] += sum(most - (one.times_left or 0) for one in struck)
        clear_faults()

    def _work(self, raters: Sequence[Rater]) -> None:
        """Let people take part. What they hand in is noted here, whatever happens to our database."""
        for rater in self.rng.sample(raters, self.rng.randint(1, 5)):
            rater.take_part(self.study, time_there())
        self._note_what_was_handed_in()

    def _let_time_run_out(self, raters: Sequence[Rater]) -> None:
        pages = [rater.late for rater in raters if rater.late is not None]
        let_time_run_out(pages, self.rng, time_there())

    def _hand_in_late(self, raters: Sequence[Rater]) -> None:
        """Let those hand in who were late. (Whoever became so only now is in time.)"""
        for rater in raters:
            self.tally["  late, when their time was over"] += rater.hand_in_late(time_there())
        self._note_what_was_handed_in()

    def _note_what_was_handed_in(self) -> None:
        from hits.models import Assignment

        done = {one.submission_id for one in submissions_of(self.study) if one.completed_at}
        for assignment in Assignment.objects.filter(hit__study=self.study).exclude(submitted_at=None):
            key = assignment.crowd_assignment_id
            if key in done and key not in self.handed_in:
                self.handed_in[key] = HandedIn.of(assignment)

    def _give_by_hand(self) -> None:
        for one in submissions_of(self.study):
            if one.status == "APPROVED" and self.rng.random() < 0.1:
                pay_by_hand(one, GIVEN_BY_HAND, time_there())
                self.tally["  bonuses given there by hand"] += 1

    # --- Our runs ---

    def _publish(self) -> None:
        """Publish, with kills and faults, until a run comes through: as somebody does who repeats the command."""
        from localprolific.misbehaving import add_fault, clear_faults

        if self.rng.random() < 0.4:
            add_fault(self.rng.choice(FAULTS), operation="create_study,transition_study", times_left=1)
        command = ("publish_hits", self.study.name, "--crowd", "prolific")
        if self.rng.random() < 0.5:
            processes = [start_command(*command) for _ in range(self.rng.choice([1, 1, 2]))]
            self._disturb_all(processes)
        clear_faults()
        self._wait_for_what_is_on_its_way()
        for _ in range(2):
            process = start_command(*command)
            process.join(120)
        process = self._start()  # whatever publishing has left is settled by a sync
        process.join(120)

    def _set_budget(self) -> None:
        """Set a budget that has room for the places and nothing else, in some rounds."""
        from django.utils import timezone

        from hits.budgeting import budget_of, set_cap
        from hits.models import offering_for

        if self.rng.random() < 0.4:
            offering = offering_for(self.study, "prolific.local")
            set_cap(offering, budget_of(offering).committed_cents, None, timezone.now())
            self.tally["  with a budget of just its places"] += 1

    def _sync(self) -> None:
        at_once = 1 + (self.rng.random() < 0.4)
        self.tally["  two syncs at once"] += at_once > 1
        self._disturb_all([self._start() for _ in range(at_once)])

    def _sync_elsewhere(self, copy: Snapshot) -> None:
        """Sync with an earlier copy of our database, as another server on the same account would. Then go on with our
        own, which knows nothing of that."""
        self._wait_for_what_is_on_its_way()
        ours = Snapshot(self.study)
        copy.restore()
        self._sync()
        self._wait_for_what_is_on_its_way()
        ours.restore()
        self.tally["  synced by another installation in between"] += 1

    def _start(self) -> "ForkProcess":
        return start_command("sync_hits", self.study.name, "--crowd", "prolific")

    def _wait_for_what_is_on_its_way(self) -> None:
        hang_up()
        self.server.wait_for_what_is_on_its_way()

    def _disturb_all(self, processes: "list[ForkProcess]") -> None:
        for process in processes:
            process.join(120 if self.rng.random() < 0.25 else self.rng.uniform(0.05, 1.2))
            if process.is_alive():
                process.kill()
                process.join()
                self.tally["runs killed"] += 1
                behind = sum(map(cents_there, submissions_of(self.study))) > cents_here(self.study)
                self.tally["  with money moved that we had not noted"] += behind

    def _finish(self) -> None:
        """Let all become visible, sync without faults, let a person settle what is left, and sync again."""
        from localprolific.panel_clock import Clock

        self._wait_for_what_is_on_its_way()
        Clock().advance(timedelta(minutes=30))
        self._sync_in_peace(2)
        time.sleep(0.25)  # until what was ordered now is paid
        self._sync_in_peace(1)
        self.tally["rounds above their budget"] += self._is_above_budget()
        if self._approve_what_waits():
            self._sync_in_peace(1)
            time.sleep(0.25)
            self._sync_in_peace(1)
        if self._settle_by_hand():
            self._sync_in_peace(1)

    def _sync_in_peace(self, times: int) -> None:
        for _ in range(times):
            process = self._start()
            process.join(120)
            self.tally["last syncs that failed"] += process.exitcode != 0

    def _is_above_budget(self) -> bool:
        """Return whether more is spent or owed than the budget allows. Somebody may give bonuses above it on Prolific's
        own pages."""
        from hits.budgeting import budget_of
        from hits.models import Payment, offering_for

        budget = budget_of(offering_for(self.study, "prolific.local"))
        by_hand = Payment.objects.filter(submission__assignment__hit__study=self.study, kind=Payment.Kind.EXTRA)
        return budget.left_cents is not None and budget.left_cents + by_hand.cents() < 0

    def _approve_what_waits(self) -> int:
        """Decide, as a person does, that late work is paid although the budget has no room for it."""
        from django.utils import timezone

        from hits.budgeting import waiting_for_decision
        from hits.models import Submission, offering_for
        from hits.paying import approve_by_hand

        waiting = waiting_for_decision(offering_for(self.study, "prolific.local"))
        count = approve_by_hand(Submission.objects.filter(pk__in=waiting), timezone.now())
        self.tally["  waited for a person, since the budget had no room"] += count
        return count

    def _settle_by_hand(self) -> int:
        """Do what the ledger asks a person for: look at each bonus in doubt, and pay it there if it is not paid."""
        from hits.models import Payment

        count = 0
        doubtful = Payment.objects.owed().filter(submission__assignment__hit__study=self.study)
        there = {one.submission_id: one for one in submissions_of(self.study)}
        for payment in (
            doubtful.exclude(kind="reward").exclude(sending_at=None).select_related("submission__assignment")
        ):
            submission = there[payment.submission.assignment.crowd_assignment_id]
            if payment.cents not in [one.amount_cents for one in submission.bonuses.all()]:
                pay_by_hand(submission, payment.cents, time_there())
            count += 1
        self.tally["  settled by a person"] += count
        return count

    # --- What came of it ---

    def compare(self) -> Iterator[str]:
        from hits.models import Assignment, Rating
        from localprolific.models import ProlificStudy

        tally: Counter[str] = Counter()
        bonus_cents = self.study.parsed_design.pay.bonus_cents
        ratings = Rating.objects.filter(submission__assignment__hit__study=self.study)
        difference = cents_here(self.study)
        for one in submissions_of(self.study):
            difference -= cents_there(one)
            handed_in = self.handed_in.get(one.submission_id)
            if handed_in is None:
                continue
            tally["submissions"] += 1
            tally["answers"] += 3
            ours = ratings.filter(submission__assignment__crowd_assignment_id=one.submission_id)
            stored = Counter(map(rating_key, ours))
            tally["answers lost"] += 3 * (not stored)
            tally["answers changed"] += bool(stored) and stored != handed_in.ratings
            rewards = one.wallet_entries.filter(kind="Reward").count()
            bonuses = one.wallet_entries.filter(kind="Bonus", amount_cents=bonus_cents).count()
            due = int(handed_in.has_won)
            tally["rewards"] += rewards
            tally["bonuses"] += bonuses
            tally["payments missing"] += (rewards < 1) + (bonuses < due)
            tally["payments double"] += max(0, rewards - 1) + max(0, bonuses - 1)
            tally["payments to the wrong"] += bonuses > 0 and not due
        tally["cents of difference between our ledger and Prolific's"] = abs(difference)
        extra = Assignment.objects.filter(hit__study=self.study, place=Assignment.Place.EXTRA).exclude(
            submitted_at=None
        )
        tally["  of them extra, since others had their place"] = extra.count()
        there = ProlificStudy.objects.filter(internal_name__startswith=f"EvalPlatform {self.study.key} ")
        tally["studies published twice"] = max(0, there.exclude(status="UNPUBLISHED").count() - 1)
        self.tally.update(tally)
        yield from (f"{count} {what}" for what, count in tally.items() if count and what in MUST_BE_ZERO)

    def delete_there(self) -> Iterator[str]:
        """Delete the study on Prolific in some rounds, and sync again, with an earlier copy of our database as well:
        nothing more may be paid, and no other study may come of it."""
        from localprolific.by_hand import delete_study
        from localprolific.models import BonusOrder, ProlificStudy

        if self.earlier is None or self.rng.random() < 0.6:
            return
        ours = {"study__internal_name__startswith": f"EvalPlatform {self.study.key} "}
        moved = [sum(map(cents_there, submissions_of(self.study)))]
        orders = BonusOrder.objects.filter(**{f"bonus_list__{key}": value for key, value in ours.items()})
        ordered = [orders.count()]
        with at_prolific():
            delete_study(study_of(self.study), time_there())
        start_sync = self._start
        for copy in (None, self.earlier):
            if copy is not None:
                copy.restore()
            start_sync().join(120)
        moved.append(sum(map(cents_there, submissions_of(self.study))))
        ordered.append(orders.count())
        self.tally["  deleted there by hand in the end"] += 1
        left = ProlificStudy.objects.undeleted().filter(internal_name__startswith=f"EvalPlatform {self.study.key} ")
        outcome = {
            "payments after the study was deleted there": moved[0] != moved[1] or ordered[0] != ordered[1],
            "studies published twice": left.exists(),
        }
        for what, is_so in outcome.items():
            self.tally[what] += is_so
            if is_so:
                yield what


if __name__ == "__main__":
    main()
