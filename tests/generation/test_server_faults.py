"""A model's server that can't answer some dialogs, or goes away: a fault is its dialog's, and no answer is lost."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from generation.errors import GeneratorUnavailable
from generation.generating import TRY_AGAIN_AFTER, answer_chunk
from generation.loading import Loader
from generation.models import Candidate, GenerationFailure, GenerationRun, Generator
from generation.registering import Registration, register_generator
from generation.run_requests import count_failures, count_run, request_run
from generation.tasks import answer_chunk_of_run
from tests.generation.chat_server import CUT, TIME_OUT, ChatServer, Outcome, chat_server
from tests.generation.scripted_runs import answer, make_dialogs, texts

pytestmark = pytest.mark.django_db

QUICK = {"attempts": 2, "timeout_seconds": 20}
IMPATIENT = {"attempts": 1, "timeout_seconds": 2}  # not so much that a busy machine is taken for a silent server
AWAY = (503, {"error": "overloaded"})
LONG = "a context that is far longer than any other, over which the server stumbles"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def make_model(server: ChatServer, **settings: Any) -> Generator:
    return register_generator(Registration("llama", "openai-compatible", "m", {"url": server.url, **QUICK, **settings}))


def settings_for(fault: Outcome) -> dict[str, Any]:
    return IMPATIENT if fault == TIME_OUT else {}


def generate_here() -> str:
    output = StringIO()
    call_command("generate_candidates", dataset="D", generator="llama", here=True, stdout=output)
    return output.getvalue()


def counts_of(run: GenerationRun) -> tuple[int, int]:
    counts = count_run(run, timezone.now())
    return counts.answered, counts.failed


@pytest.mark.parametrize("fault", [TIME_OUT, CUT, AWAY, (500, {"error": "a bug"})])
def test_one_bad_dialog_of_128_fails_alone_and_no_neighbour_is_asked_twice(server: ChatServer, fault: Outcome) -> None:
    dataset = make_dialogs(LONG, *(f"dialog {number}" for number in range(127)))
    server.bad = {LONG: fault}
    run = request_run(make_model(server, **settings_for(fault)), dataset)

    answer(run)

    assert run.finished_at is not None
    assert (run.outcome, counts_of(run)) == ("", (127, 1))
    assert len(count_failures(run)) == 1
    assert {server.asked[turn] for turn in texts()} == {1}
    assert server.asked[LONG] <= 4  # two attempts of two tries each


@pytest.mark.parametrize("batch_size", [1, 4])
def test_bad_dialogs_at_both_ends_of_every_chunk_fail_alone_in_this_process(
    server: ChatServer, batch_size: int
) -> None:
    """The longest come first: a server that can't take long contexts answers nothing of the first batch."""
    bad = [f"{LONG} {number}" for number in range(6)] + ["?"]
    make_dialogs(*bad, *(f"dialog {number}" for number in range(34)))
    server.bad = dict.fromkeys(bad, AWAY)
    make_model(server, batch_size=batch_size, attempts=1)

    output = generate_here()

    assert "34 of 41 dialogs answered, 7 not (7 " in output
    assert {server.asked[turn] for turn in texts()} == {1}
    assert {server.asked[turn] for turn in bad} == {2}


def test_a_run_of_bad_dialogs_in_a_chunk_of_their_own_ends(server: ChatServer) -> None:
    """Nothing in their chunk tells that the server lives; the next chunk does."""
    bad = [f"{LONG} {number}" for number in range(2)]
    dataset = make_dialogs(*bad, "a", "b", "c")
    server.bad = dict.fromkeys(bad, CUT)
    run = request_run(make_model(server, attempts=1), dataset, chunk_size=2)

    generate_here()

    run.refresh_from_db()
    assert (run.finished_at is not None, run.outcome, counts_of(run)) == (True, "", (3, 2))
    assert {server.asked[turn] for turn in "abc"} == {1}


