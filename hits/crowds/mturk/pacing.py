"""Limits how many calls a second all threads of a client make, in addition to botocore's retries.

botocore's adaptive mode slows down only after it was throttled. This keeps a batch from starting at full speed, when
every one of its threads would be refused at once.
"""

import threading
import time
from collections.abc import Callable


class Pacer:
    """Hands out time slots to callers in order, one per interval."""

    def __init__(
        self,
        calls_per_second: float,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = 1 / calls_per_second
        self._monotonic = monotonic
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next_at = 0.0

    def wait(self) -> None:
        """Return when this caller's slot has come."""
        with self._lock:
            now = self._monotonic()
            slot_at = max(now, self._next_at)
            self._next_at = slot_at + self._interval
        if slot_at > now:
            self._sleep(slot_at - now)
