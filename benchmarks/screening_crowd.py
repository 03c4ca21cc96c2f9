"""Make frames of the paper's study as a simulated crowd would fill them, without a database.

The workers of simulated_crowd work on a page that is imitated here. There are four further types of spammers.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from hits.batching.card_orders import card_order
from hits.designing import order_key, read_study_file
from hits.frames import Frames, build_ratings, build_submissions
from hits.models.design import StudyDesign
from hits.protocols import OVERALL, Value, protocol_of, wins_point
from simulated_crowd.channels import Reply
from simulated_crowd.judging import Judge, Writers
from simulated_crowd.knowing import KnownDialog
from simulated_crowd.people import Crowd, SimulatedWorker
from simulated_crowd.scheduling import Ending, Limits, Opening, Past, Stint, plan_stints
from simulated_crowd.truths import HUMAN, Truth
from simulated_crowd.visiting import DATA_START, Visit
from simulated_crowd.worker_types import WorkerType

DESIGN = StudyDesign.model_validate(read_study_file(Path(__file__).parent.parent / "examples" / "meed2.toml"))
NO_SECRET = b"a benchmark, which nobody searches"
PROTOCOL = protocol_of(DESIGN)
AREAS = list(PROTOCOL.scale.values)
OF_CHECKPOINTS = ("points", "first_points", "attempts", "passed_checks", "moved_checks")

BY_PLACE = WorkerType("by-place", attention=0, minutes=6, introduction_seconds=10)
LINES = WorkerType("straight-lines", attention=0, minutes=6, introduction_seconds=10)
COPYING = WorkerType("copying", attention=1, minutes=8, introduction_seconds=10)
SHUFFLING = WorkerType("shuffling", attention=0, minutes=6, introduction_seconds=10, check_chance=0)


@dataclass
class SimulatedFrames:
    frames: Frames
    types: dict[str, str]  # by worker


def simulate_frames(crowd: Crowd, hit_count: int) -> SimulatedFrames:
    openings = [Opening(str(number), number, number, number, 10, 4) for number in range(hit_count)]
    pasts = {worker.worker_id: Past() for worker in crowd.workers}
    limits = Limits(DESIGN.crowd.max_hits_per_worker, DESIGN.crowd.time_limit_minutes * 60)
    stints = list(plan_stints(openings, crowd.workers, pasts, limits))
    rotations: dict[int, int] = {}
    ratings: list[tuple[Any, ...]] = []
    submissions: list[tuple[Any, ...]] = []
    for number, stint in enumerate(one for one in stints if one.ending == Ending.SUBMITTED):
        hit = stint.opening.number
        page = _work(stint, crowd.truth, rotations.setdefault(hit, 0))
        rotations[hit] += 1
        ratings += page.rating_rows(number, stint)
        submissions.append(page.submission_row(number, stint))
    types = {worker.worker_id: worker.type.name for worker in crowd.workers}
    return SimulatedFrames(_frames(ratings, submissions), types)


def _work(stint: Stint, truth: Truth, rotation: int) -> "_Page":
    page = _Page(_dialogs_of(stint.opening.number), rotation)
    visit = Visit(page, _judge(stint.worker, truth), PROTOCOL, page.dialogs, stint.pace)
    visit.open("/work/")
    if stint.worker.type.name == SHUFFLING.name:
        page.validate_everything_as_good()
    visit.work_through(len(page.dialogs))
    return page


# --- Spammers that the crowd itself does not have --------------------------------------------------------------------


def _judge(worker: SimulatedWorker, truth: Truth) -> Judge:
    kinds = {BY_PLACE.name: _ByPlace, LINES.name: _Lines, COPYING.name: _Copying}
    return kinds.get(worker.type.name, Judge)(worker, truth, len(AREAS))


class _ByPlace(Judge):
    """Rates by place, down the page: good, okay, bad, bad, good."""

    _last: KnownDialog | None = None
    _place = 0

    def level(self, dialog: KnownDialog, writers: Writers) -> int:
        self._place = self._place + 1 if dialog is self._last else 0
        self._last = dialog
        return (0, 1, 2, 2, 0)[self._place]


class _Lines(Judge):
    """Puts all cards of a dialog into one area, and those of another dialog into another."""

    def level(self, dialog: KnownDialog, writers: Writers) -> int:
        return order_key(*self.worker.key, dialog.external_id)[0] % len(AREAS)


class _Copying(Judge):
    """One of several accounts of the same person, which all send that person's opinions."""

    def level(self, dialog: KnownDialog, writers: Writers) -> int:
        person = SimulatedWorker(-1, COPYING, self.worker.seed)
        return Judge(person, self._truth, len(AREAS)).level(dialog, writers)


# --- The page --------------------------------------------------------------------------------------------------------


def _dialogs_of(hit: int) -> list[KnownDialog]:
    """Return the ten dialogs of a HIT: three or four of each dataset; the first three of ED are checkpoints."""
    return [
        KnownDialog(
            part := DESIGN.datasets[position % 3].name,
            f"{part}-{hit}-{position}",
            {name: (name,) for name in [*DESIGN.generators, *([HUMAN] if _is_checkpoint(position) else [])]},
        )
        for position in range(10)
    ]


def _is_checkpoint(position: int) -> bool:
    return position % 3 == 2


