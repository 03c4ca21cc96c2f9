"""`generate_candidates` as a user meets it, and the messages that workers get."""

from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from generation.models import Candidate, Dialog, GenerationChunk, GenerationFailure, GenerationRun, Generator
from generation.run_requests import pause_run, request_run
from generation.tasks import MOST_PASSES, answer_chunk_of_run, send_lost_chunks
from tests.generation.scripted_runs import leave_as_a_worker_killed_at_the_end, make_dialogs, make_generator, texts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scripted_kind")]


def generate(**options: Any) -> str:
    output = StringIO()
    call_command("generate_candidates", dataset="D", here=True, stdout=output, **options)
    return output.getvalue()


@pytest.fixture
def messages(settings: Any, tmp_path: Path) -> Path:
    """Where the embedded broker keeps what waits. Emptied first: other tests send to it as well."""
    folder: Path = settings.EMBEDDED_BROKER_DIR / "waiting"
    for file in folder.glob("*"):
        file.unlink()
    return folder


def test_a_model_is_described_once_and_answers_in_this_process() -> None:
    make_dialogs("a", "b", "be endless")

    first = generate(generator="reference", kind="reference")
    assert "reference on D: 0 of 3 dialogs answered, 3 not (3 the dialog has no human reply)." in first
    Dialog.objects.update(gold="Oh!")
    assert "reference on D: 3 of 3 dialogs answered." in generate(generator="reference")
    assert generate(generator="reference") == "reference has answered every dialog of D.\n"


def test_a_small_file_describes_a_model(tmp_path: Path) -> None:
    make_dialogs("a", "be endless")
    (tmp_path / "weights").mkdir()
    file = tmp_path / "model.toml"
    file.write_text('name = "mine"\nkind = "scripted"\ncheckpoint = "weights"\n[settings]\nword = "mumbled"\n')

    output = generate(file=file, dialogs=1)

    assert "mine on D: 1 of 1 dialogs answered." in output
    assert texts()["a"].startswith("You mumbled a")
    assert Generator.objects.get().checkpoint == str(tmp_path / "weights")


def test_a_terminal_shows_a_model_s_name_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # to Rich, that makes any output a terminal
    make_dialogs("a")

    generate(generator="[/b] :100:", kind="scripted")

    assert "[/b] :100:" in capsys.readouterr().err


def test_a_run_that_was_interrupted_is_gone_on_with() -> None:
    dataset = make_dialogs("a", "b")
    run = request_run(make_generator(), dataset)
    pause_run(run, timezone.now())

    output = generate(generator="scripted")

    assert output.startswith("Resuming the run that was started on ")
    assert texts().keys() == {"a", "b"}
    assert GenerationRun.objects.count() == 1


def test_a_run_with_nothing_left_is_finished_and_a_new_one_can_be_asked_for() -> None:
    dataset = make_dialogs("a")
    leave_as_a_worker_killed_at_the_end(request_run(make_generator(), dataset))

    generate(generator="scripted")
    make_dialogs("b")
    generate(generator="scripted")

    assert texts().keys() == {"a", "b"}
    assert not GenerationRun.objects.unfinished().exists()


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    make_dialogs("a")
    bad = tmp_path / "bad.toml"
    bad.write_text('name = "x"\nknid = "scripted"\n')
    for options, message in (
        ({}, "Name the model"),
        ({"generator": "x"}, "There is no model named 'x'"),
        ({"generator": "x", "setting": ["a=1"]}, "name its --kind"),
        ({"generator": "x", "kind": "reference", "setting": ["a"]}, "is not a setting: write NAME=VALUE"),
        ({"generator": "x", "kind": "reference", "setting": ["a=1"]}, "There is no setting 'a'"),
        ({"generator": "x", "kind": "reference", "setting": ["forced_label=sad"]}, "can't be told which label"),
        ({"generator": "x", "kind": "reference", "checkpoint": "y"}, "has no checkpoint"),
        ({"generator": "x", "dialogs": 0}, "--dialogs must be at least 1"),
        ({"file": bad}, "'knid' is unknown"),
        ({"file": tmp_path / "none.toml"}, "can't be read: No such file"),
    ):
        with pytest.raises(CommandError, match=message):
            generate(**options)
    with pytest.raises(CommandError, match="There is no dataset named 'E'"):
        call_command("generate_candidates", dataset="E", generator="x", kind="reference")
    Dialog.objects.all().delete()
    make_dialogs("be away", "be away, too")
    with pytest.raises(CommandError, match=r"^The server does not answer\. Answers are saved"):
        generate(generator="away", kind="scripted")


def test_a_chunk_for_a_model_that_is_loaded_comes_before_one_that_is_not(messages: Path) -> None:
    dataset = make_dialogs("a", "b")
    loaded = request_run(make_generator("loaded", word="says"), dataset, chunk_size=1)
    other = request_run(make_generator("other", word="sings"), dataset, chunk_size=1)
    first, second = GenerationChunk.objects.filter(run=loaded).order_by("number")
    foreign = GenerationChunk.objects.filter(run=other).order_by("number")[0]

    answer_chunk_of_run(first.pk)
    answer_chunk_of_run(foreign.pk)
    assert not Candidate.objects.filter(run=other).exists()
    assert len(list(messages.iterdir())) == 1
    answer_chunk_of_run(foreign.pk, MOST_PASSES)  # has waited long enough
    answer_chunk_of_run(second.pk)

    assert Candidate.objects.filter(run=other).count() == 1
    assert Candidate.objects.filter(run=loaded).count() == 2


def test_a_server_that_stays_away_ends_the_run_and_is_no_failure_of_any_dialog(messages: Path) -> None:
    run = request_run(make_generator(), make_dialogs("be away"))

    answer_chunk_of_run.apply([run.chunks.get().pk])  # with all of its retries, one after the other

    run.refresh_from_db()
    assert run.finished_at is not None
    assert run.outcome == "Given up: The server does not answer."
    assert not GenerationFailure.objects.exists()


def test_lost_messages_are_sent_again_once_the_queue_is_empty_and_nobody_is_heard_of(messages: Path) -> None:
    run = request_run(make_generator(), make_dialogs("a", "b"), chunk_size=1)

    send_lost_chunks()
    assert list(messages.glob("*")) == []
    long_ago = timezone.now() - timedelta(hours=1)
    GenerationRun.objects.update(requested_at=long_ago)
    send_lost_chunks()
    send_lost_chunks()

    assert len(list(messages.iterdir())) == 2
    assert run.chunks.undone().count() == 2


def test_a_quiet_run_with_nothing_left_is_finished_by_the_clock(messages: Path) -> None:
    run = request_run(make_generator(), make_dialogs("a"))
    leave_as_a_worker_killed_at_the_end(run)
    GenerationRun.objects.update(seen_at=timezone.now() - timedelta(hours=1))

    send_lost_chunks()

    run.refresh_from_db()
    assert run.finished_at is not None
