"""A server in production mode, as strangers on the internet meet it: gunicorn, PostgreSQL, all safety switches on."""

import contextlib
import http.client
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.processes import ROOT, as_a_user_has_it, manage, wait_until
from tests.servers import postgresql

HOST = "eval.example.org"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str
    all_cookies: str  # there may be several, and a mapping has one header of a name


@dataclass(frozen=True)
class ProductionServer:
    port: int
    environment: dict[str, str]

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """As the proxy in front passes a stranger's request on."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        always = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
        connection.request(method, path, body, {**always, **(headers or {})})
        response = connection.getresponse()
        cookies = "; ".join(response.headers.get_all("Set-Cookie") or [])
        reply = Reply(response.status, dict(response.headers), response.read().decode(errors="replace"), cookies)
        connection.close()
        return reply


@contextlib.contextmanager
def production_environment(folder: Path, **more: str) -> Iterator[dict[str, str]]:
    """What the server's administrator has set, with an empty database."""
    name = f"doors_{uuid.uuid4().hex[:12]}"
    with postgresql() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        base, _, query = url.partition("?")
        yield {
            "SERVER_MODE": "production",
            "SECRET_KEY": "x4Kq_7" * 20,
            "ALLOWED_HOSTS": HOST,
            "PUBLIC_URL": f"https://{HOST}",
            "DATABASE_URL": f"{base.rpartition('/')[0]}/{name}?{query}",
            "BROKER_URL": "redis://127.0.0.1:1/0",  # nobody listens there
            "BEHIND_HTTPS_PROXY": "true",
            "VAR_DIR": str(folder),
            "LOG_LEVEL": "ERROR",
            **more,
        }


@contextlib.contextmanager
def serve(environment: dict[str, str], is_prepared: bool = False) -> Iterator[ProductionServer]:
    for command in () if is_prepared else (["migrate", "-v0"], ["collectstatic", "--noinput", "-v0"]):
        done = manage(*command, **environment)
        assert done.returncode == 0, done.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "2", "evalplatform.wsgi"]
    process = subprocess.Popen(
        [*command, "--log-level", "warning"], cwd=ROOT, env={**as_a_user_has_it(), **environment}
    )
    server = ProductionServer(port, environment)
    try:
        wait_until(lambda: process.poll() is not None or _answers(server), "an answer of the server")
        yield server
    finally:
        process.terminate()
        process.wait()


def _answers(server: ProductionServer) -> bool:
    try:
        return server.ask("/login/").status == 200
    except OSError:
        return False
