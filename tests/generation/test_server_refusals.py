"""What a model's server refuses: one dialog, or, for its request or the account, every one; and what is sent to it."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from generation.contexts import Context
from generation.errors import SettingsRefused
from generation.generators.openai_compatible import OpenAICompatibleGenerator
from generation.models import GenerationFailure, GenerationRun
from generation.registering import Registration, register_generator
from tests.generation.chat_server import ChatServer, chat_server
from tests.generation.scripted_runs import make_dialogs, texts

AT_ONCE = 4


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def generate(server: ChatServer) -> str:
    settings = {"url": server.url, "batch_size": AT_ONCE, "attempts": 3}
    register_generator(Registration("llama", "openai-compatible", "m", settings))
    output = StringIO()
    call_command("generate_candidates", dataset="D", generator="llama", here=True, stdout=output)
    return output.getvalue()


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


UNSUPPORTED = "Unsupported parameter: 'max_tokens' is not supported with this model."


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error(UNSUPPORTED, code="unsupported_parameter", param="max_tokens", type="invalid_request_error")),
        (400, error("'temperature' does not support 0 with this model.", param="temperature")),
        (400, {"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed')}]", "code": 400}),
        (400, error("Your credit balance is too low to access the API.")),
        (422, error("Extra inputs are not permitted")),
        (401, error("Wrong key.")),
        (402, error("Insufficient Balance")),
        (403, error("Your country is not served.")),
        (404, error("The model `m` does not exist.", code="model_not_found")),
        (429, error("You exceeded your current quota, please check your plan.", code="insufficient_quota")),
    ],
)
def test_a_refusal_of_the_request_or_the_account_ends_the_run_in_one_line(
    server: ChatServer, status: int, body: dict[str, Any]
) -> None:
    make_dialogs(*(f"dialog {number}" for number in range(40)))
    server.for_all = (status, body)

    with pytest.raises(CommandError, match=rf"^http://\S+ answers with status {status}: \S") as ended:
        generate(server)

    assert "\n" not in str(ended.value)
    assert sum(server.asked.values()) <= AT_ONCE
    assert GenerationRun.objects.get().finished_at is not None
    assert not GenerationFailure.objects.exists()
    if status in (400, 422):
        assert "`sends`" in str(ended.value)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error("The response was filtered.", code="content_filter")),
        (403, error("Your input was flagged by moderation.")),
        (400, error("This model's maximum context length is 8 tokens.", param="messages")),
        (400, error("no such thing")),
        (413, error("too many tokens in the request")),
    ],
)
def test_a_refusal_of_one_dialog_stays_that_dialogs(server: ChatServer, status: int, body: dict[str, Any]) -> None:
    make_dialogs("a dialog that is refused", *(f"dialog {number}" for number in range(20)))
    server.bad = {"a dialog that is refused": (status, body)}

    output = generate(server)

    assert "20 of 21 dialogs answered, 1 not (1 http://" in output
    assert {server.asked[turn] for turn in texts()} == {1}
    assert server.asked["a dialog that is refused"] == 2


@pytest.mark.django_db
def test_what_is_answered_when_the_credit_runs_out_is_saved_and_gone_on_with(server: ChatServer) -> None:
    make_dialogs(*(f"dialog {number:02}" for number in range(30)))
    no_credit = (429, error("You exceeded your current quota.", code="insufficient_quota"))
    server.bad = {f"dialog {number:02}": no_credit for number in range(10, 30)}

    with pytest.raises(CommandError, match="exceeded your current quota"):
        generate(server)
    assert server.answered.keys() == texts().keys()
    assert len(texts()) >= 8
    server.bad = {}
    generate(server)

    assert len(texts()) == 30
    assert set(server.answered.values()) == {1}


@pytest.mark.django_db
def test_a_refusal_without_a_reason_of_every_dialog_is_said_once(server: ChatServer) -> None:
    make_dialogs(*(f"dialog {number}" for number in range(60)))
    server.for_all = (400, error("Bad Request"))

    with pytest.raises(CommandError, match=r"status 400: Bad Request\. It gives this answer to every dialog\.$"):
        generate(server)

    assert sum(server.asked.values()) <= 5 + AT_ONCE


def request_with(**settings: Any) -> dict[str, Any]:
    checked = OpenAICompatibleGenerator.check("m", {"url": "http://127.0.0.1/v1", **settings})
    return OpenAICompatibleGenerator("m", checked)._make_body(Context(("Hi.",)).turns, 7)


def test_what_is_sent_is_a_setting() -> None:
    usual = request_with(temperature=0.5)
    reasoning = request_with(sends=["max_completion_tokens"], max_tokens=900, extra={"reasoning_effort": "low"})

    assert usual.keys() == {"model", "messages", "max_tokens", "temperature", "top_p", "seed"}
    assert reasoning == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi."}],
        "max_completion_tokens": 900,
        "reasoning_effort": "low",
    }


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sends": ["max_tokens", "max_completion_tokens"]}, "either max_tokens or max_completion_tokens"),
        ({"sends": ["logprobs"]}, "'sends.0' can't be 'logprobs'"),
        ({"extra": {"messages": []}}, "messages can't be set"),
        ({"sends": [], "temperature": 0.7}, "^Temperature is set, but `sends` does not name it"),
    ],
)
def test_settings_of_what_is_sent_are_checked(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsRefused, match=words):
        request_with(**settings)
