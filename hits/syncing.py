"""The round that is made every few minutes: collect what the marketplace confirms, pay it, cap who has done enough."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from hits.collecting import Collected, collect
from hits.limiting import Limited, limit_workers
from hits.models import Study
from hits.mturk.client import Market
from hits.paying import Paid, pay

OnProgress = Callable[[str, int, int], None]


@dataclass
class Synced:
    collected: Collected
    paid: Paid
    limited: Limited


def sync(
    study: Study,
    environment: str,
    market: Market,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda stage, done, total: None,
) -> Synced:
    """Can be run at any time, again, and twice at once. `on_progress` hears the stage, and how far it is."""
    collected = collect(study, environment, market, now(), lambda done, total: on_progress("Collecting", done, total))
    limited = limit_workers(study, environment, market, now())
    paid = pay(study, environment, market, now, lambda done, total: on_progress("Paying", done, total))
    return Synced(collected, paid, limited)
