"""Send a simulated worker's requests to our pages: in this process, or over HTTP."""

import io
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.db import transaction
from django.http import HttpResponse

from evalplatform.errors import EvalPlatformError
from hits.crowds.mturk.arrival import IN_THIS_PROCESS

TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Reply:
    status: int
    text: str


class Channel(Protocol):
    @property
    def site(self) -> str:
        """Return the origin of our pages, as the browser sees it."""

    def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Reply: ...

    def whole_stint(self) -> AbstractContextManager[object]:
        """Return a context for everything that a worker does for one HIT, on the marketplace and on our pages."""


class InProcess:
    """Sends requests through all of Django from the middleware on, without a server.

    It does not call WSGIHandler itself, because that closes the database connection at the end, and opening one for
    every request would take longer than the request.
    """

    def __init__(self) -> None:
        self._handler = WSGIHandler()
        self.site = settings.PUBLIC_URL

    def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Reply:
        site, target = urlsplit(self.site), urlsplit(path)
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": target.path,
            "QUERY_STRING": target.query,
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": "application/json",
            "SERVER_NAME": site.hostname,
            "SERVER_PORT": str(site.port or (443 if site.scheme == "https" else 80)),
            "HTTP_HOST": site.netloc,
            "REMOTE_ADDR": "127.0.0.1",
            IN_THIS_PROCESS: True,
            "wsgi.url_scheme": site.scheme,
            "wsgi.input": io.BytesIO(body),
            **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in (headers or {}).items()},
        }
        response = self._handler.get_response(WSGIRequest(environ))
        assert isinstance(response, HttpResponse)
        return Reply(response.status_code, response.content.decode())

    def whole_stint(self) -> AbstractContextManager[object]:
        """Return one transaction for the whole stint. That is much faster, and no other process sees work that began
        and should have ended long ago."""
        return transaction.atomic()


class OverHttp:
    """Sends requests to a running server with the same database, over one connection that stays open."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EvalPlatformError(f"{url} is not the address of a server, such as http://127.0.0.1:8000.")
        self.site = f"{parts.scheme}://{parts.netloc}"
        connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = connect(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)

    def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Reply:
        """Send a request, and once more if the open connection has been closed. Every call of the page may be
        repeated."""
        all_headers = {"Content-Type": "application/json", **(headers or {})}
        try:
            return self._send_once(method, path, body, all_headers)
        except (OSError, HTTPException):
            self._connection.close()
        try:
            return self._send_once(method, path, body, all_headers)
        except (OSError, HTTPException) as error:
            raise EvalPlatformError(f"The server at {self.site} does not answer: {error}.") from error

    def _send_once(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        self._connection.request(method, path, body or None, headers)
        response = self._connection.getresponse()
        return Reply(response.status, response.read().decode())

    def whole_stint(self) -> AbstractContextManager[object]:
        return nullcontext()