@pytest.mark.parametrize("fault", [TIME_OUT, CUT, AWAY])
def test_a_server_that_is_down_ends_in_one_line_and_the_same_command_goes_on(
    server: ChatServer, fault: Outcome
) -> None:
    make_dialogs(*(f"dialog {number}" for number in range(130)))
    make_model(server, batch_size=2, **{**settings_for(fault), "attempts": 1})
    server.for_all = fault

    with pytest.raises(CommandError, match=r"^http://\S+ .*\. Answers are saved; the same command continues") as error:
        generate_here()
    assert "\n" not in str(error.value)
    assert sum(server.asked.values()) <= 2 * (2 + 3 + 2)  # of two chunks, so many in a row, and who was under way then
    assert not GenerationFailure.objects.exists()

    server.for_all = None
    assert "130 of 130 dialogs answered." in generate_here()
    assert set(server.answered.values()) == {1}


def test_a_server_that_goes_down_in_the_middle_loses_nothing_that_it_answered(server: ChatServer) -> None:
    dataset = make_dialogs(*(f"dialog {number:02}" for number in range(40)))
    run = request_run(make_model(server, batch_size=2), dataset)
    loader = Loader()

    def go_down_after_ten() -> None:
        if Candidate.objects.count() >= 10:
            server.for_all = AWAY

    with pytest.raises(GeneratorUnavailable, match="overloaded"):
        answer_chunk(run.chunks.get(), loader.get, timezone.now, go_down_after_ten)
    assert server.answered.keys() == texts().keys()
    server.for_all = None
    answer(run, loader)

    assert counts_of(run) == (40, 0)
    assert set(server.answered.values()) == {1}


def test_what_is_answered_is_saved_before_a_slow_neighbour_is(server: ChatServer) -> None:
    run = request_run(make_model(server, batch_size=2, **IMPATIENT), make_dialogs(LONG, *"abcdef"))
    server.bad = {LONG: TIME_OUT}
    saved_while_asking: list[int] = []

    answer_chunk(
        run.chunks.get(),
        Loader().get,
        timezone.now,
        lambda: saved_while_asking.append(GenerationFailure.objects.count()),
    )

    assert saved_while_asking[:6] == [0] * 6  # six replies, before the first time-out was noted


def test_a_message_that_comes_twice_asks_for_nothing_that_is_answered(server: ChatServer) -> None:
    """The second comes while the first is at the chunk, and does the rest of it; the run goes on with another chunk."""
    dataset = make_dialogs("b", *(f"dialog {number:02}" for number in range(12)))
    run = request_run(make_model(server, batch_size=1), dataset, chunk_size=12)
    first, other = run.chunks.select_related("run__generator").order_by("number")

    def come_again() -> None:
        if Candidate.objects.count() == 4:
            answer_chunk(first, Loader().get, timezone.now)

    answer_chunk(run.chunks.get(pk=first.pk), Loader().get, timezone.now, come_again)
    answer_chunk(other, Loader().get, timezone.now)

    assert counts_of(run) == (13, 0)
    assert set(server.asked.values()) == {1}


def test_all_chunks_of_a_run_together_ask_a_server_that_is_away_once_a_minute(server: ChatServer) -> None:
    run = request_run(make_model(server, batch_size=1), make_dialogs(*"abcdefghij"), chunk_size=5)
    server.for_all = AWAY
    first, second = run.chunks.order_by("number")

    with pytest.raises(GeneratorUnavailable):
        answer_chunk(first, Loader().get, timezone.now)
    asked = sum(server.asked.values())
    answer_chunk_of_run.apply([second.pk])  # with all of its retries, one after the other

    run.refresh_from_db()
    assert sum(server.asked.values()) == asked
    assert (run.outcome.startswith("Given up: http://"), counts_of(run)) == (True, (0, 0))
    server.for_all = None
    generate_here()
    assert len(texts()) == 10


def test_a_server_that_was_away_for_ten_minutes_is_given_up_by_whoever_asks_next(server: ChatServer) -> None:
    run = request_run(make_model(server, batch_size=1), make_dialogs("a", "b"))
    long_ago = timezone.now() - 11 * TRY_AGAIN_AFTER
    GenerationRun.objects.update(away_since=long_ago, next_try_at=long_ago)
    server.for_all = AWAY

    answer_chunk_of_run.apply([run.chunks.get().pk])

    run.refresh_from_db()
    assert run.finished_at is not None
    assert run.outcome.startswith("Given up: http://")
