"""Calls Prolific's API: what may be repeated is repeated, errors become ours, lists are read page by page.

In: a path and a body. Out: the parsed answer. Guaranteed: a call that must not act twice is sent once; its lost answer
is a MarketUnavailable, and its refusal a MarketRefused, which says that it surely did not act.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from hits.crowds.prolific.prolific_transport import ROOT, Answer, AnswerLost, HiddenText, Transport
from hits.errors import MarketRefused, MarketUnavailable

PAGE_SIZE = 100
MOST_PAGES = 100_000
LONGEST_PAUSE_SECONDS = 20.0
TOO_MANY = 429
ABOUT_THE_ACCOUNT = {401, 403, TOO_MANY}
Sleep = Callable[[float], None]


class ProlificRefused(MarketRefused):
    """A refusal with the status and the raw body, as Prolific sent it."""

    def __init__(self, status: int, message: str, body: str) -> None:
        is_about_account = status in ABOUT_THE_ACCOUNT or "funds" in message.lower()
        super().__init__(str(status), message, is_about_account, is_gone=status == 404)
        self.status = status
        self.body = body


class ProlificClient:
    """`attempts` is how often a call that may be repeated is sent; `pause_seconds` is the first pause in between."""

    def __init__(
        self, transport: Transport, token: str, attempts: int = 8, pause_seconds: float = 0.5, sleep: Sleep = time.sleep
    ) -> None:
        self._transport = transport
        self._headers = {"Authorization": HiddenText(f"Token {token}"), "Content-Type": "application/json"}
        self._attempts = attempts
        self._pause_seconds = pause_seconds
        self._sleep = sleep

    def get(self, path: str, **parameters: str | int) -> Any:
        query = f"?{urlencode(parameters)}" if parameters else ""
        return self.repeat("GET", f"{path}{query}")

    def pages(self, path: str, **parameters: str | int) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, each once, until a page names no next one. A short page is no sign of the end.

        While we read, rows may come that move others to the next page; so each id counts once. A page that is gone
        (404) ends the list: it has become shorter.
        """
        address: str = f"{path}?{urlencode({**parameters, 'page_size': PAGE_SIZE})}"
        seen: set[str] = set()
        for number in range(MOST_PAGES):
            try:
                page = self.repeat("GET", address)
            except ProlificRefused as refused:
                if refused.status == 404 and number:
                    return
                raise
            for row in page.get("results", []):
                if row["id"] not in seen:
                    seen.add(row["id"])
                    yield row
            following = self._next_of(page)
            if following is None:
                return
            address = following
        raise MarketUnavailable(f"Prolific's list {path} does not end.")

    def repeat(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Make a call that does no harm if it acts twice, and repeat it while Prolific is busy or does not answer."""
        problem = ""
        for attempt in range(self._attempts):
            try:
                answer = self._send(method, path, body)
            except AnswerLost as lost:
                problem, wait = f"no answer ({lost})", 0.0
            else:
                if answer.status < 500 and answer.status != TOO_MANY:
                    return _read(answer)
                problem, wait = _describe(answer), _retry_after(answer)
            if attempt + 1 < self._attempts:
                self._sleep(max(wait, self._pause(attempt)))
        raise MarketUnavailable(f"Prolific does not accept requests right now: {problem}")

    def once(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Make a call that must not act twice. MarketUnavailable means that it may have acted."""
        return self.once_with_headers(method, path, body)[0]

    def once_with_headers(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, str]]:
        """Make such a call, and return its answer with the headers, whose names are in lower case."""
        try:
            answer = self._send(method, path, body)
        except AnswerLost as lost:
            raise MarketUnavailable(f"Prolific did not answer ({lost}); whether it acted is not known.") from lost
        if answer.status >= 500:
            raise MarketUnavailable(f"Prolific answered {_describe(answer)}; whether it acted is not known.")
        return _read(answer), {name.lower(): value for name, value in answer.headers.items()}

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> Answer:
        return self._transport(
            method, f"{ROOT}{path}", b"" if body is None else json.dumps(body).encode(), self._headers
        )

    def _next_of(self, page: Mapping[str, Any]) -> str | None:
        """Return the path of the next page. It must be on the server that we call: our token goes with it."""
        href = ((page.get("_links") or {}).get("next") or {}).get("href")
        if not href:
            return None
        start = f"{self._transport.base}{ROOT}"
        if not str(href).startswith(start):
            raise MarketUnavailable(f"Prolific names a next page elsewhere, at {urlsplit(str(href)).netloc}.")
        return str(href)[len(start) :]

    def _pause(self, attempt: int) -> float:
        longest = min(self._pause_seconds * 2**attempt, LONGEST_PAUSE_SECONDS)
        return float(longest * random.uniform(0.5, 1))  # noqa: S311  # so that two who were refused don't come back together


def _read(answer: Answer) -> Any:
    text = answer.body.decode(errors="replace")
    if not 200 <= answer.status < 300:
        raise ProlificRefused(answer.status, _describe(answer), text)
    try:
        return json.loads(text) if text.strip() else None
    except ValueError:
        raise MarketUnavailable(f"Prolific's answer can't be read: {text[:200]}") from None


def _describe(answer: Answer) -> str:
    """Say what is wrong, from either of Prolific's forms: an `error` with details, or a flat message."""
    text = answer.body.decode(errors="replace")
    try:
        shape = json.loads(text)
    except ValueError:
        return f"{answer.status}: {text[:200] or 'no words'}"
    error = shape.get("error", shape) if isinstance(shape, dict) else shape
    if isinstance(error, dict):
        parts = [error.get("title") or error.get("message"), error.get("detail")]
        error = ": ".join(part if isinstance(part, str) else json.dumps(part) for part in parts if part) or text[:200]
    return f"{answer.status}: {error if isinstance(error, str) else json.dumps(error)}"


def _retry_after(answer: Answer) -> float:
    value = next((value for name, value in answer.headers.items() if name.lower() == "retry-after"), "")
    return min(float(value), LONGEST_PAUSE_SECONDS) if value.isdecimal() else 0.0
