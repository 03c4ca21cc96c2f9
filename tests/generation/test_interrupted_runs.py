"""Runs that are paused, whose servers go away, and whose workers are killed: nothing is lost, and each run ends."""

from datetime import timedelta

import pytest
from django.utils import timezone

from generation.errors import GeneratorUnavailable
from generation.generating import MOST_STARTS, answer_chunk, give_up
from generation.loading import Loader
from generation.models import GenerationChunk, GenerationFailure, GenerationRun
from generation.run_requests import cancel_run, count_failures, pause_run, request_run, resume_run
from tests.generation.scripted_runs import (
    answer,
    leave_as_a_worker_killed_at_the_end,
    make_dialogs,
    make_generator,
    texts,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scripted_kind")]


def test_a_paused_run_does_nothing_until_it_is_resumed_and_a_cancelled_one_never() -> None:
    dataset = make_dialogs("a", "b")
    generator = make_generator()
    run = request_run(generator, dataset, chunk_size=1)
    pause_run(run, timezone.now())

    answer(run)
    assert texts() == {}
    resume_run(run, timezone.now())
    chunk = GenerationChunk.objects.get(number=0)
    assert answer_chunk(chunk, Loader().get, timezone.now)
    cancel_run(run, timezone.now())
    answer(run)

    assert texts().keys() == {"a"}
    assert run.cancelled_at is not None
    answer(request_run(generator, dataset))
    assert texts().keys() == {"a", "b"}


def test_a_server_that_is_away_is_asked_again_later_and_the_run_says_so() -> None:
    run = request_run(make_generator(), make_dialogs("be away"))

    with pytest.raises(GeneratorUnavailable):
        answer(run)

    run.refresh_from_db()
    assert run.finished_at is None
    assert run.outcome == "The server does not answer."
    assert run.away_since is not None


def test_a_server_that_goes_away_in_the_middle_does_not_count_against_the_chunk() -> None:
    run = request_run(make_generator(batch_size=1), make_dialogs("the first and longest", "be away"))

    for _ in range(2):
        with pytest.raises(GeneratorUnavailable):
            answer(run)

    assert texts().keys() == {"the first and longest"}
    assert run.chunks.get().starts == 0


def test_a_dialog_over_which_a_batchs_server_is_silent_fails_alone() -> None:
    """Also of a kind that answers batches: it is asked for each alone to find out."""
    away = ["be away as the longest", "be away, too"]
    run = request_run(make_generator(batch_size=4), make_dialogs(*away, "be away", *"abcdefgh"))

    answer(run)

    assert texts().keys() == set("abcdefgh")
    assert count_failures(run) == {"The server does not answer.": 3}
    assert (run.finished_at is not None, run.outcome) == (True, "")


@pytest.mark.parametrize(("since_seconds", "outcome"), [(60, ""), (0, "Given up: It is away.")])
def test_a_chunk_is_given_up_alone_if_its_run_was_answered_since_and_else_the_run(
    since_seconds: int, outcome: str
) -> None:
    run = request_run(make_generator(), make_dialogs("a", "b"), chunk_size=1)
    first, second = run.chunks.order_by("number")
    answer_chunk(first, Loader().get, timezone.now)

    since = timezone.now() - timedelta(seconds=since_seconds)
    give_up(second, GeneratorUnavailable("It is away."), since, timezone.now())

    run.refresh_from_db()
    assert run.finished_at is not None
    assert run.outcome == outcome
    assert count_failures(run) == ({} if outcome else {"It is away.": 1})


def test_a_chunk_that_ends_every_process_is_given_up() -> None:
    run = request_run(make_generator(), make_dialogs("a", "b"))
    GenerationChunk.objects.update(starts=MOST_STARTS)

    answer(run)

    assert run.finished_at is not None
    assert count_failures(run) == {f"its background processes ended {MOST_STARTS} times without an answer": 2}


def test_a_run_whose_last_worker_was_killed_at_its_very_end_is_finished_by_the_next_message() -> None:
    run = request_run(make_generator(), make_dialogs("a"))
    leave_as_a_worker_killed_at_the_end(run)

    answer_chunk(run.chunks.get(), Loader().get, timezone.now)

    run.refresh_from_db()
    assert run.finished_at is not None


def test_a_run_with_nothing_left_is_finished_when_it_is_resumed() -> None:
    run = request_run(make_generator(), make_dialogs("a"))
    leave_as_a_worker_killed_at_the_end(run)

    resume_run(run, timezone.now())

    run.refresh_from_db()
    assert run.finished_at is not None


def test_a_run_that_was_done_but_not_said_to_be_stands_in_nobodys_way() -> None:
    dataset, generator = make_dialogs("a"), make_generator()
    run = request_run(generator, dataset)
    leave_as_a_worker_killed_at_the_end(run)
    make_dialogs("b")

    assert request_run(generator, dataset).pk != run.pk

    run.refresh_from_db()
    assert run.finished_at is not None


def test_two_at_the_same_chunk_leave_one_candidate_each() -> None:
    """The second was sent the chunk as it was before the first began: a double delivery at its worst."""
    run = request_run(make_generator(), make_dialogs("a", "be empty"))
    stale = GenerationChunk.objects.select_related("run__generator").get()
    answer(run)
    GenerationRun.objects.update(finished_at=None)

    answer_chunk(stale, Loader().get, timezone.now)

    assert texts().keys() == {"a"}
    assert GenerationFailure.objects.count() == 2
