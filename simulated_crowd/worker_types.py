"""List the types of simulated workers with their usual shares: care, pace, and what each does for a bonus."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalplatform.errors import EvalPlatformError


@dataclass(frozen=True)
class WorkerType:
    """`minutes` is the median time for a HIT. `attention` is the share of cards that are judged; the others get a
    random level."""

    name: str
    attention: float
    minutes: float
    introduction_seconds: float
    longest_minutes: float = 60
    has_favourite_level: bool = False  # gives every card the same level
    check_chance: float = 1  # the chance of asking for the bonus point at all
    retry_chance: float = 0  # the chance of thinking again if the point was not won
    is_hunting: bool = False  # tries for the point until it is won
    hidden_chance: float = 0.05  # the chance of looking at another window during a dialog
    return_chance: float = 0.02
    abandon_chance: float = 0.01


CAREFUL = WorkerType("careful", attention=1, minutes=11, introduction_seconds=40, retry_chance=0.4)
HASTY = WorkerType("hasty", attention=0.5, minutes=2.5, introduction_seconds=6, longest_minutes=4.5, check_chance=0.9)
RANDOM = WorkerType("random", attention=0, minutes=4, introduction_seconds=8, check_chance=0.7, hidden_chance=0.15)
SAME_ANSWER = WorkerType(
    "same-answer", attention=0, minutes=3, introduction_seconds=6, has_favourite_level=True, check_chance=0.7
)
BONUS_HUNTING = WorkerType("bonus-hunting", attention=0.25, minutes=5, introduction_seconds=10, is_hunting=True)

WORKER_TYPES = {one.name: one for one in (CAREFUL, HASTY, RANDOM, SAME_ANSWER, BONUS_HUNTING)}
USUAL_SHARES = {CAREFUL: 0.86, HASTY: 0.04, RANDOM: 0.03, SAME_ANSWER: 0.03, BONUS_HUNTING: 0.04}


def parse_shares(text: str) -> Mapping[WorkerType, float]:
    """Read shares such as "hasty=0.1,random=0.05". They must add up to 1; without a share of their own, careful workers
    are the rest."""
    shares: dict[WorkerType, float] = {}
    for part in text.split(","):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in WORKER_TYPES:
            raise EvalPlatformError(f"{name!r} is not a type of worker. Types: {', '.join(WORKER_TYPES)}.")
        try:
            shares[WORKER_TYPES[name]] = float(value)
        except ValueError:
            raise EvalPlatformError(f"The share of {name} workers must be a number like 0.05, not {value!r}.") from None
    shares.setdefault(CAREFUL, 1 - sum(shares.values()))
    return checked_shares(shares)


def checked_shares(shares: Mapping[WorkerType, float]) -> Mapping[WorkerType, float]:
    total = sum(shares.values())
    if not all(share >= -1e-9 for share in shares.values()) or not abs(total - 1) < 1e-6:
        parts = ", ".join(f"{one.name} {share:g}" for one, share in shares.items())
        raise EvalPlatformError(f"The shares of the types of workers must add up to 1, with none below 0: {parts}.")
    return shares
