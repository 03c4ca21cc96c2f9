"""Make up the workers of a crowd: type, country, history, pace and pauses follow from a number and the crowd's seed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from localturk.seeding import SIMULATED
from simulated_crowd.dice import lognormal, uniform
from simulated_crowd.truths import Truth
from simulated_crowd.worker_types import USUAL_SHARES, WorkerType, checked_shares

GOLDEN_RATIO = 0.6180339887498949
HOMES = [("US", 0.62), ("GB", 0.14), ("CA", 0.12), ("AU", 0.08), ("NZ", 0.04)]
# One worker in so many fails most studies' requirements: lives elsewhere, has done too little, or was often rejected.
EVERY = 12


@dataclass(frozen=True)
class Home:
    """What the marketplace knows about a worker. It does not depend on the seed, because accounts outlive a
    simulation."""

    country: str
    approved_count: int
    rejected_count: int


@dataclass(frozen=True)
class SimulatedWorker:
    number: int
    type: WorkerType
    seed: int

    @property
    def worker_id(self) -> str:
        return f"{SIMULATED}{self.number:06}"

    @property
    def key(self) -> tuple[object, ...]:
        return self.seed, self.worker_id

    @cached_property
    def slowness(self) -> float:
        """Return a factor for all times of this worker."""
        return lognormal(1, 0.25, *self.key, "slowness")

    @cached_property
    def pause_seconds(self) -> float:
        """Return the pause between two HITs. It differs so much between workers that few do most of the work."""
        return lognormal(240, 1.2, *self.key, "pause")

    @property
    def home(self) -> Home:
        approved = round(lognormal(1500, 1, "approved", self.worker_id)) + 150
        rejected = round(approved * 0.03 * uniform("rejected", self.worker_id))
        odd, which = divmod(self.number + 1, EVERY)
        if which == 0:
            return [Home("DE", approved, rejected), Home("US", 40, 0), Home("US", approved, approved // 5)][odd % 3]
        return Home(_choose_country(uniform("country", self.worker_id)), approved, rejected)


@dataclass(frozen=True)
class Crowd:
    """A crowd whose truth is known: `type_of` says which workers screening should find."""

    size: int
    truth: Truth = field(default_factory=Truth)
    shares: Mapping[WorkerType, float] = field(default_factory=lambda: USUAL_SHARES)
    seed: int = 1

    def __post_init__(self) -> None:
        checked_shares(self.shares)

    @cached_property
    def workers(self) -> list[SimulatedWorker]:
        return [SimulatedWorker(number, self._choose_type(number), self.seed) for number in range(self.size)]

    def type_of(self, worker_id: str) -> WorkerType:
        return self._by_id[worker_id]

    @cached_property
    def _by_id(self) -> dict[str, WorkerType]:
        return {worker.worker_id: worker.type for worker in self.workers}

    def _choose_type(self, number: int) -> WorkerType:
        """Return the type of a worker. Multiples of the golden ratio lie evenly on a circle, however many there are, so
        the shares hold in small crowds, too."""
        place = (uniform(self.seed, "types") + number * GOLDEN_RATIO) % 1
        for worker_type, share in self.shares.items():
            if place < share:
                return worker_type
            place -= share
        return next(iter(self.shares))


def _choose_country(place: float) -> str:
    for country, share in HOMES:
        if place < share:
            return country
        place -= share
    return HOMES[0][0]
