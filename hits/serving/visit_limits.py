"""How much strangers may ask: calls and visits by assignment and address, and what nobody has confirmed.

Anyone who knows a HIT's address can invent assignments and workers. Where a crowd confirms who holds what, such visits
are refused; where it can't (MTurk), they are opened, fill nothing and cap nobody, and meet the limits below.
"""

import time
from collections import Counter
from collections.abc import Hashable
from datetime import datetime, timedelta
from threading import Lock

from django.utils.crypto import salted_hmac

from evalplatform.client_address import is_this_machine
from hits.models import Assignment
from hits.serving.frozen import FrozenHit
from hits.serving.statements import (
    count_attempts_of_worker,
    count_checks_from,
    count_unconfirmed_checks,
    count_visits_from,
)
from hits.serving.work_refusals import Refusal, WorkRefused

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
THIS_MACHINE = "this machine"

# Of what no marketplace has confirmed. A class of students behind one address stays below; a script does not.
MOST_VISITS_AN_HOUR = 120
MOST_CHECKS_AN_HOUR = 240
VISITS_OF_A_HIT_BEYOND_ITS_ASSIGNMENTS = 10
# Of each checkpoint and assignment, in a day: several times what workers need who look for the human reply by trial.
CHECKS_PER_CHECKPOINT = 10


class MinuteCounter:
    """Count calls by minutes, in each process. Nothing is stored, and a restart forgives.

    Not DRF's SimpleRateThrottle: it reads a caller's times from Django's cache and writes them back, so calls in other
    threads in between are not counted, and each call costs more the higher the limit is. A cache in memory also drops
    entries at random beyond a few hundred, so whoever invents assignments would make it forget their address.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._minute = 0
        self._counts: Counter[Hashable] = Counter()
        self._lock = Lock()

    def allows(self, who: Hashable) -> bool:
        minute = int(time.monotonic() // 60)
        with self._lock:
            if minute != self._minute:
                self._minute = minute
                self._counts.clear()
            self._counts[who] += 1
            return self._counts[who] <= self._most


visits_from_address = MinuteCounter(most=300)


def visitor_key(address: str) -> str:
    """What is stored of an address: as long as a visit is not confirmed, and unreadable without the server's key."""
    if is_this_machine(address):
        return THIS_MACHINE
    return salted_hmac("hits.serving.address", address, algorithm="sha256").hexdigest()[:16] if address else ""


def check_visit(address: str) -> None:
    """That this address does not open pages by the hundreds. Before anything is asked for, here or elsewhere."""
    if address and not is_this_machine(address) and not visits_from_address.allows(address):
        raise WorkRefused(Refusal.TOO_MANY_VISITS)


def check_unconfirmed_visit(hit: FrozenHit, address: str, now: datetime) -> None:
    """By address, and by address and HIT. Not by HIT alone: a limit that strangers can use up would shut out those
    whom the marketplace gave the HIT to."""
    if is_this_machine(address):
        return
    of_all, of_hit = count_visits_from(visitor_key(address), hit.pk, now - HOUR)
    if of_all >= MOST_VISITS_AN_HOUR or of_hit >= hit.assignments + VISITS_OF_A_HIT_BEYOND_ITS_ASSIGNMENTS:
        raise WorkRefused(Refusal.TOO_MANY_VISITS)


def check_unconfirmed_check(hit: FrozenHit, assignment: Assignment, item_pk: int, now: datetime) -> None:
    """A Bonus Validate tells where the human reply is. Who holds the assignment may ask as the study says; who may have
    invented it, no more than all real workers of the HIT would, and from one address no more than some do."""
    if assignment.confirmed_at is not None:
        return
    limit = hit.study.design.checkpoints.max_attempts
    # MTurk gives a worker one assignment of a HIT: under other ids the same worker has no further attempts.
    if limit and count_attempts_of_worker(assignment, item_pk) >= limit:
        raise WorkRefused(Refusal.NO_ATTEMPTS_LEFT)
    checkpoints = [item.pk for item in hit.items if item.gold_card is not None]
    most = CHECKS_PER_CHECKPOINT * len(checkpoints) * hit.assignments
    if count_unconfirmed_checks(checkpoints, now - DAY, most) >= most:
        raise WorkRefused(Refusal.TOO_MANY_CHECKS)
    if assignment.visited_from == THIS_MACHINE:
        return
    if count_checks_from(assignment.visited_from, now - HOUR) >= MOST_CHECKS_AN_HOUR:
        raise WorkRefused(Refusal.TOO_MANY_CHECKS)
    # One address has one worker's share of the HIT, so that it can't use up everyone's.
    share = CHECKS_PER_CHECKPOINT * len(checkpoints)
    if count_unconfirmed_checks(checkpoints, now - DAY, share, assignment.visited_from) >= share:
        raise WorkRefused(Refusal.TOO_MANY_CHECKS)
