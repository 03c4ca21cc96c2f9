"""A model's server that lies, drips, floods or echoes the key: a run ends all the same, and nothing is given away."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from generation.contexts import Context
from generation.errors import CheckpointRefused, GeneratorUnavailable
from generation.generators.openai_compatible import OpenAICompatibleGenerator

Attack = Callable[[BaseHTTPRequestHandler], None]
Serve = Callable[[Attack], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that answers every request with an attack; its address."""
    servers: list[ThreadingHTTPServer] = []

    def serve(attack: Attack) -> str:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.close_connection = True
                attack(self)

            def log_message(self, *_: object) -> None:
                pass

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        http.daemon_threads = True
        http.handle_error = lambda *_: None  # type: ignore[method-assign]
        threading.Thread(target=http.serve_forever, args=[0.01], daemon=True).start()
        servers.append(http)
        return f"http://127.0.0.1:{http.server_port}/v1"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def ask(url: str) -> str:
    """What comes of it, in one line."""
    settings = OpenAICompatibleGenerator.check("m", {"url": url, "timeout_seconds": 0.3, "attempts": 2})
    generator = OpenAICompatibleGenerator("m", settings, first_wait_seconds=0.001)
    try:
        [reply] = generator.answer([Context(("Hi.",))], [7])
    except (GeneratorUnavailable, CheckpointRefused) as refused:
        return str(refused)
    return reply.failure or reply.text


def begin(handler: BaseHTTPRequestHandler, status: int, length: int, **headers: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(length))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def test_an_answer_that_comes_in_drops_is_given_up(serve: Serve) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, 200, 1_000_000)
        while True:
            handler.wfile.write(b" ")
            time.sleep(0.05)

    began = time.monotonic()

    assert ask(serve(drip)).endswith("does not answer: AnswerTooSlow")
    assert time.monotonic() - began < 5


def test_an_answer_without_end_does_not_fill_the_memory(serve: Serve) -> None:
    def flood(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, 200, 10**12)
        while True:
            handler.wfile.write(b" " * 1_000_000)

    assert ask(serve(flood)).endswith("does not answer: AnswerTooLong")


def test_an_answer_that_is_cut_is_no_reply(serve: Serve) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, 200, 1000)
        handler.wfile.write(json.dumps({"choices": [{"message": {"content": "Yes."}}]}).encode())

    assert "does not answer" in ask(serve(cut))


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b"[]", b"null", b'"Yes."', b'{"choices": {}}', b'{"choices": [{"message": []}]}']
)
def test_nonsense_is_a_failure_of_its_dialog(serve: Serve, body: bytes) -> None:
    def nonsense(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, 200, len(body))
        handler.wfile.write(body)

    assert ask(serve(nonsense)) == "the server's answer is not understood"


def test_nobody_is_sent_elsewhere_with_the_key(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[str | None] = []

    def note(handler: BaseHTTPRequestHandler) -> None:
        keys.append(handler.headers["Authorization"])
        begin(handler, 200, 0)

    elsewhere = serve(note)

    def send_on(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, 307, 0, Location=f"{elsewhere}/chat/completions")

    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")

    assert "answers with status 307" in ask(serve(send_on))
    assert keys == []


@pytest.mark.parametrize("status", [401, 200])
def test_a_server_that_echoes_the_key_does_not_get_it_stored(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    def echo(handler: BaseHTTPRequestHandler) -> None:
        body = json.dumps({"error": {"message": f"Wrong: {handler.headers['Authorization']}"}}).encode()
        begin(handler, status, len(body))
        handler.wfile.write(body)

    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")

    told = ask(serve(echo))

    assert "s3cret" not in told
    assert "Wrong: Bearer (the key)" in told


def test_a_wait_that_makes_no_sense_is_not_heeded(serve: Serve) -> None:
    asked: list[float] = []

    def put_off(handler: BaseHTTPRequestHandler) -> None:
        asked.append(time.monotonic())
        begin(handler, 503, 0, Retry_After="-5" if len(asked) == 1 else "nonsense")

    assert "answers with status 503" in ask(serve(put_off))
    assert len(asked) == 2
