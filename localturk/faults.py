"""Faults on request: what a client must survive, made repeatable.

throttle            more than `amount` calls a second are answered with ThrottlingException (a bucket of one second)
latency             every call takes `amount` milliseconds, if it would not take longer anyway
fail-before         ServiceFault, and nothing was done
drop-after          it was done, but the connection closes without an answer
insufficient-funds  every operation that needs money is refused for want of it
list-lag            lists leave out what is younger than `amount` seconds
offset-pages        pages of at most `amount` rows, by how many came before: when rows come or go between two pages,
                    some are listed twice and others not at all

Each may be limited to operations, to a probability (drawn from its seed) and to a number of times. Those of `add_fault`
are rows, and strike in every process that serves this database; those of `add_process_fault` strike in this one only.
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
    """`limits`: operation (several separated by commas), probability, seed, times_left."""
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
    """What the lists of a call leave out or shift."""

    none_after: datetime | None = None
    offset_page_size: int = 0


NO_LIES = Lies()
_lies: ContextVar[Lies] = ContextVar("lies", default=NO_LIES)


@contextmanager
def lying(struck: Iterable[Fault], now: datetime) -> Iterator[None]:
    """For the one call that it was struck for."""
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
    """Those that strike this call."""
    with _lock:
        own = _striking(_process_faults, operation)
    return [*own, *_strike_shared(operation)]


def _strike_shared(operation: str) -> list[Fault]:
    if not Fault.objects.exists():
        return []
    with transaction.atomic():
        faults = list(Fault.objects.select_for_update().order_by("pk"))
        striking = _striking(faults, operation)
        for fault in faults:
            fault.save()
    return striking


def _striking(faults: Iterable[Fault], operation: str) -> list[Fault]:
    return [fault for fault in faults if _concerns(fault, operation) and _strikes(fault)]


def _concerns(fault: Fault, operation: str) -> bool:
    if fault.times_left == 0:
        return False
    if fault.kind == Kind.INSUFFICIENT_FUNDS and operation not in NEED_MONEY:
        return False
    return not fault.operation or operation in fault.operation.split(",")


def _strikes(fault: Fault) -> bool:
    fault.call_count += 1
    # A draw of its own for each call: the same seed gives the same faults, whatever was restarted in between.
    draw = random.Random(f"{fault.seed} {fault.call_count}").random()  # noqa: S311
    if draw >= fault.probability or (fault.kind == Kind.THROTTLE and not _bucket_is_empty(fault)):
        return False
    if fault.times_left is not None:
        fault.times_left -= 1
    return True


def _bucket_is_empty(fault: Fault) -> bool:
    """Takes one call out of the bucket, if there is one. Real time, whatever the marketplace's clock says."""
    now, most = time.time(), max(1.0, fault.amount)
    since = now - (fault.bucket_filled_at or now)
    level = most if fault.bucket_level is None else min(most, fault.bucket_level + since * fault.amount)
    fault.bucket_filled_at = now
    fault.bucket_level = level - 1 if level >= 1 else level
    return level < 1
