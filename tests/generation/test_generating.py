"""A generator answers what it has not answered: once, in chunks; what it can't answer is said with its reason."""

import pytest
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from generation.corpora.lines import Problem
from generation.errors import CheckpointRefused
from generation.importing import ImportOptions, import_candidates
from generation.models import Candidate, Dialog, GenerationFailure, Generator
from generation.open_questions import seed_of
from generation.run_requests import NothingToAnswer, count_failures, count_run, failed_dialogs, request_run
from tests.conftest import WriteFile
from tests.generation.scripted_runs import answer, make_dialogs, make_generator, texts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scripted_kind")]


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


def test_one_run_at_a_time_and_none_for_imported_replies() -> None:
    dataset = make_dialogs("a")
    generator = make_generator()
    request_run(generator, dataset)

    with pytest.raises(EvalPlatformError, match="is answering D already"):
        request_run(generator, dataset)
    with pytest.raises(EvalPlatformError, match="only has imported replies"):
        request_run(Generator.objects.create(name="file"), dataset)


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
