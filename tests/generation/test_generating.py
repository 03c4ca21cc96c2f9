"""A generator answers what it has not answered: once, in chunks; what it can't answer is said with its reason."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from generation.corpora.lines import Problem
from generation.generating import MOST_STARTS, answer_chunk, give_up, seed_of
from generation.generators.base import CheckpointRefused, GeneratorUnavailable
from generation.importing import ImportOptions, import_candidates
from generation.loading import MOST_KEPT, Loader
from generation.models import (
    Candidate,
    Dataset,
    Dialog,
    GenerationChunk,
    GenerationFailure,
    GenerationRun,
    Generator,
    context_key,
)
from generation.registering import Registration, register_generator
from generation.requesting import (
    NothingToAnswer,
    cancel_run,
    count_failures,
    count_run,
    failed_dialogs,
    pause_run,
    request_run,
    resume_run,
    undone_chunks,
)
from tests.conftest import WriteFile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scripted_kind")]


def make_dialogs(*last_turns: str, before: tuple[str, ...] = ()) -> Dataset:
    dataset, _ = Dataset.objects.get_or_create(name="D")
    for turn in last_turns:
        turns = [*before, turn]
        Dialog.objects.create(dataset=dataset, external_id=turn, turns=turns, context_key=context_key(turns))
    return dataset


def make_generator(name: str = "scripted", checkpoint: str = "", **settings: object) -> Generator:
    return register_generator(Registration(name, "scripted", checkpoint, settings))


def answer(run: GenerationRun, loader: Loader | None = None) -> None:
    """All chunks that are left, as a worker would."""
    loader = loader or Loader()
    for pk in undone_chunks(run):
        answer_chunk(GenerationChunk.objects.select_related("run__generator").get(pk=pk), loader.get, timezone.now)
    run.refresh_from_db()


def texts() -> dict[str, str]:
    return dict(Candidate.objects.values_list("dialog__external_id", "text"))


def test_every_missing_candidate_is_made_once_and_keeps_how_it_was_made() -> None:
    dataset = make_dialogs("one", "two", "three", before=("Hi.", "Hello.", "Well."))
    generator = make_generator()
    run = request_run(generator, dataset, chunk_size=2)

    answer(run)
    answer(run)

    assert run.finished_at is not None
    assert run.chunks.count() == 2
    candidate = Candidate.objects.get(dialog__external_id="one")
    assert candidate.text == f"You said one ({seed_of(generator, candidate.dialog, 1)})"
    assert (candidate.predicted_label, candidate.score, candidate.turns_cut) == ("acknowledging", -0.5, 1)
    assert candidate.run == run
    assert candidate.seconds is not None
    assert candidate.software is not None
    assert {"evalplatform", "python", "device"} <= candidate.software.keys()
    assert (Candidate.objects.count(), count_run(run, timezone.now()).answered) == (3, 3)
    with pytest.raises(NothingToAnswer, match="scripted has answered every dialog of D"):
        request_run(generator, dataset)


def test_a_run_is_about_what_is_missing_and_its_longest_contexts_come_first() -> None:
    dataset = make_dialogs("short", "rather long")
    generator = make_generator()
    answer(request_run(generator, dataset))
    make_dialogs("mid-size", "the longest of all")

    run = request_run(generator, dataset)

    ids = run.chunks.get().dialog_ids
    assert [Dialog.objects.get(pk=pk).external_id for pk in ids] == ["the longest of all", "mid-size"]
    assert run.dialog_count == 2


def test_a_run_can_be_limited_to_the_first_dialogs() -> None:
    dataset = make_dialogs("a", "bb", "ccc")

    answer(request_run(make_generator(), dataset, most_dialogs=2))

    assert texts().keys() == {"a", "bb"}


def test_a_reply_depends_on_version_and_dialog_alone_not_on_batch_or_order() -> None:
    dataset = make_dialogs("a", "bb", "ccc", "dddd", "eeeee")
    answer(request_run(make_generator(batch_size=2), dataset, chunk_size=3))
    first = texts()
    Candidate.objects.all().delete()

    generator = make_generator(batch_size=5)  # the same version: a batch is about speed
    answer(request_run(generator, dataset, chunk_size=1))

    assert texts() == first
    assert Generator.objects.count() == 1


def test_what_is_no_reply_is_a_failure_with_a_reason_asked_once_more_and_listed() -> None:
    dataset = make_dialogs("be empty", "be endless", "be bytes", "be controls", "be empty once", "fine", "break")
    run = request_run(make_generator(batch_size=4), dataset)

    answer(run)

    assert texts().keys() == {"be empty once", "fine"}
    assert count_failures(run) == {
        "empty": 1,
        "endless": 1,
        "not text: it has bytes that are no characters": 1,
        "not text: the reply has the control character U+0007 at position 2": 1,
        "ValueError: a bug": 1,
    }
    assert GenerationFailure.objects.count() == 11
    counts = count_run(run, timezone.now())
    assert (counts.answered, counts.failed, counts.total) == (2, 5, 7)
    assert run.finished_at is not None


def test_a_new_run_asks_failed_dialogs_again_with_other_seeds() -> None:
    dataset = make_dialogs("be empty")
    generator = make_generator()
    answer(request_run(generator, dataset))

    again = request_run(generator, dataset)
    answer(again)

    failures = GenerationFailure.objects.order_by("attempt")
    assert [failure.attempt for failure in failures] == [1, 2, 3, 4]
    assert len({failure.seed for failure in failures}) == 4
    assert list(failed_dialogs(again)) == [Dialog.objects.get().pk]


def test_the_batch_halves_until_it_fits_and_stays_small() -> None:
    dataset = make_dialogs(*(f"dialog {number}" for number in range(10)))
    generator = make_generator(batch_size=8, fits=3)
    loader = Loader()

    answer(request_run(generator, dataset), loader)

    assert len(texts()) == 10
    assert loader.get(generator).batch_size == 2


def test_what_fits_into_no_memory_is_a_failure_of_its_own() -> None:
    dataset = make_dialogs("a", "b")
    run = request_run(make_generator(fits=0), dataset)

    answer(run)

    assert count_failures(run) == {"it does not fit into memory, not even alone": 2}


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
    assert run.outcome == "The server does not answer. It is tried again in a minute."


def test_a_server_that_goes_away_in_the_middle_does_not_count_against_the_chunk() -> None:
    run = request_run(make_generator(batch_size=1), make_dialogs("the first and longest", "be away"))

    for _ in range(2):
        with pytest.raises(GeneratorUnavailable):
            answer(run)

    assert texts().keys() == {"the first and longest"}
    assert run.chunks.get().starts == 0


def test_a_chunk_that_ends_every_worker_is_given_up() -> None:
    run = request_run(make_generator(), make_dialogs("a", "b"))
    GenerationChunk.objects.update(starts=MOST_STARTS)

    answer(run)

    assert run.finished_at is not None
    assert count_failures(run) == {f"its workers ended {MOST_STARTS} times without an answer": 2}


def leave_as_a_worker_killed_at_the_end(run: GenerationRun) -> None:
    """It had saved that its last chunk is done, and not yet that the run is."""
    answer(run)
    GenerationRun.objects.update(finished_at=None)


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


def test_two_at_the_same_chunk_leave_one_candidate_each() -> None:
    """The second was sent the chunk as it was before the first began: a double delivery at its worst."""
    run = request_run(make_generator(), make_dialogs("a", "be empty"))
    stale = GenerationChunk.objects.select_related("run__generator").get()
    answer(run)
    GenerationRun.objects.update(finished_at=None)

    answer_chunk(stale, Loader().get, timezone.now)

    assert texts().keys() == {"a"}
    assert GenerationFailure.objects.count() == 2


def test_one_run_at_a_time_and_none_for_imported_replies() -> None:
    dataset = make_dialogs("a")
    generator = make_generator()
    request_run(generator, dataset)

    with pytest.raises(EvalPlatformError, match="is answering D already"):
        request_run(generator, dataset)
    with pytest.raises(EvalPlatformError, match="only has imported replies"):
        request_run(Generator.objects.create(name="file"), dataset)


def test_a_generator_that_can_no_longer_be_loaded_ends_its_run_with_the_reason(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}")
    run = request_run(make_generator(checkpoint=str(tmp_path)), make_dialogs("a"))
    config.write_text('{"changed": true}')

    answer(run)

    assert run.finished_at is not None
    assert "has changed since it was registered" in run.outcome


def test_the_same_name_never_means_two_versions() -> None:
    make_generator("m", word="said")

    with pytest.raises(EvalPlatformError, match=r"named 'm' with another word \('said'\)"):
        make_generator("m", word="says")
    with pytest.raises(EvalPlatformError, match="There is no setting 'wrod'; there are seconds, fits, word"):
        make_generator("n", wrod="says")
    with pytest.raises(EvalPlatformError, match="The setting 'batch_size' can't be 0"):
        make_generator("n", batch_size=0)
    with pytest.raises(CheckpointRefused, match="broken"):
        make_generator("n", checkpoint="broken")


def test_imported_replies_never_mix_with_those_of_a_model_that_answers_here(write_lines: WriteFile) -> None:
    make_dialogs("a")
    make_generator("m")
    problems: list[Problem] = []

    counts = import_candidates(
        write_lines({"id": "a", "generator": "m", "reply": "Hm."}),
        "D",
        options=ImportOptions(on_problem=problems.append),
    )

    assert (counts.added, counts.rejected) == (0, 1)
    assert "m is a model that answers here" in problems[0].reason


def test_a_changed_size_of_batches_reaches_a_generator_that_stays_loaded() -> None:
    loader = Loader()
    kind = loader.get(make_generator(batch_size=2)).kind

    quick = loader.get(make_generator(batch_size=5))

    assert quick.batch_size == 5
    assert quick.kind is kind


def test_a_loaded_generator_stays_until_others_need_its_place() -> None:
    loader = Loader()
    generators = [make_generator(f"m{number}", word=f"w{number}") for number in range(MOST_KEPT + 1)]

    first = loader.get(generators[0])
    assert loader.get(generators[0]) is first
    for generator in generators[1:]:
        loader.get(generator)

    assert generators[0].version not in loader.versions
    assert len(loader.versions) == MOST_KEPT


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


def test_a_run_that_was_done_but_not_said_to_be_stands_in_nobodys_way() -> None:
    dataset, generator = make_dialogs("a"), make_generator()
    run = request_run(generator, dataset)
    run.chunks.update(done_at=timezone.now())
    make_dialogs("b")

    assert request_run(generator, dataset).pk != run.pk

    run.refresh_from_db()
    assert run.finished_at is not None
