"""Carries calls to Prolific: to its official address, or to the Prolific that runs here. Any other is refused.

The token is in a header alone; nothing here logs or stores it.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import urllib3
from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.crowds.prolific.prolific_environments import LOCAL
from localprolific import in_process
from localprolific.models import ApiToken
from localprolific.signed_links import key_set

OFFICIAL = "https://api.prolific.com"
ROOT = "/api/v1/"
KEYS = "/.well-known/study/jwks.json"
TIMEOUT = urllib3.Timeout(connect=10, read=60)
MOST_BYTES = 50_000_000


class HiddenText(str):
    """A text that tracebacks, debug pages and logs show as stars when they print variables."""

    def __repr__(self) -> str:
        return "'***'"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class AnswerLost(Exception):
    """No whole answer came. Whether the call acted is not known."""


class Transport(Protocol):
    base: str  # what addresses in answers must begin with

    def __call__(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer: ...


class InThisProcess:
    """Calls the local Prolific in this process, without a network."""

    base = OFFICIAL  # its links look as Prolific's own do

    def __call__(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        if path == KEYS:
            return Answer(200, {}, json.dumps(key_set()).encode())
        try:
            answer = in_process.handle(method, path, body, headers)
        except OSError as error:
            raise AnswerLost(str(error)) from error
        return Answer(answer.status, answer.headers, answer.body)


class OverHttp:
    def __init__(self, base: str) -> None:
        if base not in (OFFICIAL, settings.PROLIFIC_LOCAL_URL) or not base:
            raise EvalPlatformError(
                f"{base} is not Prolific's address, nor that of the local one in PROLIFIC_LOCAL_URL."
            )
        self.base = base
        self._http = pool_of_process(os.getpid())

    def __call__(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        if not path.startswith(ROOT) and path != KEYS:
            raise EvalPlatformError(f"{path} is no path of Prolific's API.")
        try:
            answer = self._http.request(
                method, f"{self.base}{path}", body=body or None, headers=dict(headers), redirect=False
            )
        except urllib3.exceptions.HTTPError as error:
            raise AnswerLost(type(error).__name__) from error
        return Answer(answer.status, answer.headers, answer.data[:MOST_BYTES])


@cache
def pool_of_process(process_id: int) -> urllib3.PoolManager:
    """Return the process's own connections. One that was forked must not read the answers of the one it comes from."""
    return urllib3.PoolManager(retries=False, timeout=TIMEOUT, maxsize=4)


def open_transport(environment: str) -> Transport:
    if environment != LOCAL:
        return OverHttp(OFFICIAL)
    return OverHttp(settings.PROLIFIC_LOCAL_URL) if settings.PROLIFIC_LOCAL_URL else InThisProcess()


def token_for(environment: str, currency: str) -> HiddenText:
    """Return the token of the environment. The local Prolific has a workspace for each currency, and issues its own."""
    if environment == LOCAL and not settings.PROLIFIC_LOCAL_URL:
        known: Any = ApiToken.objects.filter(workspace__title=WORKSPACE, workspace__currency=currency).first()
        return HiddenText(known.token if known else in_process.issue_token(currency, WORKSPACE))
    if environment == LOCAL and settings.PROLIFIC_ENVIRONMENT != LOCAL:
        raise EvalPlatformError(
            "PROLIFIC_TOKEN is that of the real Prolific, and goes to no other address: remove PROLIFIC_LOCAL_URL, or "
            "set PROLIFIC_ENVIRONMENT=local."
        )
    if not settings.PROLIFIC_TOKEN:
        raise EvalPlatformError(
            "There is no token for Prolific. Set PROLIFIC_TOKEN in this server's environment; EvalPlatform never "
            "stores it."
        )
    return HiddenText(settings.PROLIFIC_TOKEN)


WORKSPACE = "Local workspace"
