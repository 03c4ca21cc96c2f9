"""Serve the API over HTTP in a process of its own, for any client that can be told another address than Prolific's."""

import json
import socket
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.db import connection, connections

from localprolific.api_calls import Response, handle
from localprolific.errors import AnswerLost
from localprolific.hook_sending import send_soon
from localprolific.signed_links import key_set

MOST_BYTES = 1_000_000
KEYS = "/.well-known/study/jwks.json"


class ProlificServer(ThreadingHTTPServer):
    """Has a thread for each connection, because clients keep theirs open."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, tell: Callable[[str], object] | None = None) -> None:
        """`tell` is called with a line for every call: method, path and HTTP status."""
        super().__init__((host, port), ApiHandler)
        self.tell = tell

    def service_actions(self) -> None:
        """Look twice a second for webhooks that are due."""
        send_soon()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore lost connections: a client that was killed is not our error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class ApiHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ProlificServer
    wbufsize = -1  # send head and body in one packet; otherwise clients wait 40 ms for the second one

    def do_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_BYTES:
            self.close_connection = True
            self._send(Response(413, {}, b""))
            return
        body = self.rfile.read(length)
        try:
            answer = self._answer(body)
            self._tell(str(answer.status))
            self._send(answer)
        except AnswerLost:
            self._tell("lost")
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        finally:
            _give_connection_back()

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = do_any

    def _answer(self, body: bytes) -> Response:
        if self.path == KEYS:
            headers = {"Content-Type": "application/json", "Cache-Control": "max-age=86400"}
            return Response(200, headers, json.dumps(key_set()).encode())
        base_url = f"http://{self.headers.get('Host', 'localhost')}"
        return handle(self.command, self.path, body, dict(self.headers.items()), base_url=base_url)

    def finish(self) -> None:
        super().finish()
        connections.close_all()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because there are hundreds of calls a minute."""

    def _tell(self, outcome: str) -> None:
        if self.server.tell:
            self.server.tell(f"{self.command} {self.path} {outcome}")

    def _send(self, answer: Response) -> None:
        self.send_response(answer.status)
        headers = dict(answer.headers)
        if answer.status != 204:
            headers["Content-Length"] = str(len(answer.body))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)
        self.wfile.flush()


def _give_connection_back() -> None:
    """Give the database connection back to the pool, which may be smaller than the number of clients. SQLite has no
    pool, and opening it is slow."""
    if connection.vendor != "sqlite":
        connection.close()
