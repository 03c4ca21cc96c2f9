"""Answer calls to the API, over whatever transport.

In: method, path with its query, body and headers. Out: status, headers and body as Prolific would answer. Guaranteed:
an operation acts wholly or not at all; AnswerLost is raised only after it acted.
"""

import json
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.db import connection, transaction

from localprolific import misbehaving, wallet
from localprolific.behaviour import behaviour
from localprolific.endpoints import ApiAnswer, ApiCall, Route, find_route
from localprolific.errors import AnswerLost, Broken, Invalid, NotFound, NotSignedIn, ProlificError, TooMany
from localprolific.misbehaving import Kind
from localprolific.models import ApiToken, Workspace
from localprolific.panel_clock import Clock
from localprolific.passing_time import settle

ROOT = "/api/v1/"
_one_writer = threading.RLock()


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


def handle(
    method: str,
    path: str,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    now: datetime | None = None,
    base_url: str = "https://api.prolific.com",
) -> Response:
    """Answer one call. `path` begins with /api/v1/ and includes the query; `base_url` is what links begin with."""
    url = urlsplit(path)
    rest = url.path.removeprefix(ROOT)
    try:
        if not url.path.startswith(ROOT):
            raise NotFound("There is nothing at this address.")
        route, ids = find_route(method.upper(), rest)
        amounts = misbehaving.strike(route.name)
        call = ApiCall(
            workspace=_workspace_of(headers or {}),
            now=now or Clock().now(),
            path=rest,
            params=dict(parse_qsl(url.query, keep_blank_values=True)),
            body=_parsed(body),
            base_url=base_url.rstrip("/"),
        )
        with misbehaving.struck_by(amounts):
            return _answer(route, call, ids, set(amounts))
    except ProlificError as error:
        return _refuse(error, rest)


def _answer(route: Route, call: ApiCall, ids: dict[str, str], faults: set[str]) -> Response:
    if Kind.THROTTLE in faults:
        raise TooMany
    if Kind.FAIL_BEFORE in faults:
        raise Broken
    if route.is_money_call:
        wallet.occupy(call.workspace)
    try:
        answer = _act(route, call, ids)
    finally:
        if route.is_money_call:
            wallet.vacate(call.workspace, behaviour().wallet_busy_seconds)
    if Kind.DROP_AFTER in faults:
        raise AnswerLost(f"{route.name} acted, and its answer was lost.")
    if Kind.FAIL_AFTER in faults:
        raise Broken
    return _respond(answer)


def _act(route: Route, call: ApiCall, ids: dict[str, str]) -> ApiAnswer:
    with _one_writer_at_a_time():
        settle(call.now)
        with transaction.atomic():
            return route.act(call, **ids)


def _one_writer_at_a_time() -> AbstractContextManager[object]:
    """Let one thread write at a time on SQLite, which allows one writer only. Without this lock, waiting writers would
    sleep for longer and longer; the lock wakes them at once."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return nullcontext()
    return _one_writer


def _workspace_of(headers: Mapping[str, str]) -> Workspace:
    given = next((value for name, value in headers.items() if name.lower() == "authorization"), "")
    scheme, _, token = given.partition(" ")
    if scheme != "Token" or not token:
        raise NotSignedIn("Authentication credentials were not provided.")
    found = ApiToken.objects.select_related("workspace").filter(token=token.strip()).first()
    if found is None:
        raise NotSignedIn("Invalid token.")
    return found.workspace


def _parsed(body: bytes) -> Any:
    try:
        parsed = json.loads(body) if body else None
    except (ValueError, RecursionError):  # RecursionError comes from brackets that are nested too deep
        raise Invalid("JSON parse error.") from None
    if "\\u0000" in json.dumps(parsed):
        raise Invalid("Null characters are not allowed.")
    return parsed


def _respond(answer: ApiAnswer) -> Response:
    if answer.body is None:
        return Response(answer.status, answer.headers, b"")
    return _in_json(answer.status, answer.body, answer.headers)


def _refuse(error: ProlificError, path: str) -> Response:
    is_flat = path.startswith(behaviour().flat_error_paths)
    return _in_json(error.status, error.flat() if is_flat else error.nested(), {})


def _in_json(status: int, shape: Any, headers: Mapping[str, str]) -> Response:
    return Response(status, {"Content-Type": "application/json", **headers}, json.dumps(shape, default=_iso).encode())


def _iso(value: object) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    raise TypeError(f"{value!r} has no JSON form")
