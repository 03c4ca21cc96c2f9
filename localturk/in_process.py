"""Connect a boto3 client to the marketplace in the same process, without a network."""

import io
import threading
from collections.abc import Iterator
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectionClosedError
from django.db import connection

from localturk.clock import Clock
from localturk.errors import ConnectionDropped
from localturk.requester_api import handle, operation_of


def attach(boto_client: Any, clock: Clock | None = None) -> None:
    """Answer the client's requests here from now on. botocore signs and parses them as any others."""
    time = clock or Clock()

    def answer(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        try:
            status, headers, body = handle(operation_of(_read_target(request)), _read_body(request), time.now())
        except ConnectionDropped as error:
            # botocore raises this for a closed connection, so its retries do what they would do then.
            raise ConnectionClosedError(endpoint_url=request.url, error=error) from error
        finally:
            _close_connection()
        return AWSResponse(request.url, status, headers, _RawBody(body))

    boto_client.meta.events.register("before-send.mturk.*", answer)


def _close_connection() -> None:
    """Close the database connection of a thread. Otherwise each of the caller's threads would hold one, and so empty
    the pool."""
    if threading.current_thread() is not threading.main_thread() and not connection.in_atomic_block:
        connection.close()


def _read_target(request: AWSPreparedRequest) -> str:
    target = request.headers["X-Amz-Target"]
    return target.decode() if isinstance(target, bytes) else str(target)


def _read_body(request: AWSPreparedRequest) -> bytes:
    body = request.body or b""
    return body.encode() if isinstance(body, str) else bytes(body)


class _RawBody(io.BytesIO):
    """A response body that can be streamed, because botocore expects urllib3's."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        while chunk := self.read(65_536):
            yield chunk
