"""Whether people could come by a link: asked of a server as it may stand behind a proxy that passes on too little."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from evalplatform.errors import EvalPlatformError
from hits.models import Offering, OpenLink
from hits.publishing import check_worker_page
from tests.hits.test_links import Visitor, link, offering

__all__ = ["link", "offering"]


class Proxy(ThreadingHTTPServer):
    """Answers with what our server answered before, for the paths that it passes on."""

    passed: tuple[str, ...] = ("/work/", "/join/", "/static/")
    known: dict[str, Any] = {}


class Handler(BaseHTTPRequestHandler):
    server: Proxy

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        answer = self.server.known.get(path)
        if not path.startswith(self.server.passed) or (answer is None and not path.startswith("/static/")):
            self.send_error(404)
            return
        self.send_response(answer.status_code if answer else 200)
        self.send_header("Content-Type", answer["Content-Type"] if answer else "text/javascript")
        if answer:
            self.send_header("Content-Security-Policy", answer["Content-Security-Policy"])
        self.end_headers()
        self.wfile.write(answer.content if answer else b"")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def proxy(offering: Offering, link: OpenLink, settings: Settings) -> Iterator[Proxy]:
    work = f"/work/{offering.study.key}/0/"
    with Proxy(("127.0.0.1", 0), Handler) as server:
        server.known = {
            work: Client().get(f"{work}?look=link"),
            f"/join/{link.key}/": Visitor(link).look(),
            "/join/none/": Client().get("/join/none/"),
        }
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        settings.PUBLIC_URL = f"http://127.0.0.1:{server.server_port}"
        yield server
        server.shutdown()


def check(offering: Offering, proxy: Proxy) -> None:
    check_worker_page(offering, f"http://127.0.0.1:{proxy.server_port}/work")


def test_a_server_that_passes_all_on_is_fine(offering: Offering, proxy: Proxy) -> None:
    check(offering, proxy)
    OpenLink.objects.all().delete()  # as before the study is published
    check(offering, proxy)


@pytest.mark.parametrize(
    ("passed", "told"),
    [
        (("/work/", "/static/"), r"People could not come by .*/join/.*: it answers 404"),
        (("/work/", "/join/"), r"Workers could not work on .*its program at .*worker.* is not there \(404"),
        (("/join/", "/static/"), r"Workers could not work on .*: it answers 404"),
    ],
)
def test_what_a_proxy_does_not_pass_on_is_named(
    offering: Offering, proxy: Proxy, passed: tuple[str, ...], told: str
) -> None:
    proxy.passed = passed

    with pytest.raises(EvalPlatformError, match=told):
        check(offering, proxy)


def test_another_page_at_the_links_address_is_named(offering: Offering, link: OpenLink, proxy: Proxy) -> None:
    proxy.known[f"/join/{link.key}/"] = proxy.known[f"/work/{offering.study.key}/0/"]

    with pytest.raises(EvalPlatformError, match="it is another page than ours"):
        check(offering, proxy)
