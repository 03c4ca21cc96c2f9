"""Kill and disturb syncs over and over: is each item whose three votes differ asked for exactly one fourth vote?

python -m benchmarks.fourth_votes_chaos [--rounds 200] [--minutes 60] [--seed 1] [--unprotected]

Each round has a study of its own on `manage.py localturk`, which has its own process and database. Votes come in, in
two steps, as rows; after each, `sync_hits` runs once or twice at a time, meets faults (no answer, an error although the
HIT was made, lists that lag), and is ended by SIGKILL at random moments. Sometimes a day passes, and the marketplace
forgets its tokens. Then `sync_hits` runs without faults, and the marketplace's HITs are counted: each item whose votes
differ must be in exactly one, and no other item in any.

With --unprotected, only what the crowd has confirmed counts as asked for, and the database does not refuse a second
copy. Then items must be asked for twice, or this benchmark could not find it.
"""

import random
import sys
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.publishing import ROOT
from benchmarks.sync_side import annotation_of, import_corpus
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

    from hits.models import Hit, HitItem, Study

ROUNDS_KEPT = 8
EACH = ((0, 2), (2, 0), (0, 0))  # win, loss, tie: the levels of the first and the second card
MUST_BE_ZERO = ("asked for twice or more", "never asked for", "asked for without need", "last syncs that failed")
REPORTED = (
    "rounds",
    "  met by throttle",
    "  met by latency",
    "  met by fail-before",
    "  met by fail-after",
    "  met by drop-after",
    "  met by list-lag",
    "  met by offset-pages",
    "  two syncs at once",
    "  a day later",
    "syncs killed",
    "  with rows saved that were not published",
    "  with HITs there that we did not know",
    "  at another moment",
    "items whose votes differ",
    "HITs for fourth votes",
    *MUST_BE_ZERO,
)


def main() -> None:
    chaos = play_chaos(__doc__, "rounds", _play, REPORTED, take_protection_out=take_protection_out)
    if any(chaos.tally[what] for what in MUST_BE_ZERO):
        sys.exit("Fourth votes are not asked for exactly once.")


def take_protection_out() -> None:
    """Count as asked for only what the crowd has confirmed, and let the database take a second copy."""
    from django.db import connection

    from hits.deciding import counted_votes
    from hits.models import HitItem

    def confirmed_copies(offering: Any) -> Any:
        found = HitItem.objects.filter(fourth_vote_in=offering)
        return found.exclude(hit__publications__crowd_hit_id="")

    counted_votes.copies_asking = confirmed_copies
    [refusing] = [one for one in HitItem._meta.constraints if one.name == "one_fourth_vote_per_item_and_offering"]
    # SQLite makes the table again, as the model says.
    HitItem._meta.constraints = [one for one in HitItem._meta.constraints if one is not refusing]
    with connection.schema_editor() as editor:
        editor.remove_constraint(HitItem, refusing)


def _play(rng: random.Random, server: Server, limit: Limit) -> "Chaos":
    chaos = Chaos(rng, server)
    while limit.goes_on(chaos):
        chaos.play()
    return chaos


class Chaos:
    def __init__(self, rng: random.Random, server: Server) -> None:
        self._rng, self._server = rng, server
        self.tally: Counter[str] = Counter()
        self.problems: list[str] = []
        self._played: list[str] = []
        import_corpus()
        self._churn = Churn()

    def play(self) -> None:
        round_ = _Round(_make_study(self._rng), self._rng, self._server, self.tally)
        with some_lies(self._rng, self._churn) as lies:
            round_.play()
        self.tally.update(f"  met by {lie}" for lie in lies)
        round_.finish()
        self.tally["rounds"] += 1
        self.problems += [f"{round_.study}: {what}; {round_.story}, {lies}" for what in round_.compare()]
        self._forget_old_ones(round_.study)

    def _forget_old_ones(self, study: "Study") -> None:
        """Delete old HITs. Otherwise each round would look through more and more of them."""
        from localturk.models import TurkHit

        self._played.append(annotation_of(study))
        if len(self._played) > ROUNDS_KEPT:
            old = TurkHit.objects.filter(requester_annotation__startswith=self._played.pop(0))
            old.update(status=TurkHit.Status.DISPOSED)


