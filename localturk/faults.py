"""Make the marketplace behave badly on request, and repeatably, to test what a client must survive.

throttle            above `amount` calls a second, the answer is ThrottlingException (a bucket of one second)
latency             every call takes `amount` milliseconds, if it would not take longer anyway
fail-before         the answer is ServiceFault, and nothing was done
fail-after          the answer is ServiceFault, although the operation was done
drop-after          the operation was done, but the connection closes without an answer
insufficient-funds  every operation that needs money is refused because there is none
list-lag            lists leave out what is younger than `amount` seconds
offset-pages        lists have pages of at most `amount` rows, counted from the first row: if rows come or go between
                    two pages, some rows are listed twice and others not at all

A fault may be limited to operations, to a probability (drawn from its seed) and to a number of times. `add_fault`
stores a row, and the fault strikes in every process that serves this database; one of `add_process_fault` strikes only
here.
"""

import random
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from localturk.models import Fault

NEED_MONEY = {
    "CreateHIT",
    "CreateHITWithHITType",
    "CreateAdditionalAssignmentsForHIT",
    "ApproveAssignment",
    "SendBonus",
}

Kind = Fault.Kind
_process_faults: list[Fault] = []
_lock = threading.Lock()


def add_fault(kind: str, amount: float = 0, **limits: Any) -> Fault:
    """Add a fault for all processes. `limits` are operation (several separated by commas), probability, seed and
    times_left."""
    return Fault.objects.create(kind=kind, amount=amount, **limits)


def add_process_fault(kind: str, amount: float = 0, **limits: Any) -> None:
    _process_faults.append(Fault(kind=kind, amount=amount, **limits))


def clear_faults() -> None:
    Fault.objects.all().delete()
    clear_process_faults()


def clear_process_faults() -> None:
    _process_faults.clear()


@dataclass(frozen=True)
class Lies:
    """What the lists of one call leave out, and the size of pages that shift."""

    none_after: datetime | None = None
    offset_page_size: int = 0


NO_LIES = Lies()
_lies: ContextVar[Lies] = ContextVar("lies", default=NO_LIES)


@contextmanager
def lying(struck: Iterable[Fault], now: datetime) -> Iterator[None]:
    """Let lists lie, during one call, as the faults that strike it say."""
    amounts = {fault.kind: fault.amount for fault in struck}
    lag = amounts.get(Kind.LIST_LAG)
    none_after = None if lag is None else now - timedelta(seconds=lag)
    token = _lies.set(Lies(none_after, int(amounts.get(Kind.OFFSET_PAGES, 0))))
    try:
        yield
    finally:
        _lies.reset(token)


def lies() -> Lies:
    return _lies.get()


def strike(operation: str) -> list[Fault]:
    """Return the faults that strike this call."""
    with _lock:
        own = _select_striking(_process_faults, operation)
    return [*own, *_strike_shared(operation)]


def _strike_shared(operation: str) -> list[Fault]:
    if not Fault.objects.exists():
        return []
    with transaction.atomic():
        faults = list(Fault.objects.select_for_update().order_by("pk"))
        striking = _select_striking(faults, operation)
        for fault in faults:
            fault.save()
    return striking


def _select_striking(faults: Iterable[Fault], operation: str) -> list[Fault]:
    return [fault for fault in faults if _concerns(fault, operation) and _strikes(fault)]


def _concerns(fault: Fault, operation: str) -> bool:
    if fault.times_left == 0:
        return False
    if fault.kind == Kind.INSUFFICIENT_FUNDS and operation not in NEED_MONEY:
        return False
    return not fault.operation or operation in fault.operation.split(",")


def _strikes(fault: Fault) -> bool:
    fault.call_count += 1
    # Each call has its own draw, so that the same seed gives the same faults even if a process is restarted.
    draw = random.Random(f"{fault.seed} {fault.call_count}").random()  # noqa: S311
    if draw >= fault.probability or (fault.kind == Kind.THROTTLE and not _find_bucket_empty(fault)):
        return False
    if fault.times_left is not None:
        fault.times_left -= 1
    return True


def _find_bucket_empty(fault: Fault) -> bool:
    """Take one call out of the bucket, if one is left, and return whether none was. The bucket fills by real time,
    whatever the marketplace's clock says."""
    now, most = time.time(), max(1.0, fault.amount)
    since = now - (fault.bucket_filled_at or now)
    level = most if fault.bucket_level is None else min(most, fault.bucket_level + since * fault.amount)
    fault.bucket_filled_at = now
    fault.bucket_level = level - 1 if level >= 1 else level
    return level < 1
