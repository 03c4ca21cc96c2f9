"""Requests to a server over HTTP: paced, tried again over stumbles, and given up in time."""

import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import urllib3

from generation.generators.base import GeneratorUnavailable

MOST_SECONDS_BETWEEN = 60
MOST_AT_ONCE = 64
MOST_TIME_OUTS = 2  # of one question: what timed out may have been answered, and paid for, all the same


class ChatRequests:
    def __init__(
        self, url: str, timeout_seconds: float, attempts: int, per_minute: float, first_wait_seconds: float
    ) -> None:
        self.url = url.rstrip("/")
        self._attempts, self._first_wait = attempts, first_wait_seconds
        self._pace = _Pace(per_minute)
        self._http = urllib3.PoolManager(retries=False, timeout=timeout_seconds, maxsize=MOST_AT_ONCE)

    def post(
        self,
        body: dict[str, Any],
        headers: dict[str, str],
        is_worth_another_try: Callable[[int, Any], bool],
        stop: threading.Event,
    ) -> tuple[int, Any]:
        """The status and the JSON of the answer. GeneratorUnavailable if there is none; `stop` ends waits and tries."""
        time_outs = 0
        address = f"{self.url}/chat/completions"
        for attempt in range(1, self._attempts + 1):
            self._pace.wait(stop)
            if stop.is_set():
                raise GeneratorUnavailable(f"{self.url} was not asked any more.")
            try:
                response = self._http.request("POST", address, headers=headers, json=body, redirect=False)
            except urllib3.exceptions.HTTPError as error:
                failed, after = error, None
                time_outs += isinstance(error, urllib3.exceptions.ReadTimeoutError)
            else:
                found = response.status, _json_in(response)
                if not is_worth_another_try(*found):
                    return found
                failed, after = None, _retry_after(response)
            is_last = attempt == self._attempts or time_outs >= MOST_TIME_OUTS
            if is_last or stop.wait(self._wait_seconds(attempt, after)):
                break
        if failed is not None:
            raise GeneratorUnavailable(f"{self.url} does not answer: {type(failed).__name__}") from failed
        return found

    def _wait_seconds(self, attempt: int, after: float | None) -> float:
        """As long as the server says, or twice as long each time, and not the same for all that wait."""
        doubled = self._first_wait * 2 ** (attempt - 1) + random.uniform(0, self._first_wait)  # noqa: S311
        return min(MOST_SECONDS_BETWEEN, doubled if after is None else after)


class _Pace:
    """At most so many requests a minute, however many threads ask; asking again is asking."""

    def __init__(self, per_minute: float) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = time.monotonic()
        self._lock = threading.Lock()

    def wait(self, stop: threading.Event) -> None:
        with self._lock:
            mine = max(self._next, time.monotonic())
            self._next = mine + self._gap
        stop.wait(max(0.0, mine - time.monotonic()))


def _json_in(response: urllib3.BaseHTTPResponse) -> Any:
    try:
        return json.loads(response.data)
    except (ValueError, RecursionError):
        return None


def _retry_after(response: urllib3.BaseHTTPResponse) -> float | None:
    try:
        return urllib3.Retry().get_retry_after(response)
    except urllib3.exceptions.InvalidHeader:
        return None