@dataclass
class _Round:
    study: "Study"
    rng: random.Random
    server: Server
    tally: Counter[str]
    story: str = ""

    def play(self) -> None:
        hits = list(self.study.hits.frozen())
        first = self.rng.randint(1, len(hits))
        self._differing = self._choose_differing()
        with some_faults(self.rng) as kind:
            for some in (hits[:first], hits[first:]):
                self._vote(some)
                at_once = self.rng.choice([1, 1, 2])
                self.tally["  two syncs at once"] += at_once > 1
                self._disturb([self._start() for _ in range(at_once)])
        is_later = self.rng.random() < 0.2
        if is_later:
            self.server.wait_for_what_is_on_its_way()
            let_time_pass(self.rng.uniform(24.1, 48))
        self.tally["  a day later"] += is_later
        self.tally[f"  met by {kind}"] += 1
        self.story = f"met by {kind}, a day later: {is_later}"

    def _choose_differing(self) -> set[int]:
        from hits.models import HitItem

        keys = HitItem.objects.filter(hit__study=self.study, is_checkpoint=False).values_list("pk", flat=True)
        return {pk for pk in keys if self.rng.random() < 0.4}

    def _vote(self, hits: "Sequence[Hit]") -> None:
        """Let three people vote on each HIT, as rows: how votes come in is sync_chaos's matter."""
        from datetime import timedelta

        from django.utils import timezone

        from hits.models import Submission
        from simulated_crowd.filling import Done, fill

        work = []
        for hit in hits:
            items = list(hit.items.all())
            for number in range(3):
                key = f"{hit.pk}-{number}"
                begun_at = timezone.now() - timedelta(hours=1)
                work.append(Done(hit, f"W{key}", key, number, begun_at, self._judge(items, number)))
        if work:
            fill(work, self.rng)
            ours = Submission.objects.filter(assignment__hit__study=self.study)
            ours.update(status=Submission.Status.SUBMITTED)  # nothing to pay: that is sync_chaos's matter, too

    def _judge(self, items: "Sequence[HitItem]", number: int) -> Any:
        levels = {}
        for item in items:
            said = EACH[number if item.pk in self._differing else 0]
            for place, card in enumerate(item.cards):
                levels.update(dict.fromkeys(card.candidates, ("win", "tie", "loss")[said[min(place, 1)]]))
        return lambda card, rng: levels[card.candidates[0]] if card.candidates else "win"

    def _start(self) -> "ForkProcess":
        return start_command("sync_hits", self.study.name)

    def _disturb(self, processes: "Sequence[ForkProcess]") -> None:
        for process in processes:
            if self.rng.random() < 0.6:
                # Kill it near the moment at which it asks: when rows are saved, or when HITs are there.
                wanted = self.rng.choice([self._saved, self._there])
                before = len(wanted())
                while process.is_alive() and len(wanted()) == before:
                    time.sleep(0.002)
                process.join(self.rng.uniform(0, 0.08))
            else:
                process.join(120 if self.rng.random() < 0.4 else self.rng.uniform(0.05, 1.5))
            if process.is_alive():
                process.kill()
                process.join()
                self.tally["syncs killed"] += 1
                self.tally[f"  {self._how_far()}"] += 1

    def _saved(self) -> set[str]:
        from hits.models import Publication

        ours = Publication.objects.filter(hit__study=self.study, hit__added_for__isnull=False)
        return {f"{pk} {crowd_id}" for pk, crowd_id in ours.values_list("pk", "crowd_hit_id")}

    def _there(self) -> list[int]:
        """The numbers of the study's HITs on the marketplace; one that is there twice comes twice."""
        from localturk.models import TurkHit

        found = TurkHit.objects.using(MARKET).filter(requester_annotation__startswith=annotation_of(self.study))
        return [int(mark.split()[2]) for mark in found.values_list("requester_annotation", flat=True)]

    def _how_far(self) -> str:
        from hits.models import Publication

        added = Publication.objects.filter(hit__study=self.study, hit__added_for__isnull=False, crowd_hit_id="")
        open_ones = set(added.values_list("hit__number", flat=True))
        if open_ones & set(self._there()):
            return "with HITs there that we did not know"
        return "with rows saved that were not published" if open_ones else "at another moment"

    def finish(self) -> None:
        """Sync without faults, twice: the first may meet requests of killed runs that are still on their way."""
        self.server.wait_for_what_is_on_its_way()
        for _ in range(2):
            process = self._start()
            process.join(120)
            self.tally["last syncs that failed"] += process.exitcode != 0

    def compare(self) -> list[str]:
        from hits.models import HitItem

        asking = HitItem.objects.filter(hit__study=self.study, fourth_vote_in__isnull=False)
        by_number: dict[int, list[int]] = {}
        for number, original in asking.values_list("hit__number", "copy_of"):
            by_number.setdefault(number, []).append(int(original or 0))
        there = [number for number in self._there() if number in by_number]
        asked = Counter(original for number in there for original in by_number[number])
        found = Counter(
            {
                "asked for twice or more": sum(count > 1 for count in asked.values()),
                "never asked for": len(self._differing - asked.keys()),
                "asked for without need": len(asked.keys() - self._differing),
            }
        )
        self.tally.update(found)
        self.tally["items whose votes differ"] += len(self._differing)
        self.tally["HITs for fourth votes"] += len(there)
        return [f"{count} items {what}" for what, count in found.items() if count]


def _make_study(rng: random.Random) -> "Study":
    from django.utils import timezone

    from hits.batching import build_hits
    from hits.crowds.mturk.crowd import connect
    from hits.designing import create_study, read_study_file
    from hits.models import Study, offering_for
    from hits.publishing import plan_publishing, publish_hits

    name = f"chaos-{uuid.UUID(int=rng.getrandbits(128))}"
    settings: dict[str, Any] = {
        **read_study_file(ROOT / "examples" / "demo.toml"),
        "name": name,
        "seed": rng.randrange(2**31),
        "protocol": "pairs",
        "generators": ["listener-large", "parrot"],
        "datasets": [{"name": "example-empathetic", "dialogs": 12}],
        "hits": {"dialogs": 4, "assignments": 3},
        "checkpoints": {"per_hit": 1, "datasets": ["example-empathetic"]},
        "pay": {"bonus_points": 1, "approval": "by hand"},
        "analysis": {"verdicts": "fourth vote"},
        "screening": [],
    }
    build_hits(create_study(settings))
    study = Study.objects.get(name=name)
    publish_hits(plan_publishing(offering_for(study, "local")), connect(), "http://127.0.0.1:8000/work", timezone.now)
    return study


if __name__ == "__main__":
    main()
