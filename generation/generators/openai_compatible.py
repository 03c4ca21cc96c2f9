"""`openai-compatible`: any server that speaks OpenAI's chat completions, vLLM and llama.cpp among them.

The checkpoint is the model's name there. The key comes from the environment and is stored nowhere.
"""

import json
import os
import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self
from urllib.parse import urlsplit

import urllib3
from pydantic import Field

from generation.generators.base import (
    CheckpointRefused,
    Context,
    GeneratorUnavailable,
    Reply,
    Settings,
    SettingsRefused,
    checked_settings,
)

TRY_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
WRONG_FOR_ALL = (401, 403, 404, 405)
WRONG_FOR_ONE = (400, 500)  # llama.cpp has said 500 of a context that it can't take
TOO_LONG = re.compile(r"context (length|size|window)|maximum model length", re.IGNORECASE)
NOT_BEGUN_BY_A_USER = re.compile(r"roles? must|first message", re.IGNORECASE)
MOST_SECONDS_BETWEEN = 60
MOST_AT_ONCE = 64
MOST_REASON_CHARACTERS = 300


class _Stumble(GeneratorUnavailable):
    """Status 500, time and again: of the server, or only of this dialog."""


class ServerSettings(Settings):
    url: str  # up to and with the version: https://api.example.org/v1
    key_variable: str = "OPENAI_API_KEY"  # the environment's variable with the key; without it, none is sent
    system: str = ""
    max_tokens: int = Field(200, ge=1)
    temperature: float = Field(0.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    requests_per_minute: float = Field(0, ge=0)  # of this process; 0: no limit
    timeout_seconds: float = Field(60, gt=0)
    attempts: int = Field(6, ge=1)  # with waits that double in between, or as long as the server says


class OpenAICompatibleGenerator:
    NEEDS_DEVICE = False

    def __init__(self, model: str, settings: dict[str, Any], first_wait_seconds: float = 0.5) -> None:
        self._model, self._settings = model, settings
        self._pace = _Pace(settings["requests_per_minute"])
        self._wants_a_first_user = False
        again = _PacedRetry(
            self._pace,
            total=settings["attempts"] - 1,
            status_forcelist=TRY_AGAIN,
            allowed_methods=None,  # an answer that was lost on its way is simply asked for again
            backoff_factor=first_wait_seconds,
            backoff_jitter=first_wait_seconds,
            backoff_max=MOST_SECONDS_BETWEEN,
            retry_after_max=MOST_SECONDS_BETWEEN,
            raise_on_status=False,
            redirect=0,
        )
        self._http = urllib3.PoolManager(retries=again, timeout=settings["timeout_seconds"], maxsize=MOST_AT_ONCE)

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        if not checkpoint:
            raise CheckpointRefused("The kind `openai-compatible` wants the model's name on its server as checkpoint.")
        checked = checked_settings(ServerSettings, settings)
        parts = urlsplit(checked["url"])
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise SettingsRefused("The setting 'url' is no server's address, as http://127.0.0.1:8000/v1 is one.")
        return checked

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        return cls(checkpoint, settings)

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        """All of a batch at once. Where the server stumbles over some, and answers others, it is about the dialogs."""
        with ThreadPoolExecutor(max_workers=min(len(contexts), MOST_AT_ONCE)) as pool:
            asked = [pool.submit(self._answer, context, seed) for context, seed in zip(contexts, seeds, strict=True)]
        errors = [one.exception() for one in asked]
        answers_some = None in errors
        for error in errors:
            if error and not (answers_some and isinstance(error, _Stumble)):
                raise error
        return [
            Reply("", failure=str(error)) if error else one.result() for error, one in zip(errors, asked, strict=True)
        ]

    def _answer(self, context: Context, seed: int) -> Reply:
        for cut in range(len(context.turns)):
            status, body = self._ask(context.turns[cut:], seed)
            is_too_long = _is_refused_for(TOO_LONG, status, body)
            if not is_too_long:
                break
        if status == 200:
            return _reply(body, cut)
        complaint = f"{self._settings['url']} answers with status {status}: {_complaint(body)}"
        if status in TRY_AGAIN and not is_too_long:
            raise _Stumble(complaint) if status == 500 else GeneratorUnavailable(complaint)
        if status in WRONG_FOR_ALL:
            raise CheckpointRefused(complaint)
        return Reply("", turns_cut=cut, failure=complaint)

    def _ask(self, turns: Sequence[str], seed: int) -> tuple[int, Any]:
        """With an empty turn first for a chat template that was taught to wait for a user's first word."""
        is_begun_by_user = len(turns) % 2 == 1
        if is_begun_by_user or not self._wants_a_first_user:
            status, body = self._post(turns, seed)
            if is_begun_by_user or not _is_refused_for(NOT_BEGUN_BY_A_USER, status, body):
                return status, body
            self._wants_a_first_user = True
        return self._post(["", *turns], seed)

    def _post(self, turns: Sequence[str], seed: int) -> tuple[int, Any]:
        self._pace.wait()
        try:
            response = self._http.request(
                "POST",
                f"{self._settings['url'].rstrip('/')}/chat/completions",
                headers=self._headers(),
                json=self._request(turns, seed),
            )
        except urllib3.exceptions.HTTPError as error:
            raise GeneratorUnavailable(f"{self._settings['url']} does not answer: {_cause(error)}") from error
        return response.status, _json_in(response)

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._settings["key_variable"], "")
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _request(self, turns: Sequence[str], seed: int) -> dict[str, Any]:
        # The last turn is the other one's: the model answers it, and its own turns alternate with it.
        roles = ["user" if (len(turns) - position) % 2 else "assistant" for position in range(len(turns))]
        messages = [{"role": role, "content": text} for role, text in zip(roles, turns, strict=True)]
        system = [{"role": "system", "content": self._settings["system"]}] if self._settings["system"] else []
        names = ("max_tokens", "temperature", "top_p")
        decoding = {name: self._settings[name] for name in names}
        return {"model": self._model, "messages": system + messages, "seed": seed, **decoding}


