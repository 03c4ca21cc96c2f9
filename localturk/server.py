"""Serve the marketplace over HTTP, for any boto3 code that has it as endpoint_url.

Calls must be signed with the keys in the settings. If none are set, any signature will do, and the command serves this
machine only.
"""

import socket
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.db import connection, connections

from localturk.errors import ConnectionDropped
from localturk.requester_api import Response, handle_call, operation_of
from localturk.signatures import Call

MOST_BYTES = 1_000_000


class MarketplaceServer(ThreadingHTTPServer):
    """Has a thread for each connection, because botocore's connections stay open and must not block others."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, tell: Callable[[str], object] | None = None) -> None:
        """`tell` is called with a line for every call before it is answered: the operation and the HTTP status."""
        super().__init__((host, port), RequestHandler)
        self.tell = tell

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore lost connections: a client that was killed is not our error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class RequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: MarketplaceServer
    wbufsize = -1  # send head and body in one packet; otherwise botocore waits 40 ms for the second one

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if self.path != "/" or length > MOST_BYTES:
            self.close_connection = True
            self._send((404, {}, b""))
            return
        body = self.rfile.read(length)
        operation = operation_of(self.headers.get("X-Amz-Target"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            response = handle_call(Call(self.path, headers, body))
            self._tell(f"{operation} {response[0]}")
            self._send(response)
        except ConnectionDropped:
            self._tell(f"{operation} dropped")
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        finally:
            _give_connection_back()

    def finish(self) -> None:
        super().finish()
        connections.close_all()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because there are hundreds of calls a minute."""

    def _tell(self, line: str) -> None:
        if self.server.tell:
            self.server.tell(line)

    def _send(self, response: Response) -> None:
        status, headers, body = response
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


def _give_connection_back() -> None:
    """Give the database connection back to the pool, which may be smaller than the number of clients. SQLite has no
    pool, and opening it is slow."""
    if connection.vendor != "sqlite":
        connection.close()
