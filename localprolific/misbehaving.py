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

Operations are names of localprolific/endpoints. `add_fault` stores a row, and the fault strikes in every process that
serves this database; one of `add_process_fault` strikes only here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from evalplatform.emulators import Faults
from localprolific.models import PanelFault

Kind = PanelFault.Kind
_faults = Faults(PanelFault)
_amounts: ContextVar[dict[str, float]] = ContextVar("localprolific_amounts", default={})  # noqa: B039  # never changed
add_fault, add_process_fault = _faults.add, _faults.add_own
clear_faults, clear_process_faults = _faults.clear, _faults.clear_own


def strike(operation: str) -> dict[str, float]:
    """Return the kinds of the faults that strike this call, with their amounts."""
    return {fault.kind: fault.amount for fault in _faults.strike(operation)}


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
