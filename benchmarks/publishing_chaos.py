"""Kill and disturb publishing over and over: is every HIT on the marketplace exactly once in the end?

python -m benchmarks.publishing_chaos [--runs 200] [--seed 1]

Each run publishes a study of its own over HTTP to `manage.py localturk`, which has its own process and database.
SIGKILL ends the run at a random moment, or it meets a random fault, or both. Sometimes two runs go on at once;
sometimes more than 24 hours pass afterwards, so that the marketplace has forgotten its tokens. Then the run is started
again without faults, and the marketplace's table is compared with ours. In many runs, also when they are started again,
the marketplace's lists lag by some seconds, or are paged by offset while other projects' HITs come and go.
"""

import random
import sys
import time
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.publishing import ROOT
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

HITS = 25
STRANGERS = 20
STUDIES_KEPT = 8
MUST_BE_ZERO = ("HITs lost", "HITs double", "HITs of others changed", "restarts that failed")
REPORTED = (
    "runs",
    "  met by throttle",
    "  met by latency",
    "  met by fail-before",
    "  met by fail-after",
    "  met by drop-after",
    "  met by insufficient-funds",
    "  met by list-lag",
    "  met by offset-pages",
    "  two at once",
    "processes killed",
    "  before their first HIT was there",
    "  when some were there that we did not know",
    "  at another moment",
    "restarts",
    "  more than 24 hours later",
    "HITs published",
    "HITs of others in the account",
    *MUST_BE_ZERO,
)


def main() -> None:
    chaos = play_chaos(__doc__, "runs", _play, REPORTED)
    if any(chaos.tally[what] for what in MUST_BE_ZERO):
        sys.exit("Publishing is not exactly once.")


def _play(rng: random.Random, server: Server, limit: Limit) -> "Chaos":
    chaos = Chaos(rng, server)
    while limit.goes_on(chaos):
        chaos.play()
    chaos.look_at_strangers()
    return chaos


