"""Our own pace on top of botocore's retries: at most so many calls a second, over all threads of a client.

botocore's adaptive mode slows down after it was throttled; this keeps a batch from running into the wall at full speed
in the first place, where every thread of it would be refused at once.
"""

import threading
import time
from collections.abc import Callable


class Pacer:
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
        """Returns when it is this caller's turn: turns are handed out in order, one an interval."""
        with self._lock:
            now = self._monotonic()
            turn_at = max(now, self._next_at)
            self._next_at = turn_at + self._interval
        if turn_at > now:
            self._sleep(turn_at - now)
