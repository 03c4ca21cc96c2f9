"""`openai-compatible`: ask a server that speaks OpenAI's chat completions; what is sent, and what counts as a reply.

The checkpoint is the model's name on the server. The key comes from an environment variable and is stored nowhere.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from evalplatform.errors import EvalPlatformError
from generation.contexts import Answer, Context, Reply
from generation.errors import CheckpointRefused, GeneratorUnavailable, SettingsRefused
from generation.generators.chat_requests import MOST_AT_ONCE, ChatRequests
from generation.generators.kinds import Settings, checked_settings
from generation.generators.server_refusals import (
    TRY_AGAIN,
    complaint,
    is_about_all,
    is_too_long,
    is_worth_another_try,
    wants_a_first_user,
)
from generation.thoughts import NOTHING_BUT_THOUGHTS

TICK_SECONDS = 10.0
MOST_ALIKE = 5  # refusals in the same words, before anything was answered; then it is not about the dialogs
OURS_ALONE = {"model", "messages", "stream", "n"}

Parameter = Literal["max_tokens", "max_completion_tokens", "temperature", "top_p", "seed"]


class ServerSettings(Settings):
    url: str  # up to and including the version: https://api.example.org/v1
    key_variable: str = "OPENAI_API_KEY"  # the environment variable with the key; if it is not set, none is sent
    system: str = ""
    max_tokens: int = Field(200, ge=1)
    temperature: float = Field(0.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    sends: list[Parameter] = ["max_tokens", "temperature", "top_p", "seed"]  # the server decides the others
    extra: dict[str, Any] = {}  # sent as it is: {reasoning_effort = "low"}
    requests_per_minute: float = Field(0, ge=0)  # by each process; 0: no limit
    timeout_seconds: float = Field(60, gt=0)
    attempts: int = Field(6, ge=1)  # with waits that double in between, or as long as the server says

    @field_validator("sends")
    @classmethod
    def _check_one_limit(cls, sends: list[str]) -> list[str]:
        if {"max_tokens", "max_completion_tokens"} <= set(sends):
            raise ValueError("a server knows either max_tokens or max_completion_tokens")
        return sends

    @model_validator(mode="after")
    def _check_set_are_sent(self) -> Self:
        for name in ("temperature", "top_p"):
            is_set = getattr(self, name) != type(self).model_fields[name].default
            if is_set and name not in self.sends:
                raise ValueError(f"{name} is set, but `sends` does not name it")
        return self

    @field_validator("extra")
    @classmethod
    def _check_extra(cls, extra: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(OURS_ALONE & extra.keys()):
            raise ValueError(f"{taken[0]} can't be set")
        return extra


class OpenAICompatibleGenerator:
    NEEDS_DEVICE = False

    def __init__(self, model: str, settings: dict[str, Any], first_wait_seconds: float = 0.5) -> None:
        self._model, self._settings = model, settings
        self._requests = ChatRequests(
            settings["url"],
            settings["timeout_seconds"],
            settings["attempts"],
            settings["requests_per_minute"],
            first_wait_seconds,
        )
        self._wants_a_first_user = False
        self._has_answered = False
        self._refusals: Counter[str] = Counter()  # by their words, as long as nothing was answered

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        if not checkpoint:
            raise CheckpointRefused("The kind `openai-compatible` needs the model's name on its server as checkpoint.")
        checked = checked_settings(ServerSettings, settings)
        parts = urlsplit(checked["url"])
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise SettingsRefused("The setting 'url' is not a server's address such as http://127.0.0.1:8000/v1.")
        return checked

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        return cls(checkpoint, settings)

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        questions = iter(list(zip(contexts, seeds, strict=True)))
        answers: dict[int, Reply] = {}
        for found in self.answer_each(questions, MOST_AT_ONCE):
            if found is not None:
                number, answer = found
                if isinstance(answer, Exception):
                    raise answer
                answers[number] = answer
        return [answers[number] for number in range(len(contexts))]

    def answer_each(
        self, questions: Iterator[tuple[Context, int]], at_once: int
    ) -> Iterator[tuple[int, Answer] | None]:
        """Answer with `at_once` requests at any time, so that a slow one does not delay the others."""
        at_once = min(at_once, MOST_AT_ONCE)
        under_way: dict[Future[Reply], int] = {}
        refusal: EvalPlatformError | None = None
        stop = threading.Event()
        count = 0
        with ThreadPoolExecutor(max_workers=at_once) as pool:
            try:
                while True:
                    while refusal is None and len(under_way) < at_once and (question := next(questions, None)):
                        under_way[pool.submit(self._answer, *question, stop)] = count
                        count += 1
                    if not under_way:
                        break
                    done, _ = wait(under_way, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
                    if not done:
                        yield None
                    for future in done:
                        number, error = under_way.pop(future), future.exception()
                        if isinstance(error, EvalPlatformError) and not isinstance(error, GeneratorUnavailable):
                            # Wait for the other requests: they cost money as well, and may be answered.
                            refusal = refusal or error
                            stop.set()
                        elif error is None:
                            yield number, future.result()
                        elif isinstance(error, Exception):
                            yield number, error
            finally:
                stop.set()
        if refusal:
            raise refusal

    def _answer(self, context: Context, seed: int, stop: threading.Event) -> Reply:
        for cut in range(len(context.turns)):
            status, body = self._ask(context.turns[cut:], seed, stop)
            if not is_too_long(status, body):
                break
        if status == 200:
            self._has_answered = True
            reply = _make_reply(body, cut)
            return replace(reply, failure=self._hide_key(reply.failure))
        words = self._hide_key(complaint(body))
        refusal = f"{self._settings['url']} answers with status {status}: {words}"
        if is_about_all(status, body, self._parameters):
            is_request = status in (400, 422)
            advice = " The settings `sends` and `extra` decide what is sent." if is_request else ""
            raise CheckpointRefused(f"{refusal.rstrip('.')}.{advice}")
        if status in TRY_AGAIN and not is_too_long(status, body):
            raise GeneratorUnavailable(refusal)
        self._refusals[refusal] += not self._has_answered
        if self._refusals[refusal] >= MOST_ALIKE:
            raise CheckpointRefused(f"{refusal.rstrip('.')}. It gives this answer to every dialog.")
        return Reply("", turns_cut=cut, failure=refusal)

    def _ask(self, turns: Sequence[str], seed: int, stop: threading.Event) -> tuple[int, Any]:
        """Ask the server. If its chat template insists that a user begins, ask again with an empty first turn."""
        is_begun_by_user = len(turns) % 2 == 1
        if is_begun_by_user or not self._wants_a_first_user:
            status, body = self._post(turns, seed, stop)
            if is_begun_by_user or not wants_a_first_user(status, body):
                return status, body
            self._wants_a_first_user = True
        return self._post(["", *turns], seed, stop)

    def _post(self, turns: Sequence[str], seed: int, stop: threading.Event) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return self._requests.post(
            self._make_body(turns, seed),
            headers,
            lambda status, body: is_worth_another_try(status, body, self._parameters),
            stop,
        )

    def _hide_key(self, words: str) -> str:
        return words.replace(self._key, "(the key)") if self._key else words

    @property
    def _key(self) -> str:
        return os.environ.get(self._settings["key_variable"], "")

    @property
    def _parameters(self) -> set[str]:
        return {"model", "seed", *self._settings["sends"], *self._settings["extra"]}

    def _make_body(self, turns: Sequence[str], seed: int) -> dict[str, Any]:
        # The model answers the last turn, so that one is the user's, and the others alternate before it.
        roles = ["user" if (len(turns) - position) % 2 else "assistant" for position in range(len(turns))]
        messages = [{"role": role, "content": text} for role, text in zip(roles, turns, strict=True)]
        system = [{"role": "system", "content": self._settings["system"]}] if self._settings["system"] else []
        values = {**self._settings, "max_completion_tokens": self._settings["max_tokens"], "seed": seed}
        sent = {name: values[name] for name in self._settings["sends"]}
        return {**self._settings["extra"], "model": self._model, "messages": system + messages, **sent}


def _make_reply(body: Any, turns_cut: int) -> Reply:
    try:
        choice = body["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        content, refusal = message.get("content") or "", message.get("refusal")
    except (TypeError, KeyError, IndexError, AttributeError):
        is_error = isinstance(body, dict) and body.get("error")  # gateways send errors with status 200
        told = f"the server answers with an error: {complaint(body)}"
        return Reply("", turns_cut=turns_cut, failure=told if is_error else "the server's answer is not understood")
    text, thoughts = _join_parts(content) if isinstance(content, list) else (content, "")
    thoughts = "\n".join(filter(None, [*_find_thoughts(message), thoughts]))
    if not isinstance(text, str):
        return Reply("", turns_cut=turns_cut, failure="not text")
    if finish == "content_filter" or refusal:
        failure = "held back by the server's filter"
    elif finish == "length":
        failure = "endless: it was still thinking" if thoughts and not text.strip() else "endless"
    else:
        failure = "" if text.strip() else NOTHING_BUT_THOUGHTS if thoughts else "empty"
    return Reply("" if failure else text.strip(), turns_cut=turns_cut, failure=failure, thoughts=thoughts)


def _find_thoughts(message: dict[str, Any]) -> list[str]:
    """Return the thoughts in a message. Servers name them differently: DeepSeek and vLLM, OpenRouter and newer vLLM,
    and Ollama, in this order."""
    found = (message.get(name) for name in ("reasoning_content", "reasoning", "thinking"))
    return list(dict.fromkeys(text.strip() for text in found if isinstance(text, str) and text.strip()))


def _join_parts(content: list[Any]) -> tuple[str | None, str]:
    """Join content that comes in parts, as some servers send it, into a text and thoughts. The text is None if there
    are parts of another kind, such as pictures."""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in ("text", "output_text") and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in ("thinking", "reasoning"):
            thoughts.append(_thought_text(part))
        else:
            return None, ""
    return "".join(texts), "\n".join(filter(None, thoughts))


def _thought_text(part: dict[str, Any]) -> str:
    inner = part.get("thinking") or part.get("text") or ""
    pieces = [piece.get("text", "") for piece in inner if isinstance(piece, dict)] if isinstance(inner, list) else []
    return inner if isinstance(inner, str) else "".join(piece for piece in pieces if isinstance(piece, str))
