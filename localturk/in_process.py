"""The marketplace behind a boto3 client without any network."""

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
    """From now on the client's requests are answered here. They are signed and parsed as any other."""
    time = clock or Clock()

    def answer(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        try:
            status, headers, body = handle(operation_of(_target(request)), _body(request), time.now())
        except ConnectionDropped as error:
            # What botocore makes of a closed connection, so that its retries do what they would do with one.
            raise ConnectionClosedError(endpoint_url=request.url, error=error) from error
        finally:
            _give_connection_back()
        return AWSResponse(request.url, status, headers, _RawBody(body))

    boto_client.meta.events.register("before-send.mturk.*", answer)


def _give_connection_back() -> None:
    """A caller's own threads would each keep a database connection, and so empty the pool."""
    if threading.current_thread() is not threading.main_thread() and not connection.in_atomic_block:
        connection.close()


def _target(request: AWSPreparedRequest) -> str:
    target = request.headers["X-Amz-Target"]
    return target.decode() if isinstance(target, bytes) else str(target)


def _body(request: AWSPreparedRequest) -> bytes:
    body = request.body or b""
    return body.encode() if isinstance(body, str) else bytes(body)


class _RawBody(io.BytesIO):
    """botocore reads a response as urllib3 streams it."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        while chunk := self.read(65_536):
            yield chunk
