"""A model's server that stumbles and lies at random over hundreds of dialogs: nothing answered is asked again, the run
ends, and each fault is of its dialog."""

import random
from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from generation.models import Candidate, GenerationFailure, GenerationRun
from generation.registering import Registration, register_generator
from generation.run_requests import request_run, undone_chunks
from generation.tasks import answer_chunk_of_run
from tests.generation.chat_server import CUT, TIME_OUT, ChatServer, Outcome, chat_server, said
from tests.generation.scripted_runs import answer, make_dialogs, make_generator, texts

pytestmark = pytest.mark.django_db

LIES: list[Outcome] = [
    CUT,
    (503, {"error": "overloaded"}),
    (500, b"<html>oops</html>"),
    (200, said("Yes\0 indeed.")),
    (200, said("half a surrogate \ud800")),
    (200, said("")),
    (200, {"choices": []}),
    (200, {"choices": None}),
    (200, b'{"choices": [{'),
    (200, b"\xff\xfe"),
    (200, {"error": {"message": "The model is overloaded.", "code": 503}}),
    (200, said("<think>What do they want?")),
    (400, {"error": {"message": "half a surrogate \ud800"}}),
    (200, {"error": {"message": "nul \0 and half a surrogate \udfff"}}),
    (422, {"error": {"message": "nul \0"}, "\ud800": "\ud800"}),
    (200, said("", reasoning_content="half \ud800 a thought")),
]
STUMBLES: list[Outcome] = [CUT, (503, {"error": "overloaded"}), (429, {"error": "slow down"}), (502, b"")]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def here() -> None:
    call_command("generate_candidates", dataset="D", generator="liar", here=True, stdout=StringIO())


def on_a_worker() -> None:
    run = GenerationRun.objects.get()
    for chunk in undone_chunks(run):
        answer_chunk_of_run.apply([chunk])


@pytest.mark.parametrize(("carry_out", "seed"), [(here, 1), (on_a_worker, 2)])
def test_a_server_that_lies_at_random_costs_no_answer_and_no_neighbour(
    server: ChatServer, carry_out: Callable[[], None], seed: int
) -> None:
    chance = random.Random(seed)
    names = [f"dialog {number:03}" for number in range(300)]
    bad = {name: LIES[number % len(LIES)] for number, name in enumerate(chance.sample(names, 60))}
    server.bad = {**bad, chance.choice(sorted(set(names) - set(bad))): TIME_OUT}
    # The others stumble, and are answered when asked again.
    stumbling = {name: chance.choice(STUMBLES) for name in names if chance.random() < 0.3}
    server.choose = lambda turn, times: stumbling.get(turn) if times == 1 else None
    settings = {"url": server.url, "attempts": 2, "timeout_seconds": 2, "batch_size": 16}
    run = request_run(
        register_generator(Registration("liar", "openai-compatible", "m", settings)), make_dialogs(*names)
    )

    carry_out()

    run.refresh_from_db()
    good = set(names) - set(server.bad)
    assert (run.finished_at is not None, run.outcome) == (True, "")
    assert texts() == {name: f"I heard {name}." for name in good}
    assert {server.answered[name] for name in good} == {1}
    assert {name: server.asked[name] for name in good} == {name: 1 + (name in stumbling) for name in good}
    failed = GenerationFailure.objects.values_list("dialog__external_id", "attempt")
    assert sorted(failed) == sorted((name, attempt) for name in server.bad for attempt in (1, 2))
    assert max(server.asked[name] for name in server.bad) <= 4  # two attempts of two tries each
    told = set(GenerationFailure.objects.values_list("reason", flat=True))
    assert "the server answers with an error: The model is overloaded." in told
    asked = sum(server.asked.values())
    server.bad = {}

    here()

    assert sum(server.asked.values()) == asked + 61  # a new run asks for those that failed, and for nothing else
    assert Candidate.objects.count() == 300


@pytest.mark.parametrize("words", ["half \ud800", "nul \0 here"])
@pytest.mark.parametrize("status", [401, 503])
def test_odd_characters_in_a_refusal_of_everything_end_the_run_in_words(
    server: ChatServer, words: str, status: int
) -> None:
    server.for_all = (status, {"error": {"message": words}})
    settings = {"url": server.url, "attempts": 1, "timeout_seconds": 2}
    request_run(register_generator(Registration("liar", "openai-compatible", "m", settings)), make_dialogs("a", "b"))

    with pytest.raises(CommandError, match=words.split()[0]):
        here()

    assert words.split()[0] in GenerationRun.objects.get().outcome


def test_thoughts_with_odd_characters_are_kept_beside_a_good_reply(server: ChatServer) -> None:
    server.for_all = (200, said("Oh no!", reasoning_content="Be \ud800 kind.\0"))
    settings = {"url": server.url, "attempts": 1, "timeout_seconds": 2}
    request_run(register_generator(Registration("liar", "openai-compatible", "m", settings)), make_dialogs("a"))

    here()

    assert list(Candidate.objects.values_list("text", "thoughts")) == [("Oh no!", "Be \ufffd kind.\ufffd")]


def test_an_answer_that_can_t_be_saved_sinks_no_neighbour(scripted_kind: None) -> None:
    run = request_run(make_generator(batch_size=4), make_dialogs("one", "two", "be unstorable", "three"))

    answer(run)

    assert run.finished_at is not None
    assert sorted(texts()) == ["one", "three", "two"]
    failed = GenerationFailure.objects.values_list("dialog__external_id", "attempt")
    assert sorted(failed) == [("be unstorable", 1), ("be unstorable", 2)]
    assert "can't be saved" in GenerationFailure.objects.all()[0].reason
