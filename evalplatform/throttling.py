"""Decide how long the next log-in must wait: beyond a few failures, waits double up to a few minutes.

In: who tries, in up to a few ways (an account, an address, a browser). Out: permission to try, or how long to wait.
Guaranteed: attempts are counted in the database before the password is checked, so that many at once, at several web
processes, can't get around the limit; nobody waits longer than a few minutes; while someone waits, nothing is hashed.

Not DRF's throttles: they count calls to API views in a cache, which many at once get around, and know neither failures
nor waits that grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db import transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from evalplatform.models import AttemptCount

FIRST_WAIT_SECONDS = 5
FORGOTTEN_AFTER = timedelta(hours=1)  # without another attempt


@dataclass(frozen=True)
class Limit:
    """A limit for an account, address or browser. The first `free` failures have no consequence; then waits double, up
    to `most_seconds`."""

    kind: str
    who: str
    free: int
    most_seconds: int

    @property
    def key(self) -> str:
        return salted_hmac(f"evalplatform.throttling.{self.kind}", self.who, algorithm="sha256").hexdigest()

    def wait_after(self, failures: int) -> timedelta:
        if failures < self.free:
            return timedelta()
        doublings = min(failures - self.free, 20)
        return timedelta(seconds=min(self.most_seconds, FIRST_WAIT_SECONDS * 2**doublings))


class TooManyAttempts(Exception):
    def __init__(self, wait: timedelta) -> None:
        self.seconds = max(1, ceil(wait.total_seconds()))
        super().__init__(f"Too many attempts. Please try again in {_describe_wait(self.seconds)}.")


def _describe_wait(seconds: int) -> str:
    if seconds >= 120:
        return f"{ceil(seconds / 60)} minutes"
    return "1 second" if seconds == 1 else f"{seconds} seconds"


@transaction.atomic
def begin_attempt(limits: Sequence[Limit], now: datetime) -> None:
    """Count an attempt as failed; `end_well` takes that back. Raise TooManyAttempts, without counting, if it is too
    early."""
    AttemptCount.objects.filter(last_at__lt=now - FORGOTTEN_AFTER).delete()
    by_key = {limit.key: limit for limit in limits}
    AttemptCount.objects.bulk_create((AttemptCount(key=key, last_at=now) for key in by_key), ignore_conflicts=True)
    # Lock rows in a fixed order, so that two attempts that share an account and an address can't deadlock.
    counts = list(AttemptCount.objects.select_for_update().filter(key__in=by_key).order_by("key"))
    wait = max(count.last_at + by_key[count.key].wait_after(count.failures) - now for count in counts)
    if wait > timedelta():
        raise TooManyAttempts(wait)
    AttemptCount.objects.filter(key__in=by_key).update(failures=F("failures") + 1, last_at=now)


def end_well(limits: Sequence[Limit]) -> None:
    """Take back this attempt, but no earlier ones: logging in to one's own account must not clear the address's
    count."""
    keys = [limit.key for limit in limits]
    AttemptCount.objects.filter(key__in=keys, failures__gt=0).update(failures=F("failures") - 1)