class _Pace:
    """At most so many requests a minute, however many threads ask."""

    def __init__(self, per_minute: float) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = time.monotonic()
        self._lock = threading.Lock()

    def wait(self) -> None:
        with self._lock:
            mine = max(self._next, time.monotonic())
            self._next = mine + self._gap
        time.sleep(max(0.0, mine - time.monotonic()))


class _PacedRetry(urllib3.Retry):
    """Asking again is asking: it keeps to the pace as well, after the wait that the server or its stumbles call for."""

    def __init__(self, pace: _Pace, **options: Any) -> None:
        super().__init__(**options)
        self._pace = pace

    def new(self, **changes: Any) -> Self:
        return super().new(pace=self._pace, **changes)

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: urllib3.BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: Any = None,
        _stacktrace: Any = None,
    ) -> Self:
        """Not over a refusal that calls for another question: the same one would be refused again."""
        if response is not None and _calls_for_another(response):
            raise urllib3.exceptions.MaxRetryError(_pool, url or "")
        return super().increment(method, url, response, error, _pool, _stacktrace)

    def sleep(self, response: urllib3.BaseHTTPResponse | None = None) -> None:
        super().sleep(response)
        self._pace.wait()


def _reply(body: Any, turns_cut: int) -> Reply:
    try:
        choice = body["choices"][0]
        text, finish = choice["message"]["content"] or "", choice.get("finish_reason")
    except (TypeError, KeyError, IndexError, AttributeError):
        return Reply("", turns_cut=turns_cut, failure="the server's answer is not understood")
    if not isinstance(text, str):
        return Reply("", turns_cut=turns_cut, failure="not text")
    if finish == "length":
        return Reply("", turns_cut=turns_cut, failure="endless")
    if finish == "content_filter":
        return Reply("", turns_cut=turns_cut, failure="held back by the server's filter")
    return Reply(text.strip(), turns_cut=turns_cut, failure="" if text.strip() else "empty")


def _json_in(response: urllib3.BaseHTTPResponse) -> Any:
    try:
        return json.loads(response.data)
    except ValueError:
        return None


def _calls_for_another(response: urllib3.BaseHTTPResponse) -> bool:
    body = _json_in(response)
    return any(_is_refused_for(reason, response.status, body) for reason in (TOO_LONG, NOT_BEGUN_BY_A_USER))


def _is_refused_for(reason: re.Pattern[str], status: int, body: Any) -> bool:
    return status in WRONG_FOR_ONE and reason.search(_complaint(body)) is not None


def _complaint(body: Any) -> str:
    """What the server says is wrong, in one line."""
    error = body.get("error", body) if isinstance(body, dict) else ""
    message = error.get("message", "") if isinstance(error, dict) else error
    return " ".join(str(message).split())[:MOST_REASON_CHARACTERS] or "it does not say why"


def _cause(error: urllib3.exceptions.HTTPError) -> str:
    reason = getattr(error, "reason", None) or error
    return type(reason).__name__
