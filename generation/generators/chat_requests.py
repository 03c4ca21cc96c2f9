"""HTTP requests to a server: paced, tried again after passing errors, and given up in time."""

import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import urllib3

from generation.corpora.import_records import storable
from generation.errors import GeneratorUnavailable

MOST_SECONDS_BETWEEN = 60
MOST_AT_ONCE = 64
MOST_ANSWER_BYTES = 10_000_000
PART_BYTES = 65_536
MOST_TIME_OUTS = 2  # of one question: what timed out may have been answered, and paid for, all the same


class AnswerTooSlow(urllib3.exceptions.HTTPError):
    """The answer arrived in drops."""


class AnswerTooLong(urllib3.exceptions.HTTPError):
    """The answer did not end."""


class ChatRequests:
    def __init__(
        self, url: str, timeout_seconds: float, attempts: int, per_minute: float, first_wait_seconds: float
    ) -> None:
        self.url = url.rstrip("/")
        self._timeout, self._attempts, self._first_wait = timeout_seconds, attempts, first_wait_seconds
        self._pace = _Pace(per_minute)
        self._http = urllib3.PoolManager(retries=False, timeout=timeout_seconds, maxsize=MOST_AT_ONCE)

    def post(
        self,
        body: dict[str, Any],
        headers: dict[str, str],
        is_worth_another_try: Callable[[int, Any], bool],
        stop: threading.Event,
    ) -> tuple[int, Any]:
        """Return the status and JSON of the answer, or raise GeneratorUnavailable. `stop` ends waiting and trying."""
        time_outs = 0
        address = f"{self.url}/chat/completions"
        for attempt in range(1, self._attempts + 1):
            self._pace.wait(stop)
            if stop.is_set():
                raise GeneratorUnavailable(f"{self.url} was not asked any more.")
            try:
                found, after = self._ask_once(address, body, headers)
            except urllib3.exceptions.HTTPError as error:
                failed: urllib3.exceptions.HTTPError | None = error
                after = None
                time_outs += isinstance(error, urllib3.exceptions.ReadTimeoutError | AnswerTooSlow)
            else:
                if not is_worth_another_try(*found):
                    return found
                failed = None
            is_last = attempt == self._attempts or time_outs >= MOST_TIME_OUTS
            if is_last or stop.wait(self._wait_seconds(attempt, after)):
                break
        if failed is not None:
            raise GeneratorUnavailable(f"{self.url} does not answer: {type(failed).__name__}") from failed
        return found

    def _ask_once(
        self, address: str, body: dict[str, Any], headers: dict[str, str]
    ) -> tuple[tuple[int, Any], float | None]:
        """Return (status and JSON, how long the server wants us to wait). No redirects: the key goes along."""
        deadline = time.monotonic() + 2 * self._timeout
        response = self._http.request(
            "POST", address, headers=headers, json=body, redirect=False, preload_content=False
        )
        try:
            return (response.status, _json_in(_read_all(response, deadline))), _retry_after(response)
        finally:
            response.close()  # a connection whose answer was read to its end is kept nevertheless

    def _wait_seconds(self, attempt: int, after: float | None) -> float:
        """Wait as long as the server says, or twice as long each time, and not equally long for all that wait."""
        doubled = self._first_wait * 2 ** (attempt - 1) + random.uniform(0, self._first_wait)  # noqa: S311
        return min(MOST_SECONDS_BETWEEN, doubled if after is None else after)


class _Pace:
    """Allows so many requests a minute, however many threads ask. A second try is a request, too."""

    def __init__(self, per_minute: float) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = time.monotonic()
        self._lock = threading.Lock()

    def wait(self, stop: threading.Event) -> None:
        with self._lock:
            mine = max(self._next, time.monotonic())
            self._next = mine + self._gap
        stop.wait(max(0.0, mine - time.monotonic()))


def _read_all(response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
    """A time-out applies to each part of an answer. Without this, one that arrives in drops would hold us for ever."""
    data = bytearray()
    while part := response.read1(PART_BYTES):
        data += part
        if len(data) > MOST_ANSWER_BYTES:
            raise AnswerTooLong
        if time.monotonic() > deadline:
            raise AnswerTooSlow
    return bytes(data)


def _json_in(data: bytes) -> Any:
    """What is said in it can be stored, logged and shown: replies, thoughts and complaints go many ways from here."""
    try:
        return _storable_in(json.loads(data))
    except (ValueError, RecursionError):
        return None


def _storable_in(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable_in(one) for one in value]
    return {storable(key): _storable_in(one) for key, one in value.items()} if isinstance(value, dict) else value


def _retry_after(response: urllib3.BaseHTTPResponse) -> float | None:
    try:
        return urllib3.Retry().get_retry_after(response)
    except urllib3.exceptions.InvalidHeader:
        return None
