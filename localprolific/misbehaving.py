"""Make the local Prolific behave badly on request, and repeatably, to test what a client must survive.

throttle            the answer is 429, and nothing was done
fail-before         the answer is 500, and nothing was done
fail-after          the answer is 500, although the call acted
drop-after          the call acted, but the connection closes without an answer
bonus-lag           bonuses that are paid now become visible only `amount` seconds after they were paid
list-lag            lists leave out what is younger than `amount` seconds
rows-between-pages  somebody begins to work on the study before each page but the first, so that pages shift
double-delivery     webhooks are delivered twice (operation deliver_event)
late-delivery       webhooks set out `amount` seconds late, and so after others (operation tell_of_event)

A fault may be limited to operations (names of localprolific/endpoints), to a probability (drawn from its seed) and to a
number of times. `add_fault` stores a row, and the fault strikes in every process that serves this database; one of
`add_process_fault` strikes only here.
"""

import random
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import transaction

from localprolific.models import PanelFault

Kind = PanelFault.Kind
_process_faults: list[PanelFault] = []
_lock = threading.Lock()
_amounts: ContextVar[dict[str, float]] = ContextVar("localprolific_amounts", default={})  # noqa: B039  # never changed


def add_fault(kind: str, amount: float = 0, **limits: Any) -> PanelFault:
    """Add a fault for all processes. `limits` are operation (several separated by commas), probability, seed and
    times_left."""
    return PanelFault.objects.create(kind=kind, amount=amount, **limits)


def add_process_fault(kind: str, amount: float = 0, **limits: Any) -> None:
    _process_faults.append(PanelFault(kind=kind, amount=amount, **limits))


def clear_faults() -> None:
    PanelFault.objects.all().delete()
    clear_process_faults()


def clear_process_faults() -> None:
    _process_faults.clear()


def strike(operation: str) -> dict[str, float]:
    """Return the kinds of the faults that strike this call, with their amounts."""
    with _lock:
        own = _select_striking(_process_faults, operation)
    return {fault.kind: fault.amount for fault in (*own, *_strike_shared(operation))}


@contextmanager
def struck_by(amounts: dict[str, float]) -> Iterator[None]:
    """Let deeper code ask, during one call, which faults strike it."""
    token = _amounts.set(amounts)
    try:
        yield
    finally:
        _amounts.reset(token)


def amount_of(kind: str) -> float | None:
    """Return the amount of a fault that strikes this call, or None."""
    return _amounts.get().get(kind)


def _strike_shared(operation: str) -> list[PanelFault]:
    if not PanelFault.objects.exists():
        return []
    with transaction.atomic():
        faults = list(PanelFault.objects.select_for_update().order_by("pk"))
        striking = _select_striking(faults, operation)
        for fault in faults:
            fault.save()
    return striking


def _select_striking(faults: Iterable[PanelFault], operation: str) -> list[PanelFault]:
    return [fault for fault in faults if _concerns(fault, operation) and _strikes(fault)]


def _concerns(fault: PanelFault, operation: str) -> bool:
    if fault.times_left == 0:
        return False
    return not fault.operation or operation in fault.operation.split(",")


def _strikes(fault: PanelFault) -> bool:
    fault.call_count += 1
    # Each call has its own draw, so that the same seed gives the same faults even if a process is restarted.
    draw = random.Random(f"{fault.seed} {fault.call_count}").random()  # noqa: S311
    if draw >= fault.probability:
        return False
    if fault.times_left is not None:
        fault.times_left -= 1
    return True
