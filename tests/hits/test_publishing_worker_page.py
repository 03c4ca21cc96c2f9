"""Whether workers could open our page: asked of a real HTTPS server, as it may stand behind a proxy that spoils it."""

import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import trustme
from django.test import Client

from evalplatform.errors import EvalPlatformError
from hits.models import Study, offering_for
from hits.publishing import check_worker_page

HOST = "127.0.0.2"
Headers = dict[str, str]


class Server(HTTPServer):
    status = 200
    headers: Headers = {}

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.server_port}/work"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        is_preview = self.path.endswith("/0/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
        self.send_response(self.server.status if is_preview else 200)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Makes certificates that only these tests believe in."""
    return trustme.CA()


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[Server]:
    server = Server((HOST, 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def trusted(authority: trustme.CA, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with authority.cert_pem.tempfile() as file:
        monkeypatch.setenv("SSL_CERT_FILE", file)
        yield


def framed_by(*sources: str) -> Headers:
    return {"Content-Security-Policy": f"default-src 'self'; frame-ancestors {' '.join(sources)}; base-uri 'none'"}


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    "sources",
    [
        ("https://workersandbox.mturk.com",),
        ("'self'", "https://worker.mturk.com", "https://workersandbox.mturk.com/"),
        ("https://*.mturk.com",),
        ("workersandbox.mturk.com:443",),
        ("https:",),
    ],
)
def test_a_page_that_the_marketplace_may_frame_is_fine(
    bare_study: Study, server: Server, sources: tuple[str, ...]
) -> None:
    server.headers = framed_by(*sources)

    check_worker_page(offering_for(bare_study, "sandbox"), server.url)


@pytest.mark.usefixtures("trusted")
def test_our_own_page_is_fine(demo_study: Study, server: Server, client: Client) -> None:
    page = client.get(f"/work/{demo_study.key}/0/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    server.headers = dict(page.headers)
    server.status = page.status_code

    check_worker_page(offering_for(demo_study, "sandbox"), server.url)
    check_worker_page(offering_for(demo_study, "production"), server.url)


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        (200, {}, "names no frame-ancestors"),
        (200, framed_by("'none'"), "allows frames by 'none' and not by https://workersandbox.mturk.com"),
        (200, framed_by(), "allows frames by nobody"),
        (200, framed_by("https://worker.mturk.com", "https://mturk.com", "ftp://*.mturk.com"), "and not by"),
        (200, {"Content-Security-Policy": "frame-ancestors https:, frame-ancestors 'self'"}, "by 'self' and not"),
        (200, {**framed_by("https:"), "X-Frame-Options": "SAMEORIGIN"}, "X-Frame-Options: SAMEORIGIN, which forbids"),
        (404, {}, "it answers 404 Not Found. Is PUBLIC_URL this server's address"),
        (302, {"Location": "/login/"}, "it redirects to https://127.0.0.2"),
    ],
)
def test_what_would_keep_workers_out_is_named(
    bare_study: Study, server: Server, status: int, headers: Headers, message: str
) -> None:
    server.status, server.headers = status, headers

    with pytest.raises(EvalPlatformError) as refused:
        check_worker_page(offering_for(bare_study, "sandbox"), server.url)

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_certificate_that_nobody_trusts_and_a_server_that_is_not_there(bare_study: Study, server: Server) -> None:
    with pytest.raises(EvalPlatformError, match="its certificate is not valid"):
        check_worker_page(offering_for(bare_study, "sandbox"), server.url)
    with pytest.raises(EvalPlatformError, match="it can't be reached"):
        check_worker_page(offering_for(bare_study, "sandbox"), "https://127.0.0.2:9/work")
