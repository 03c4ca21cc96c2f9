"""Answer calls to the Requester API: JSON in, JSON out, over whatever transport.

In: an operation's name and the bytes of a request. Out: status, headers and bytes as MTurk would answer. Guaranteed:
an operation acts wholly or not at all; ConnectionDropped is raised only after it acted.
"""

import json
import threading
import time
import uuid
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from localturk import faults, telling_holders
from localturk.clock import Clock
from localturk.errors import (
    ConnectionDropped,
    RequestError,
    ServiceFault,
    Throttled,
    TurkError,
    insufficient_funds,
)
from localturk.lifecycle import settle
from localturk.models import Fault
from localturk.operations import NOT_OFFERED, OPERATIONS
from localturk.signatures import Call, NotSigned, check_signature
from localturk.validation import UNKNOWN_OPERATION, checked_params

Response = tuple[int, dict[str, str], bytes]
TARGET_PREFIX = "MTurkRequesterServiceV20170117."
Kind = Fault.Kind
_one_writer = threading.Lock()


def operation_of(target: str | None) -> str:
    """Return the operation's name from the header X-Amz-Target. An unknown one is answered with an error later."""
    return (target or "").removeprefix(TARGET_PREFIX)


def handle_call(call: Call) -> Response:
    """Answer a call that came over a network, if its signature is right."""
    try:
        check_signature(call, timezone.now())  # by the real time, because the marketplace's may have been moved
    except NotSigned as refused:
        return _refuse(refused)
    return handle(operation_of(call.headers.get("x-amz-target")), call.body)


def handle(target_operation: str, body: bytes, now: datetime | None = None) -> Response:
    arrived = time.monotonic()
    struck = faults.strike(target_operation)
    kinds = {fault.kind for fault in struck}
    latency = sum(fault.amount for fault in struck if fault.kind == Kind.LATENCY) / 1000
    # Wait half of the latency before the work and half after it, so that a client may die on either way. The time of
    # the work itself is part of the latency.
    _wait_until(arrived + latency / 2)
    now = now or Clock().now()
    with faults.lying(struck, now):
        response = _answer(target_operation, body, now, kinds)
    _wait_until(arrived + latency)
    if Kind.DROP_AFTER in kinds and response[0] == 200:
        raise ConnectionDropped
    if Kind.FAIL_AFTER in kinds and response[0] == 200:
        return _refuse(ServiceFault())
    return response


def _wait_until(moment: float) -> None:
    seconds = moment - time.monotonic()
    if seconds <= 0:
        return
    if connection.vendor != "sqlite" and not connection.in_atomic_block:
        connection.close()  # gives it back to the pool, where others may use it meanwhile
    time.sleep(seconds)


def _answer(operation: str, body: bytes, now: datetime, kinds: set[str]) -> Response:
    try:
        _raise_before_acting(kinds)
        return _respond(200, _act(operation, body, now))
    except TurkError as error:
        return _refuse(error)


def _raise_before_acting(kinds: set[str]) -> None:
    if Kind.THROTTLE in kinds:
        raise Throttled
    if Kind.FAIL_BEFORE in kinds:
        raise ServiceFault
    if Kind.INSUFFICIENT_FUNDS in kinds:
        raise insufficient_funds()


def _act(operation: str, body: bytes, now: datetime) -> dict[str, Any]:
    if operation == telling_holders.OPERATION:
        return _tell_holder(_parse_body(body), now)
    params = checked_params(operation, _parse_body(body))
    if operation in NOT_OFFERED:
        message = f"{operation} is not offered by the local marketplace: {NOT_OFFERED[operation]}."
        raise RequestError(UNKNOWN_OPERATION, message)
    with _one_writer_at_a_time():
        settle(now)
        with transaction.atomic():
            return OPERATIONS[operation](params, now)


def _tell_holder(params: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Answer our own operation GetHolder. botocore's model does not know it, so its parameters are checked here."""
    hit_id, assignment_id, worker_id = (params.get(name) for name in ("HITId", "AssignmentId", "WorkerId"))
    if not (isinstance(hit_id, str) and isinstance(assignment_id, str) and isinstance(worker_id, str)):
        raise RequestError("AWS.MissingParameters", "GetHolder needs HITId, AssignmentId and WorkerId.")
    with _one_writer_at_a_time():
        settle(now)
        return telling_holders.tell_holder(hit_id, assignment_id, worker_id, now)


def _one_writer_at_a_time() -> AbstractContextManager[object]:
    """Let one thread write at a time on SQLite, which allows one writer only. Without this lock, waiting writers would
    sleep for longer and longer; the lock wakes them at once."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return nullcontext()
    return _one_writer


def _parse_body(body: bytes) -> dict[str, Any]:
    try:
        params = json.loads(body or b"{}")
    except (ValueError, RecursionError):  # RecursionError comes from brackets that are nested too deep
        params = None
    if not isinstance(params, dict):
        raise RequestError("SerializationException", "The request is not a JSON object.")
    return params


def _respond(status: int, shape: dict[str, Any], more_headers: dict[str, str] | None = None) -> Response:
    headers = {"Content-Type": "application/x-amz-json-1.1", "x-amzn-RequestId": str(uuid.uuid4())}
    return status, {**headers, **(more_headers or {})}, json.dumps(shape, default=_epoch).encode()


def _refuse(error: TurkError) -> Response:
    return _respond(error.status, _error_shape(error), {"x-amzn-ErrorType": error.type})


def _epoch(value: object) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    raise TypeError(f"{value!r} has no JSON form")


def _error_shape(error: TurkError) -> dict[str, str]:
    return {"__type": error.type, "Message": error.message, "TurkErrorCode": error.code}
