"""The kind `openai-compatible` against a real HTTP server that throttles, stumbles, hangs up and answers."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from generation.contexts import Context, Reply
from generation.errors import CheckpointRefused, GeneratorUnavailable, SettingsRefused
from generation.generators.openai_compatible import OpenAICompatibleGenerator


@dataclass
class Server:
    """Answers with what `answers` says, one after the other; the last one for ever. A server may insist on a user's
    first word, and answer only when it is told to."""

    url: str = ""
    answers: list[tuple[int, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    refusal_of_assistants: tuple[int, Any] | None = None  # who begin
    stumbles_over: str = ""  # a turn
    may_answer: threading.Event = field(default_factory=threading.Event)


def said(text: str | None, finish: str = "stop") -> tuple[int, Any]:
    return 200, {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}]}


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()
    state.may_answer.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.requests.append({"path": self.path, **json.loads(body)})
            state.keys.append(self.headers["Authorization"])
            state.may_answer.wait(30)
            first = next(one for one in state.requests[-1]["messages"] if one["role"] != "system")
            if state.refusal_of_assistants and first["role"] == "assistant":
                status, answer = state.refusal_of_assistants
            elif state.stumbles_over and state.requests[-1]["messages"][-1]["content"] == state.stumbles_over:
                status, answer = 500, {"error": "a bug"}
            else:
                status, answer = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            if status == 0:  # hangs up without a word
                self.close_connection = True
                return
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, args=[0.01], daemon=True).start()
    state.url = f"http://127.0.0.1:{http.server_port}/v1"
    yield state
    state.may_answer.set()
    http.shutdown()
    http.server_close()


def ask(server: Server, *turns: str, **settings: Any) -> Reply:
    checked = OpenAICompatibleGenerator.check("gpt-test", {"url": server.url, **settings})
    generator = OpenAICompatibleGenerator("gpt-test", checked, first_wait_seconds=0.001)
    return generator.answer([Context(turns)], [7])[0]


def test_a_dialog_is_asked_as_a_chat_that_ends_with_the_other_ones_turn(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret")
    server.answers = [said(" Congratulations! ")]

    reply = ask(server, "Hi.", "Hello.", "I passed!", system="Be kind.", key_variable="MY_KEY", temperature=0.7)

    assert reply == Reply("Congratulations!")
    request = server.requests[0]
    assert request["path"] == "/v1/chat/completions"
    assert [message["role"] for message in request["messages"]] == ["system", "user", "assistant", "user"]
    assert request["messages"][-1]["content"] == "I passed!"
    assert (request["model"], request["seed"], request["temperature"]) == ("gpt-test", 7, 0.7)
    assert server.keys == ["Bearer s3cret"]


def test_stumbles_are_tried_again(server: Server) -> None:
    server.answers = [(429, {}), (503, {}), (0, None), (500, b"<html>"), said("At last.")]

    assert ask(server, "Hi.") == Reply("At last.")
    assert len(server.requests) == 5
    assert server.keys == [None] * 5


@pytest.mark.parametrize("answer", [(503, {"error": {"message": "overloaded"}}), (0, None)])
def test_a_server_that_stays_away_is_said_to_be_away(server: Server, answer: tuple[int, Any]) -> None:
    server.answers = [answer]

    with pytest.raises(GeneratorUnavailable, match=server.url):
        ask(server, "Hi.", attempts=3)

    assert len(server.requests) == 3


def test_what_is_wrong_for_every_dialog_ends_the_run_in_one_line(server: Server) -> None:
    server.answers = [(401, {"error": {"message": "Wrong\nkey."}})]

    with pytest.raises(CheckpointRefused, match=r"answers with status 401: Wrong key\.$"):
        ask(server, "Hi.")


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (said(""), "empty"),
        (said(None), "empty"),
        (said("and so on and", "length"), "endless"),
        (said("", "content_filter"), "held back by the server's filter"),
        ((200, {"choices": []}), "the server's answer is not understood"),
        ((200, b"<html>"), "the server's answer is not understood"),
        ((200, {"choices": [{"message": {"content": [1]}}]}), "not text"),
    ],
)
def test_what_is_no_reply_says_why(server: Server, answer: tuple[int, Any], failure: str) -> None:
    server.answers = [answer]

    assert ask(server, "Hi.") == Reply("", failure=failure)


def test_a_refusal_of_one_dialog_is_a_failure_of_that_dialog(server: Server) -> None:
    server.answers = [(400, {"error": "no such thing"})]

    assert ask(server, "Hi.").failure == f"{server.url} answers with status 400: no such thing"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "This model's maximum context length is 8 tokens."),
        (400, "request (9 tokens) exceeds the available context size (8 tokens), try increasing it"),
        (500, "Context size has been exceeded."),
        (400, "The decoder prompt (length 9) is longer than the maximum model length of 8."),
        (400, "Requested tokens (9) exceed context window of 8"),
    ],
)
def test_a_context_that_is_too_long_loses_its_oldest_turns(server: Server, status: int, words: str) -> None:
    too_long = (status, {"error": {"message": words}})
    server.answers = [too_long, too_long, said("Yes.")]

    assert ask(server, "One.", "Two.", "Three.") == Reply("Yes.", turns_cut=2)
    assert [message["content"] for message in server.requests[-1]["messages"]] == ["Three."]
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 500])
def test_a_newest_turn_that_is_too_long_alone_is_a_failure_of_its_dialog(server: Server, status: int) -> None:
    server.answers = [(status, {"error": {"message": "Context size has been exceeded."}})]

    reply = ask(server, "One.", "Two.", "Three.")

    assert reply.failure == f"{server.url} answers with status {status}: Context size has been exceeded."


@pytest.mark.parametrize("status", [400, 500])
def test_a_server_that_insists_on_a_first_user_is_given_an_empty_turn(server: Server, status: int) -> None:
    words = "Conversation roles must alternate user/assistant/user/assistant/..."
    server.refusal_of_assistants = (status, {"error": {"message": words}})
    server.answers = [said("Yes.")]

    reply = ask(server, "One.", "Two.", system="Be kind.")

    assert reply == Reply("Yes.")
    messages = [(message["role"], message["content"]) for message in server.requests[-1]["messages"]]
    assert messages == [("system", "Be kind."), ("user", ""), ("assistant", "One."), ("user", "Two.")]


def test_a_server_that_insists_on_a_first_user_is_not_asked_for_anything_else_again(server: Server) -> None:
    server.refusal_of_assistants = (400, {"error": {"message": "The first message must use the user role."}})
    server.answers = [said("Yes.")]
    generator = OpenAICompatibleGenerator("m", OpenAICompatibleGenerator.check("m", {"url": server.url}))

    for _ in range(3):
        generator.answer([Context(("One.", "Two."))], [7])

    assert len(server.requests) == 4


def test_trying_again_keeps_to_the_rate_as_well(server: Server) -> None:
    server.answers = [(429, {}), (503, {}), (0, None), said("At last.")]
    began = time.monotonic()

    ask(server, "Hi.", requests_per_minute=600)

    assert len(server.requests) == 4
    assert time.monotonic() - began >= 0.3  # three gaps of a tenth


def test_a_batch_keeps_to_the_rate(server: Server) -> None:
    server.answers = [said("Yes.")]
    checked = OpenAICompatibleGenerator.check("m", {"url": server.url, "requests_per_minute": 600})
    began = time.monotonic()

    OpenAICompatibleGenerator("m", checked).answer([Context(("Hi.",))] * 4, [1, 2, 3, 4])

    assert time.monotonic() - began >= 0.3


def test_a_server_that_takes_too_long_is_said_to_be_away(server: Server) -> None:
    server.answers = [said("Much later.")]
    server.may_answer.clear()

    with pytest.raises(GeneratorUnavailable, match=r"does not answer: ReadTimeoutError"):
        ask(server, "Hi.", timeout_seconds=0.05, attempts=2)


def test_a_batch_is_asked_at_once_and_answered_in_order(server: Server) -> None:
    server.answers = [said("Yes.")]
    checked = OpenAICompatibleGenerator.check("m", {"url": server.url, "requests_per_minute": 60_000})

    replies = OpenAICompatibleGenerator("m", checked).answer([Context((f"{n}",)) for n in range(8)], list(range(8)))

    assert replies == [Reply("Yes.")] * 8
    assert {(request["messages"][0]["content"], request["seed"]) for request in server.requests} == {
        (f"{n}", n) for n in range(8)
    }


def test_answers_come_one_by_one_and_a_stumble_is_that_of_one_dialog(server: Server) -> None:
    server.answers = [said("Yes.")]
    settings = {"url": server.url, "attempts": 2, "requests_per_minute": 600}
    generator = OpenAICompatibleGenerator("m", OpenAICompatibleGenerator.check("m", settings), 0.001)
    server.stumbles_over = "Oops."
    questions = iter([(Context(("Hi.",)), 1), (Context(("Oops.",)), 2), (Context(("Ho.",)), 3)])

    answers = dict(found for found in generator.answer_each(questions, 2) if found is not None)

    assert (answers[0], answers[2]) == (Reply("Yes."), Reply("Yes."))
    assert isinstance(answers[1], GeneratorUnavailable)
    assert str(answers[1]) == f"{server.url} answers with status 500: a bug"


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(CheckpointRefused, match="the model's name"):
        OpenAICompatibleGenerator.check("", {"url": "http://127.0.0.1/v1"})
    with pytest.raises(SettingsRefused, match="not a server's address"):
        OpenAICompatibleGenerator.check("m", {"url": "ftp://127.0.0.1/v1"})
    with pytest.raises(SettingsRefused, match="'url'"):
        OpenAICompatibleGenerator.check("m", {})
