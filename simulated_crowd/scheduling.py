"""Plan which simulated worker takes which HIT, when, and how it ends, from the seed alone.

In: the HITs on offer, who comes, and what they did before. Out: stints in the order of their beginning, in seconds from
the first one. Guaranteed: a HIT never has more workers than assignments, nobody sees the same dialogs twice, nobody
exceeds the study's limit; a HIT that is returned or abandoned is on offer again from then on.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain

from simulated_crowd.dice import lognormal, uniform
from simulated_crowd.people import SimulatedWorker
from simulated_crowd.working_times import Pace, pace_of

ARRIVAL_SECONDS = 1200  # the median time until a worker arrives


class Ending(StrEnum):
    SUBMITTED = "submitted"
    RETURNED = "returned"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class Opening:
    """A HIT with assignments that nobody holds."""

    crowd_hit_id: str
    hit_pk: int
    number: int
    block: int
    dialog_count: int
    free_count: int
    shared: frozenset[int] = frozenset()  # other blocks that show some of the same items


@dataclass(frozen=True)
class Limits:
    hits_per_worker: int
    seconds_per_hit: float


@dataclass
class Past:
    """How many HITs of this study a worker has taken so far, and of which blocks."""

    taken: int = 0
    blocks: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Stint:
    """One worker's work on one HIT. It `ends` when the worker submits or returns it, or the marketplace takes it
    back."""

    worker: SimulatedWorker
    opening: Opening
    pace: Pace
    starts: float
    ends: float
    ending: Ending
    dialog_count: int  # how many dialogs the worker works through


def plan_stints(
    openings: Sequence[Opening],
    workers: Sequence[SimulatedWorker],
    pasts: Mapping[str, Past],
    limits: Limits,
) -> Iterator[Stint]:
    offer = _Offer(openings)
    arrivals = [
        (lognormal(ARRIVAL_SECONDS, 0.8, *worker.key, "arrives", pasts[worker.worker_id].taken), index)
        for index, worker in enumerate(workers)
    ]
    heapq.heapify(arrivals)
    while arrivals:
        time, index = heapq.heappop(arrivals)
        worker, past = workers[index], pasts[workers[index].worker_id]
        if past.taken >= limits.hits_per_worker:
            continue
        offer.take_back(time)
        opening = offer.take(worker, past)
        if opening is None:
            if (next_time := offer.next_time_back) is not None:
                heapq.heappush(arrivals, (next_time, index))
            continue
        stint = _make_stint(worker, opening, time, limits)
        past.taken += 1
        past.blocks.add(opening.block)
        if stint.ending != Ending.SUBMITTED:
            offer.expect_back(stint.ends, opening)
        away_since = time + stint.pace.seconds(stint.dialog_count)
        pause = lognormal(worker.pause_seconds, 0.5, *worker.key, "pauses after", opening.number)
        heapq.heappush(arrivals, (away_since + pause, index))
        yield stint


def _make_stint(worker: SimulatedWorker, opening: Opening, time: float, limits: Limits) -> Stint:
    about = (*worker.key, opening.number)
    pace = pace_of(worker, opening.number, opening.dialog_count, limits.seconds_per_hit)
    luck, habits = uniform(*about, "ends"), worker.type
    if luck >= habits.return_chance + habits.abandon_chance:
        return Stint(worker, opening, pace, time, time + pace.seconds(), Ending.SUBMITTED, opening.dialog_count)
    dialog_count = int(uniform(*about, "gives up") * opening.dialog_count)
    if luck < habits.return_chance:
        return Stint(worker, opening, pace, time, time + pace.seconds(dialog_count), Ending.RETURNED, dialog_count)
    return Stint(worker, opening, pace, time, time + limits.seconds_per_hit, Ending.ABANDONED, dialog_count)


class _Offer:
    """The HITs that can be taken. No method gets slower with more HITs, except for workers who have met nearly all."""

    def __init__(self, openings: Sequence[Opening]) -> None:
        self._free = {opening: opening.free_count for opening in openings if opening.free_count}
        self._open: list[Opening] = list(self._free)
        self._back: list[tuple[float, int, Opening]] = []

    @property
    def next_time_back(self) -> float | None:
        return self._back[0][0] if self._back else None

    def take(self, worker: SimulatedWorker, past: Past) -> Opening | None:
        """Take any HIT whose dialogs the worker has not met."""
        if not self._open:
            return None
        start = int(uniform(*worker.key, "takes", past.taken) * len(self._open))
        for index in chain(range(start, len(self._open)), range(start)):
            opening = self._open[index]
            if opening.block not in past.blocks and past.blocks.isdisjoint(opening.shared):
                self._free[opening] -= 1
                if not self._free[opening]:
                    self._open[index] = self._open[-1]
                    self._open.pop()
                return opening
        return None

    def expect_back(self, time: float, opening: Opening) -> None:
        heapq.heappush(self._back, (time, opening.number, opening))

    def take_back(self, time: float) -> None:
        while self._back and self._back[0][0] <= time:
            opening = heapq.heappop(self._back)[2]
            if not self._free[opening]:
                self._open.append(opening)
            self._free[opening] += 1
