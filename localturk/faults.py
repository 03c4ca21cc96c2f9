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

`add_fault` stores a row, and the fault strikes in every process that serves this database; one of `add_process_fault`
strikes only here.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta

from evalplatform.emulators import Faults
from localturk.models import Fault

Kind = Fault.Kind
_faults = Faults(Fault)
add_fault, add_process_fault = _faults.add, _faults.add_own
clear_faults, clear_process_faults = _faults.clear, _faults.clear_own
strike = _faults.strike


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
