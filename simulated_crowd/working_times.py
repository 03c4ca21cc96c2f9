"""Draw how long a simulated worker takes for each dialog, active and hidden, and cap it below the time limit."""

from dataclasses import dataclass

from simulated_crowd.dice import happens, lognormal
from simulated_crowd.people import SimulatedWorker

SPREAD = 0.4
SHARE_OF_LIMIT = 0.9  # a worker takes at most this share of the time limit, since nobody plans to be late


@dataclass(frozen=True)
class Pace:
    introduction_seconds: float
    active_ms: tuple[int, ...]  # by dialog
    hidden_ms: tuple[int, ...]

    def seconds(self, dialog_count: int | None = None) -> float:
        """Return the seconds until so many dialogs are done, or all of them."""
        return self.introduction_seconds + sum(self.active_ms[:dialog_count] + self.hidden_ms[:dialog_count]) / 1000


def pace_of(worker: SimulatedWorker, hit_number: int, dialog_count: int, limit_seconds: float) -> Pace:
    habits = worker.type
    median = habits.minutes * 60 / dialog_count * worker.slowness
    seconds = [habits.introduction_seconds * worker.slowness]
    hidden = [0.0]
    for position in range(dialog_count):
        about = (*worker.key, hit_number, position)
        seconds.append(lognormal(median, SPREAD, *about, "active"))
        looks_away = happens(habits.hidden_chance, *about, "looks away")
        hidden.append(lognormal(8, 0.8, *about, "hidden") if looks_away else 0.0)
    longest = min(habits.longest_minutes * 60, limit_seconds * SHARE_OF_LIMIT)
    factor = min(1, longest / (sum(seconds) + sum(hidden)))
    active_ms, hidden_ms = (tuple(int(factor * 1000 * one) for one in some[1:]) for some in (seconds, hidden))
    return Pace(factor * seconds[0], active_ms, hidden_ms)
