"""Send HTTP requests to a chat server: keep to its pace, try again after passing errors, and give up in time."""

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
MOST_TIME_OUTS = 2  # of one question; the server may have answered it, and charged for it, all the same


class AnswerTooSlow(urllib3.exceptions.HTTPError):
    """The answer arrived too slowly, in small pieces."""


class AnswerTooLong(urllib3.exceptions.HTTPError):
    """The answer is longer than any reply can be."""


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
        """Return the status and JSON of the answer, or raise GeneratorUnavailable. Setting `stop` ends all waiting and
        trying."""
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
        """Return (status and JSON, how long the server wants us to wait). Redirects are not followed, because the key
        would go to another server."""
        deadline = time.monotonic() + 2 * self._timeout
        response = self._http.request(
            "POST", address, headers=headers, json=body, redirect=False, preload_content=False
        )
        try:
            return (response.status, _parse_json(_read_all(response, deadline))), _retry_after(response)
        finally:
            response.close()  # a connection whose answer was read to its end is reused nevertheless

    def _wait_seconds(self, attempt: int, after: float | None) -> float:
        """Return how long to wait: as long as the server says, or twice as long each time. Chance adds a bit, so that
        not all threads ask again at the same moment."""
        doubled = self._first_wait * 2 ** (attempt - 1) + random.uniform(0, self._first_wait)  # noqa: S311
        return min(MOST_SECONDS_BETWEEN, doubled if after is None else after)


class _Pace:
    """Allows so many requests a minute, however many threads there are. A second try counts as a request."""

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
    """Read the whole answer before the deadline. urllib3's time-out applies to each part of an answer, so an answer in
    many small parts could hold us for ever."""
    data = bytearray()
    while part := response.read1(PART_BYTES):
        data += part
        if len(data) > MOST_ANSWER_BYTES:
            raise AnswerTooLong
        if time.monotonic() > deadline:
            raise AnswerTooSlow
    return bytes(data)


def _parse_json(data: bytes) -> Any:
    """Return the parsed JSON, or None. All texts in it are made storable here, because they are stored, logged and
    shown in many places."""
    try:
        return _make_storable(json.loads(data))
    except (ValueError, RecursionError):
        return None


def _make_storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_make_storable(one) for one in value]
    return {storable(key): _make_storable(one) for key, one in value.items()} if isinstance(value, dict) else value


def _retry_after(response: urllib3.BaseHTTPResponse) -> float | None:
    try:
        return urllib3.Retry().get_retry_after(response)
    except urllib3.exceptions.InvalidHeader:
        return None