@dataclass
class _Page:
    """Answers as our own page would, and remembers what workers send."""

    dialogs: Sequence[KnownDialog]
    rotation: int
    site: str = ""
    states: dict[int, dict[str, Any]] = field(default_factory=dict)
    checks: dict[int, list[Value]] = field(default_factory=dict)  # placements

    def whole_stint(self) -> AbstractContextManager[object]:
        return nullcontext()

    def order(self, position: int) -> list[int]:
        dialog = self.dialogs[position]
        return card_order(NO_SECRET, dialog.dataset, dialog.external_id, len(dialog.writers), self.rotation)

    def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Reply:
        if method == "GET":
            return Reply(200, f"{DATA_START}{json.dumps(self._data())}</script>")
        said = json.loads(body)
        if path.endswith("/check/"):
            return Reply(200, json.dumps(self._check(said)))
        for state in said["dialogs"]:
            self.states[state["position"]] = state
        return Reply(200, json.dumps({"dialogs": [{"conflict": False, "revision": 1} for _ in said["dialogs"]]}))

    def _data(self) -> dict[str, Any]:
        return {
            "token": "",
            "has_agreed": True,
            "dialogs": [self._dialog(position) for position in range(len(self.dialogs))],
        }

    def _dialog(self, position: int) -> dict[str, Any]:
        names = list(self.dialogs[position].writers)
        return {
            "cards": [names[card] for card in self.order(position)],
            "has_bonus": _is_checkpoint(position),
            "bonus": {"attempts": 0},
            "answer": {"revision": 0, **PROTOCOL.show(None, ())},
        }

    def _check(self, said: dict[str, Any]) -> dict[str, Any]:
        value = self._value(said)
        self.checks.setdefault(said["position"], []).append(value)
        passed = self._passes(said["position"], value)
        return {"revision": 1, "bonus": {"attempts_left": None, "passed": passed, "is_lost": False}}

    def _value(self, said: Mapping[str, Any]) -> Value:
        """Return the protocol's own part of what a page sends, by the cards' places."""
        own = {name: said[name] for name in PROTOCOL.show(None, ())}
        return PROTOCOL.read(own, range(len(self.dialogs[said["position"]].writers)))

    def _passes(self, position: int, value: Value) -> bool:
        gold = self.order(position).index(len(self.dialogs[position].writers) - 1)
        return PROTOCOL.passes(value, gold)

    def validate_everything_as_good(self) -> None:
        """Check once at each checkpoint, before the work, with all cards in the best area."""
        for position in filter(_is_checkpoint, range(len(self.dialogs))):
            self._check({"position": position, **PROTOCOL.sent_by([0] * len(self.order(position)))})

    def rating_rows(self, number: int, stint: Stint) -> list[tuple[Any, ...]]:
        hit = stint.opening.number
        values = {position: self._value(state) for position, state in self.states.items()}
        return [
            (number, stint.worker.worker_id, hit, 10 * hit + position, card, place,
             PROTOCOL.values_of_card(values[position], place)[OVERALL], state["active_ms"], state["hidden_ms"])
            for position, state in sorted(self.states.items())
            for place, card in enumerate(self.order(position))
        ]  # fmt: skip

    def submission_row(self, number: int, stint: Stint) -> tuple[Any, ...]:
        active = sum(stint.pace.active_ms) / 1000
        checkpoints = [self._checkpoint(position) for position in filter(_is_checkpoint, range(len(self.dialogs)))]
        return (
            number, stint.worker.worker_id, stint.opening.number, len(self.dialogs), active,
            min(active, stint.ends - stint.starts), len(checkpoints), *map(sum, zip(*checkpoints, strict=True)),
        )  # fmt: skip

    def _checkpoint(self, position: int) -> tuple[int, ...]:
        """Return what hits.frames.submissions_frame counts: point, first point, attempts, won by a check, moved after
        it.
        """
        final, checks = self._value(self.states[position]), self.checks.get(position, [])
        is_passed = self._passes(position, final)
        first = self._passes(position, checks[0]) if checks else is_passed
        won = [checked for checked in checks if self._passes(position, checked)]
        is_won = wins_point(DESIGN.checkpoints, is_passed, first)
        return is_won, first, len(checks), bool(won), bool(won) and PROTOCOL.is_redone(won[-1], final)


def _frames(ratings: list[tuple[Any, ...]], submissions: list[tuple[Any, ...]]) -> Frames:
    names = ["submission", "worker", "hit", "dialog", "card", "place", "value", "active_ms", "hidden_ms"]
    ordered = sorted(ratings, key=lambda row: (row[0], row[3], row[4]))  # by submission, dialog and card
    of_ratings: dict[str, Any] = dict(zip(names, zip(*ordered, strict=True), strict=True))
    of_ratings["value"] = [AREAS.index(value) for value in of_ratings["value"]]
    names = ["submission", "worker", "hit", "dialogs", "active_seconds", "work_seconds", "checkpoints"]
    of_submissions: dict[str, Any] = dict(zip([*names, *OF_CHECKPOINTS], zip(*submissions, strict=True), strict=True))
    workers = sorted(set(of_submissions["worker"]))
    for columns in (of_ratings, of_submissions):
        columns["worker"] = pd.Categorical(columns["worker"], categories=workers)
    return Frames(build_ratings(of_ratings, AREAS), build_submissions(of_submissions))