class Chaos:
    def __init__(self, rng: random.Random, server: Server) -> None:
        from hits.crowds.mturk.crowd import connect

        self._rng = rng
        self.tally: Counter[str] = Counter()
        self.problems: list[str] = []
        self._played: list[Study] = []
        self._market = connect()
        self._strangers_before = self._make_strangers()
        self._server = server
        self._churn = Churn()
        server.note_idle()  # with the connection that this process leaves open

    def play(self) -> None:
        with some_lies(self._rng, self._churn) as lies:
            self._play(lies)

    def _play(self, lies: list[str]) -> None:
        """Play a run, and count it unless nothing happened to it: it may be done before it can be killed."""
        study = _make_study(f"chaos-{uuid.UUID(int=self._rng.getrandbits(128))}")
        kills = self.tally["processes killed"]
        with some_faults(self._rng) as kind:
            processes = [start_command("publish_hits", study.name) for _ in range(1 + (self._rng.random() < 0.2))]
            for process in processes:
                self._disturb(process, study, is_faulty=kind is not None)
        if kind is not None or self.tally["processes killed"] > kills:
            self.tally["runs"] += 1
            self.tally[f"  met by {kind}"] += 1
            self.tally.update(f"  met by {lie}" for lie in lies)
            self.tally["  two at once"] += len(processes) > 1
        is_later = self._rng.random() < 0.3
        if is_later:
            self._server.wait_for_what_is_on_its_way()
            let_time_pass(self._rng.uniform(24.1, 48))
        self._restart(study, is_later)
        if not self._compare(study):
            what = f"met by {[kind, *lies]}, {len(processes)} at once" + ", restarted a day later" * is_later
            self.problems.append(f"{study}: not exactly once, {what}")
        self._forget_old_ones(study)

    def look_at_strangers(self) -> None:
        self.tally["HITs of others in the account"] = STRANGERS
        self.tally["HITs of others changed"] = STRANGERS - len(self._strangers_before & self._strangers())

    # --- What is done to a run ---

    def _disturb(self, process: "ForkProcess", study: "Study", is_faulty: bool) -> None:
        """Kill the run at a random moment, by time or by how many HITs are there; half of the time, only its fault
        acts."""
        if is_faulty and self._rng.random() < 0.5:
            process.join(120)
        elif self._rng.random() < 0.3:
            process.join(self._rng.uniform(0, 1))
        else:
            count = self._rng.randint(0, HITS)
            while process.is_alive() and len(_ids_there(study)) < count:
                time.sleep(0.005)
            process.join(self._rng.uniform(0, 0.1))
        if process.is_alive():
            process.kill()
            process.join()
            self.tally["processes killed"] += 1
            self.tally[f"  {_how_far(study)}"] += 1

    def _restart(self, study: "Study", is_later: bool) -> None:
        self.tally["restarts"] += 1
        self.tally["  more than 24 hours later"] += is_later
        process = start_command("publish_hits", study.name)
        process.join(120)
        self.tally["restarts that failed"] += process.exitcode != 0

    def _compare(self, study: "Study") -> bool:
        """Compare both sides. A HIT counts as found if it is on the marketplace and we know it under the same id."""
        there, known = _ids_there(study), _known_ids(study)
        lost = HITS - len({there[one] for one in there if known.get(one) == there[one]})
        double = len(there) - len(set(there.values()))
        self.tally["HITs published"] += HITS
        self.tally["HITs lost"] += lost
        self.tally["HITs double"] += double
        return lost == double == 0

    def _forget_old_ones(self, study: "Study") -> None:
        """Delete old HITs. Otherwise each run would look through more of them, and the 200th would take twice as
        long."""
        from localturk.models import TurkHit

        self._played.append(study)
        if len(self._played) > STUDIES_KEPT:
            ids = _ids_there(self._played.pop(0))
            TurkHit.objects.using(MARKET).filter(hit_id__in=ids).delete()

    # --- HITs of others ---

    def _make_strangers(self) -> set[tuple[Any, ...]]:
        """Make HITs of another project, and of another machine that runs the same design in the same account."""
        from dataclasses import replace

        from hits.crowds.mturk.client import hit_type_of
        from hits.crowds.mturk.question import external_question
        from hits.crowds.mturk.types import NewHit
        from hits.models.design import StudyDesign

        hit_type = self._market.create_hit_type(hit_type_of(StudyDesign.model_validate(_design("stranger"))))
        first = NewHit(hit_type, external_question("https://example.org/", 600), 3, 365 * 86_400, "", "")
        other_machine = "evalplatform 2c2a4e4e-3f0e-4c5e-9f6a-000000000000"
        for number in range(STRANGERS):
            annotation = f"{other_machine if number % 2 else 'somebody else'} {number}"
            self._market.create_hit(replace(first, annotation=annotation, token=f"stranger-{number}"))
        return self._strangers()

    def _strangers(self) -> set[tuple[Any, ...]]:
        from localturk.models import TurkHit

        return set(TurkHit.objects.using(MARKET).order_by("pk").values_list()[:STRANGERS])


def _how_far(study: "Study") -> str:
    known, there = set(_known_ids(study)), set(_ids_there(study))
    if not there:
        return "before their first HIT was there"
    return "when some were there that we did not know" if there - known else "at another moment"


def _make_study(name: str) -> "Study":
    """Make a study whose HITs have no dialogs, because publishing only looks at their numbers and assignments."""
    from django.utils import timezone

    from hits.models import Hit, Study

    study = Study.objects.create(name=name, design=_design(name), manifest_hash="-", frozen_at=timezone.now())
    Hit.objects.bulk_create(Hit(study=study, number=number, block=number, assignments=4) for number in range(HITS))
    return study


def _design(name: str) -> dict[str, Any]:
    from hits.designing import read_study_file

    return {**read_study_file(ROOT / "examples" / "demo.toml"), "name": name}


def _ids_there(study: "Study") -> dict[str, str]:
    """Return id and annotation of the study's HITs on the marketplace."""
    from localturk.models import TurkHit

    found = TurkHit.objects.using(MARKET).filter(requester_annotation__startswith=f"evalplatform {study.key} ")
    return dict(found.values_list("hit_id", "requester_annotation"))


def _known_ids(study: "Study") -> dict[str, str]:
    from hits.crowds.mturk.annotations import annotation_of
    from hits.models import Publication, offering_for

    known = Publication.objects.filter(hit__study=study).confirmed().values_list("crowd_hit_id", "hit__number")
    return {crowd_hit_id: annotation_of(offering_for(study, "local"), number) for crowd_hit_id, number in known}


if __name__ == "__main__":
    main()
