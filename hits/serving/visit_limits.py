"""Limits how many pages and bonus checks strangers may request, by address and by HIT.

Anyone who knows a HIT's address can invent assignments and workers. If a crowd confirms who holds what, such visits are
refused. If it can't (MTurk), they are opened, but they fill no place, count towards nobody's cap, and meet the limits
below.
"""

import time
from collections import Counter
from collections.abc import Hashable
from datetime import datetime, timedelta
from threading import Lock

from django.utils.crypto import salted_hmac

from evalplatform.client_address import is_this_machine
from hits.models import Assignment, Offering
from hits.serving.frozen import FrozenHit
from hits.serving.statements import (
    count_attempts_of_worker,
    count_checks_from,
    count_places_from,
    count_unconfirmed_checks,
    count_visits_from,
)
from hits.serving.work_refusals import Refusal, WorkRefused, unchecked_words

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
THIS_MACHINE = "this machine"

# Limits for what no marketplace has confirmed. A class of students behind one address stays below; a script does not.
MOST_VISITS_AN_HOUR = 120
MOST_CHECKS_AN_HOUR = 240
# Places that one address may take in an offering by open links. A class that begins at once stays below, and so do the
# people behind a campus network who come one after the other.
MOST_PLACES_AN_HOUR = 60
MOST_PLACES_A_DAY = 120
VISITS_OF_A_HIT_BEYOND_ITS_ASSIGNMENTS = 10
# Per checkpoint and assignment, in a day: several times what a worker needs to find the human reply by trial and error.
CHECKS_PER_CHECKPOINT = 10


class MinuteCounter:
    """Count calls per minute, in each process. Nothing is stored, and a restart begins at zero.

    Not DRF's SimpleRateThrottle: it reads a caller's times from Django's cache and writes them back, so calls in other
    threads in between are not counted, and each call reads and writes as many times as the limit allows. Django's cache
    in memory also holds 300 entries and drops those that were used longest ago, so that whoever invents assignments
    would push other callers' counts out of it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._minute = 0
        self._counts: Counter[Hashable] = Counter()
        self._lock = Lock()

    def allows(self, who: Hashable) -> bool:
        """Count one call by `who`, and return whether it is within the limit."""
        minute = int(time.monotonic() // 60)
        with self._lock:
            if minute != self._minute:
                self._minute = minute
                self._counts.clear()
            self._counts[who] += 1
            return self._counts[who] <= self._most


visits_from_address = MinuteCounter(most=300)


def visitor_key(address: str) -> str:
    """Return what we store of an address while a visit is unconfirmed. Nobody can read it without the server's
    secret."""
    if is_this_machine(address):
        return THIS_MACHINE
    return salted_hmac("hits.serving.address", address, algorithm="sha256").hexdigest()[:16] if address else ""


def check_visit(address: str) -> None:
    """Raise if this address opens pages by the hundreds. Called before any query is made."""
    if address and not is_this_machine(address) and not visits_from_address.allows(address):
        raise WorkRefused(Refusal.TOO_MANY_VISITS)


def check_unconfirmed_visit(hit: FrozenHit, address: str, now: datetime) -> None:
    """Raise if there are too many visits from this address, or from it to this HIT.

    There is no limit by HIT alone: strangers could use it up, and shut out workers to whom the marketplace gave the
    HIT.
    """
    if is_this_machine(address):
        return
    of_all, of_hit = count_visits_from(visitor_key(address), hit.pk, now - HOUR)
    if of_all >= MOST_VISITS_AN_HOUR or of_hit >= hit.assignments + VISITS_OF_A_HIT_BEYOND_ITS_ASSIGNMENTS:
        raise WorkRefused(Refusal.TOO_MANY_VISITS)


def check_places_from(offering: Offering, address: str, now: datetime) -> None:
    """Raise if this address has taken as many places as one may, by people whom no crowd confirms. Those that are still
    in hand always count. Called under the study's lock."""
    of_hour, of_day = count_places_from(offering, visitor_key(address), now - HOUR, now - DAY)
    if of_hour >= MOST_PLACES_AN_HOUR or of_day >= MOST_PLACES_A_DAY:
        raise WorkRefused(Refusal.NETWORK_FULL)


def check_unconfirmed_check(hit: FrozenHit, assignment: Assignment, item_pk: int, now: datetime) -> None:
    """Raise if there are too many checks by unconfirmed assignments, since each tells something about where the human
    reply is.

    Somebody who holds the assignment may check as often as the study says. Those who may have invented it get together
    no more checks than all real workers of the HIT would need, and one address gets no more than one worker's share.
    """
    if assignment.confirmed_at is not None:
        return
    limit = hit.study.design.checkpoints.max_attempts
    # MTurk gives a worker one assignment per HIT, so other ids bring the same worker no further attempts.
    if limit and count_attempts_of_worker(assignment, item_pk) >= limit:
        raise WorkRefused(Refusal.NO_ATTEMPTS_LEFT)
    refused = WorkRefused(Refusal.TOO_MANY_CHECKS, unchecked_words(hit.study.protocol.what_counts()))
    checkpoints = [item.pk for item in hit.items if item.gold_card is not None]
    most = CHECKS_PER_CHECKPOINT * len(checkpoints) * hit.assignments
    if count_unconfirmed_checks(checkpoints, now - DAY, most) >= most:
        raise refused
    if assignment.visited_from == THIS_MACHINE:
        return
    if count_checks_from(assignment.visited_from, now - HOUR) >= MOST_CHECKS_AN_HOUR:
        raise refused
    # One address gets one worker's share of the HIT's checks, so that it can't use up everyone's.
    share = CHECKS_PER_CHECKPOINT * len(checkpoints)
    if count_unconfirmed_checks(checkpoints, now - DAY, share, assignment.visited_from) >= share:
        raise refused
