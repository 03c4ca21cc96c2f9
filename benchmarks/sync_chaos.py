"""Kill and disturb collecting and paying over and over: is every answer collected, and everything paid once?

python -m benchmarks.sync_chaos [--rounds 200] [--seed 1]

Each round has a study of its own, published to `manage.py localturk`, which has its own process and database. A
simulated crowd works on it, while `sync_hits` runs once or twice at a time, meets faults, and is ended by SIGKILL at
random moments. Sometimes our database is restored to an earlier state (and pages are opened again in it), and sometimes
a day or four pass, so that the marketplace has forgotten its tokens or has approved by itself. Its lists lag, or are
paged by offset while other projects' HITs come and go. Some workers submit nothing at all. Somebody on the
marketplace's own pages rejects work, takes that back, and gives bonuses. Then `sync_hits` is started again without
faults. What workers submitted was noted on the way, and is compared with the marketplace's tables and ours.
"""

import random
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.publishing import ROOT
from benchmarks.two_sides import (
    MARKET,
    Churn,
    Server,
    let_time_pass,
    play_chaos,
    some_faults,
    some_lies,
    start_command,
)

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

    from django.db.models import Model

    from hits.models import Assignment, Study

ROUNDS_KEPT = 8
WORKERS = 12
MUST_BE_ZERO = ("answers lost", "answers changed", "payments double", "payments missing", "payments to the wrong")
AND_ZERO = (
    "cents of difference between our ledger and the marketplace's",
    "empty submissions that we paid",
    "empty submissions that nobody is asked about",
    "last syncs that failed",
)
REPORTED = (
    "rounds",
    "  met by throttle",
    "  met by latency",
    "  met by fail-before",
    "  met by drop-after",
    "  met by insufficient-funds",
    "  met by list-lag",
    "  met by offset-pages",
    "  two syncs at once",
    "  restored to an earlier state",
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
    chaos = play_chaos(__doc__, "rounds", _play, REPORTED)
    if any(chaos.tally[what] for what in (*MUST_BE_ZERO, *AND_ZERO)):
        sys.exit("Collecting and paying is not exactly once.")


def _play(rng: random.Random, server: Server, count: int) -> "Chaos":
    chaos = Chaos(rng, server)
    while chaos.tally["rounds"] < count:
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
        study = _make_study(f"chaos-{uuid.UUID(int=self._rng.getrandbits(128))}", self._rng)
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
        hits = list(TurkHit.objects.filter(requester_annotation__startswith=_annotation(self.study)))
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
                _by_hand("RejectAssignment", AssignmentId=assignment_id, RequesterFeedback="A slip.")
            elif draw < 0.3:
                words = {"Reason": "Thank you for your letter.", "BonusAmount": "0.07"}
                _by_hand("SendBonus", AssignmentId=assignment_id, WorkerId=worker_id, **words)

    def _take_rejections_back(self) -> None:
        from localturk.models import TurkAssignment

        ours = TurkAssignment.objects.filter(hit__requester_annotation__startswith=_annotation(self.study))
        for one in ours.filter(status="Rejected"):
            is_done = _by_hand("ApproveAssignment", AssignmentId=one.assignment_id, OverrideRejection=True)
            self.tally["rejections overridden there"] += is_done

    def _work(self, hit_count: int) -> None:
        """Let the crowd work on the first HITs. What they submit is noted here, whatever happens to our database."""
        from hits.models import Assignment
        from simulated_crowd.people import Crowd
        from simulated_crowd.simulating import simulate
        from simulated_crowd.truths import read_truth

        if hit_count:
            crowd = Crowd(WORKERS, read_truth("demo"), seed=self.study.design["seed"])
            simulate(self.study, crowd, _both_sides_at_once(), hit_count=hit_count)
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
            while process.is_alive() and time.monotonic() < until and _approved(self.study) < count:
                time.sleep(0.005)
            process.join(self.rng.uniform(0, 0.15))
        if process.is_alive():
            process.kill()
            process.join()
            self.tally["syncs killed"] += 1
            self.tally[f"  {_how_far(self.study)}"] += 1

    def _finish(self) -> None:
        for _ in range(2):
            process = self._start()
            process.join(120)
            self.tally["last syncs that failed"] += process.exitcode != 0
            self.server.wait_for_what_is_on_its_way()

    # --- What came of it ---

    def compare(self) -> Iterator[str]:
        from hits.models import Rating
        from localturk.models import TurkAssignment

        there = TurkAssignment.objects.filter(hit__requester_annotation__startswith=_annotation(self.study))
        there = there.filter(status__in=["Submitted", "Approved", "Rejected"])
        tally: Counter[str] = Counter()
        of_study = Rating.objects.filter(submission__assignment__hit__study=self.study)
        for assignment in there.select_related("worker"):
            key = assignment.assignment_id, assignment.worker.worker_id
            if key in self.empty:
                self._look_at_empty(assignment, tally)
                continue
            ratings = of_study.filter(
                submission__assignment__crowd_assignment_id=key[0], submission__assignment__crowd_worker_id=key[1]
            )
            self._compare_one(assignment, self.handed_in[key], Counter(map(_rating, ratings)), tally)
        tally["answers lost"] += max(0, len(self.handed_in) + len(self.empty) - len(there)) * self._dialog_count()
        ours, theirs = _cents_here(self.study), _cents_there(self.study)
        tally[AND_ZERO[0]] = abs(ours - theirs)
        self.tally.update(tally)
        yield from (f"{count} {what}" for what, count in tally.items() if count and what in (*MUST_BE_ZERO, *AND_ZERO))

    def _look_at_empty(self, there: Any, tally: Counter[str]) -> None:
        """Check an empty submission: only the marketplace itself may approve it, after its delay; until then it waits
        for a person's decision."""
        from hits.budgeting import waiting_for_decision
        from hits.models import Submission, offering_for

        tally["empty submissions"] += 1
        is_paid_by_itself = there.status == "Approved" and there.approved_at == there.auto_approval_at
        tally["  approved by the marketplace itself"] += is_paid_by_itself
        tally["empty submissions that we paid"] += there.status == "Approved" and not is_paid_by_itself
        if there.status == "Submitted":
            ours = Submission.objects.get(assignment__crowd_assignment_id=there.assignment_id)
            tally["empty submissions that nobody is asked about"] += ours.pk not in waiting_for_decision(
                offering_for(self.study, "local")
            )

    def _compare_one(self, there: Any, handed_in: "HandedIn", ratings: Counter[Any], tally: Counter[str]) -> None:
        tally["assignments handed in"] += 1
        tally["answers of them"] += self._dialog_count()
        if not ratings:
            tally["answers lost"] += self._dialog_count()
        tally["answers changed"] += bool(ratings) and ratings != handed_in.ratings
        rewards = there.ledger_entries.filter(kind="Reward").count()
        bonuses = there.bonus_payments.filter(reason__endswith="[bonus]").count()
        tally["bonuses given there by hand"] += there.bonus_payments.count() - bonuses
        due = int(handed_in.has_won)
        tally["rewards"] += rewards
        tally["bonuses"] += bonuses
        tally["payments missing"] += (rewards < 1) + (bonuses < due)
        tally["payments double"] += max(0, rewards - 1) + max(0, bonuses - 1)
        tally["payments to the wrong"] += bonuses > 0 and not due

    def _dialog_count(self) -> int:
        return int(self.study.design["hits"]["dialogs"])


@dataclass(frozen=True)
class HandedIn:
    """What a worker submitted, and whether it wins the bonus."""

    ratings: Counter[Any]
    has_won: bool
    hit_pk: int

    @classmethod
    def of(cls, assignment: "Assignment") -> "HandedIn":
        from hits.protocols import protocol_of

        protocol = protocol_of(assignment.hit.study.parsed_design)
        items = {item.pk: item for item in assignment.hit.items.all()}
        ratings: Counter[Any] = Counter()
        for answer in assignment.answers.all():
            for place, card in enumerate(answer.card_order):
                cards = items[answer.item_id].cards[card]
                for candidate in cards.writers:
                    for value in protocol.values_of_card(answer.value, card).values():
                        ratings[answer.item_id, candidate, card, place, value] += 1
        won = sum(protocol.value_passes(value) for (_, candidate, *_, value) in ratings if candidate is None)
        return cls(ratings, won >= assignment.hit.study.design["pay"]["bonus_points"], assignment.hit_id)


class Snapshot:
    """Our rows of a study, except for the study itself and its HITs. (The marketplace has its own database.)"""

    def __init__(self, study: "Study") -> None:
        self._study = study
        self._rows = {model: list(self._of_study(model, path)) for model, path in _tables()}

    def restore(self) -> None:
        from django.db import transaction

        with transaction.atomic():
            for model, path in reversed(_tables()):
                self._of_study(model, path).delete()
            for model, _ in _tables():
                model._base_manager.bulk_create(self._rows[model])
            _reset_ids([model for model, _ in _tables()])

    def _of_study(self, model: "type[Model]", path: str) -> Any:
        return model._base_manager.filter(**{path: self._study.pk})


def _tables() -> "list[tuple[type[Model], str]]":
    from hits import models

    return [
        (models.Offering, "study"),
        (models.BonusList, "offering__study"),
        (models.HitPlaces, "offering__study"),
        (models.Publication, "hit__study"),
        (models.Replacement, "hit__study"),
        (models.Standing, "offering__study"),
        (models.Event, "study"),
        (models.Assignment, "hit__study"),
        (models.Answer, "assignment__hit__study"),
        (models.BonusCheck, "assignment__hit__study"),
        (models.Submission, "assignment__hit__study"),
        (models.Rating, "submission__assignment__hit__study"),
        (models.Payment, "submission__assignment__hit__study"),
    ]


def _reset_ids(models: "list[type[Model]]") -> None:
    """Reset the counters of ids. A restored database gives the same ids again, to other rows than before."""
    from django.core.management.color import no_style
    from django.db import connection

    statements = connection.ops.sequence_reset_sql(no_style(), models)
    if connection.vendor == "sqlite":
        tables = [model._meta.db_table for model in models]
        most = "coalesce((SELECT max(id) FROM {0}), 0)"
        statements = [f"UPDATE sqlite_sequence SET seq = {most.format(one)} WHERE name = '{one}'" for one in tables]
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _by_hand(operation: str, **params: Any) -> bool:
    """Change the marketplace's tables directly, as somebody does on its own pages, past our client and the faults."""
    from django.db import transaction

    from localturk.clock import Clock
    from localturk.errors import TurkError
    from localturk.operations import OPERATIONS

    try:
        with transaction.atomic(using=MARKET):
            OPERATIONS[operation](params, Clock().now())
    except TurkError:
        return False  # mostly because one of our runs was faster
    return True


def _both_sides_at_once() -> Any:
    from django.db import transaction
    from django.test import override_settings

    from simulated_crowd.channels import InProcess

    class BothSides(InProcess):
        """Runs a stint in two transactions, ours and the marketplace's, into which its own process may be writing."""

        def whole_stint(self) -> AbstractContextManager[object]:
            stack = ExitStack()
            # Our page asks who holds an assignment. Over HTTP, it would ask a process that can't see the transaction
            # yet.
            stack.enter_context(override_settings(MTURK_LOCAL_URL=""))
            stack.enter_context(transaction.atomic(using=MARKET))
            stack.enter_context(super().whole_stint())
            return stack

    return BothSides()


def import_corpus() -> None:
    from io import StringIO

    from django.core.management import call_command

    corpus = ROOT / "examples" / "corpus"
    for name in ("subtitles", "emotional", "empathetic"):
        call_command("import_dialogs", corpus / f"{name}.jsonl", dataset=f"example-{name}", stdout=StringIO())
    call_command("import_candidates", corpus / "candidates.jsonl", stdout=StringIO())


def _make_study(name: str, rng: random.Random) -> "Study":
    """Make and publish a study of small HITs: the money and the races are the same."""
    from django.utils import timezone

    from hits.batching import build_hits
    from hits.crowds.mturk.crowd import connect
    from hits.designing import create_study, read_study_file
    from hits.models import Study, offering_for
    from hits.publishing import plan_publishing, publish_hits

    settings: dict[str, Any] = {
        **read_study_file(ROOT / "examples" / "demo.toml"),
        "name": name,
        "seed": rng.randrange(2**31),
        "datasets": [{"name": "example-empathetic", "dialogs": 6}, {"name": "example-subtitles", "dialogs": 3}],
        "hits": {"dialogs": 3, "assignments": 3},
        "checkpoints": {"per_hit": 2, "datasets": ["example-empathetic"]},
        "pay": {"bonus_points": 2},
        "screening": [],
    }
    build_hits(create_study(settings))
    study = Study.objects.get(name=name)
    url = "http://127.0.0.1:8000/work"
    publish_hits(plan_publishing(offering_for(study, "local")), connect(), url, timezone.now)
    return study


def _annotation(study: "Study") -> str:
    return f"evalplatform {study.key} "


def _approved(study: "Study") -> int:
    from localturk.models import TurkAssignment

    of_study = TurkAssignment.objects.filter(hit__requester_annotation__startswith=_annotation(study))
    return of_study.filter(status="Approved").count()


def _how_far(study: "Study") -> str:
    is_behind = _cents_there(study) > _cents_here(study)
    return "with money moved that we had not noted" if is_behind else "at another moment"


def _cents_here(study: "Study") -> int:
    from hits.models import Payment

    return Payment.objects.filter(submission__assignment__hit__study=study).paid().cents()


def _cents_there(study: "Study") -> int:
    from localturk.models import LedgerEntry

    entries = LedgerEntry.objects.filter(assignment__hit__requester_annotation__startswith=_annotation(study))
    return sum(entry.amount_cents + entry.fee_cents for entry in entries)


def _rating(rating: Any) -> tuple[Any, ...]:
    return rating.item_id, rating.candidate_id, rating.card, rating.place, rating.value


if __name__ == "__main__":
    main()
