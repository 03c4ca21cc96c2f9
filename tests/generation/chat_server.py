"""A real HTTP server that speaks OpenAI's chat completions, fails over chosen dialogs, and counts requests."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TIME_OUT, CUT = "time-out", "cut"  # never answers; hangs up without a word

Outcome = str | tuple[int, Any]  # TIME_OUT, CUT, or a status and its body: bytes as they are, or else as JSON


@dataclass
class ChatServer:
    url: str = ""
    bad: dict[str, Outcome] = field(default_factory=dict)  # by last turn
    for_all: Outcome | None = None
    choose: Callable[[str, int], Outcome | None] = lambda turn, times: None  # by last turn and how often it was asked
    seconds: float = 0.0  # that a reply takes
    asked: Counter[str] = field(default_factory=Counter)  # requests by last turn
    answered: Counter[str] = field(default_factory=Counter)
    is_over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    state = ChatServer()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            turn = body["messages"][-1]["content"]
            with lock:
                state.asked[turn] += 1
                times = state.asked[turn]
            outcome = state.for_all or state.bad.get(turn) or state.choose(turn, times)
            if outcome == TIME_OUT:
                state.is_over.wait(30)
            if isinstance(outcome, str):
                self.close_connection = True
                return
            time.sleep(state.seconds)
            status, answer = outcome or (200, said(f"I heard {turn}."))
            self._send(status, answer)
            if status == 200:
                with lock:
                    state.answered[turn] += 1

        def _send(self, status: int, answer: Any) -> None:
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.handle_error = lambda *_: None  # type: ignore[method-assign]  # who asked was killed
    threading.Thread(target=http.serve_forever, args=[0.01], daemon=True).start()
    state.url = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield state
    finally:
        state.is_over.set()
        http.shutdown()
        http.server_close()


def said(text: str | None, finish: str = "stop", **fields: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text, **fields}, "finish_reason": finish}]}
