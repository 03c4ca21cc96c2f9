"""The import commands as a user meets them."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from generation.models import Candidate, Dataset, Dialog
from tests.conftest import WriteFile
from tests.processes import manage


@pytest.mark.django_db
def test_the_real_corpus_and_the_published_outputs_come_in_whole_and_only_once(shared_data: Path) -> None:
    assert _run("import_dialogs", shared_data / "ed_test.jsonl", dataset="ED") == (
        "ed_test.jsonl: 5,259 dialogs imported, 0 already there, 0 rejected, 0 in conflict.\n"
    )
    assert _run("import_dialogs", shared_data / "ed_test.jsonl", dataset="ED") == (
        "ed_test.jsonl: 0 dialogs imported, 5,259 already there, 0 rejected, 0 in conflict.\n"
    )
    assert _run("import_candidates", shared_data / "ed_test_candidates.jsonl").startswith(
        "ed_test_candidates.jsonl: 26,190 candidates imported, 0 already there, 0 rejected, 0 in conflict.\n"
    )
    assert Dialog.objects.count() == 5259
    assert Candidate.objects.values("dialog").distinct().count() == 2598


@pytest.mark.django_db
def test_candidates_that_give_the_gold_away_are_warned_of_at_once(write_lines: WriteFile) -> None:
    numbers = range(30)
    dialogs = [{"id": n, "context": ["Hi!"], "reference": "A long and careful reply by a human."} for n in numbers]
    replies = [{"id": n, "candidates": {"A": "Short.", "B": "Shorter."}} for n in numbers]
    _run("import_dialogs", write_lines(*dialogs), dataset="ED")

    output = _run("import_candidates", write_lines(*replies), dataset="ED")

    assert "finds the human reply in 100% of 30 dialogs" in output
    assert "being longer (36.0 characters on average, the models' 7.0)" in output


@pytest.mark.django_db
def test_a_reason_is_told_once_with_its_count_and_all_problems_go_into_a_file(
    write_lines: WriteFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"id": 1, "context": ["Hi!"]}
    lines = [good, *["{"] * 7, {"id": 2}, {**good, "context": ["Ho!"]}, {"id": 3, "context": []}]

    output = _run("import_dialogs", write_lines(*lines), dataset="ED", show=2, problems=tmp_path / "problems.txt")

    shown = capsys.readouterr().err.splitlines()
    assert "9 rejected, 1 in conflict" in output
    assert shown[0].startswith("file.jsonl: 7 times, in lines 2, 3, 4, 5, 6, ...: broken JSON at column 2")
    assert shown[1] == "file.jsonl:9: context is missing"
    assert shown[2:] == ["2 more problems have other reasons; --problems FILE writes all of them."]
    assert (tmp_path / "problems.txt").read_text().count("\n") == 10


@pytest.mark.django_db
def test_replies_to_different_dialogs_that_are_not_there_are_one_reason(
    write_lines: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    _run("import_dialogs", write_lines({"id": 1, "context": ["Hi!"]}), dataset="ED")
    replies = [{"id": number, "candidates": {"A": "Yes."}} for number in range(100, 110)]

    with pytest.raises(CommandError, match=r"Nothing of file.jsonl can be used: 10 problems, and nothing else"):
        _run("import_candidates", write_lines(*replies), dataset="ED")

    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("file.jsonl: 10 times, in lines 1, 2, 3, 4, 5, ...: ")


@pytest.mark.django_db
@pytest.mark.parametrize("options", [{}, {"dry_run": True}])
def test_a_file_of_which_every_line_is_rejected_ends_as_a_failure(
    write_lines: WriteFile, options: dict[str, bool]
) -> None:
    for command, dataset in (("import_dialogs", {"dataset": "ED"}), ("import_candidates", {})):
        with pytest.raises(CommandError, match=r"Nothing of file\.jsonl can be used"):
            _run(command, write_lines("{", "["), **dataset, **options)


@pytest.mark.django_db
def test_a_line_s_number_is_shown_as_it_is_and_not_as_a_picture(
    write_lines: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    _run("import_dialogs", write_lines({"id": 1, "context": ["Hi!"]}, *[""] * 98, "{"), dataset="ED")

    assert "file.jsonl:100: broken JSON" in capsys.readouterr().err


@pytest.mark.django_db
def test_mistakes_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file or directory"):
        _run("import_dialogs", tmp_path / "nowhere.jsonl", dataset="ED")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(CommandError, match="There is no dataset named 'OS'"):
        _run("import_candidates", tmp_path / "empty.jsonl", dataset="OS")


HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags\n"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("ed.csv", HEADER.encode("utf-16"), "is in UTF-16; save it as UTF-8"),
        ("ed.csv", HEADER.encode("utf-16-le"), "is in UTF-16; save it as UTF-8"),
        ("d.jsonl", '{"id": "a"}\n'.encode("utf-16"), "is in UTF-16; save it as UTF-8"),
        ("ed.csv", HEADER.replace("\n", "\r").encode() * 2, "CR alone"),
        ("ed.csv", HEADER.encode(), "there are no dialogs in it"),
        ("ed.csv", b"", "there are no dialogs in it"),
        ("d.jsonl", b"\n\n", "there are no dialogs in it"),
        ("film.srt", b"", "there are no dialogs in it"),
        ("film.vtt", b"WEBVTT\n", "does not tell its format. Dialogs are read from"),
        ("films.tar", b"films", "does not tell its format. Dialogs are read from"),
        ("d.jsonl", b"[]\n", "1 problem, and nothing else"),
    ],
)
def test_a_file_that_can_t_be_used_is_refused_in_one_line_that_helps(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(data)

    with pytest.raises(CommandError, match=re.escape(words)) as refused:
        _run("import_dialogs", tmp_path / name, dataset="D")

    assert "\n" not in str(refused.value)
    assert not Dataset.objects.exists()


@pytest.mark.django_db
def test_candidates_in_utf_16_are_refused_in_one_line(tmp_path: Path) -> None:
    Dataset.objects.create(name="D")
    (tmp_path / "r.csv").write_bytes("id,generator,reply\n".encode("utf-16"))

    with pytest.raises(CommandError, match=r"is in UTF-16; save it as UTF-8\.$"):
        _run("import_candidates", tmp_path / "r.csv", dataset="D")


@pytest.mark.django_db
def test_the_imported_file_is_never_written_over(write_lines: WriteFile) -> None:
    path = write_lines("{")

    with pytest.raises(CommandError, match="--problems names the file that is imported"):
        _run("import_dialogs", path, dataset="ED", problems=path)
    assert path.read_text() == "{\n"


def test_a_database_without_tables_is_one_line(write_lines: WriteFile, tmp_path: Path) -> None:
    environment = {"VAR_DIR": str(tmp_path), "DATABASE_URL": ""}

    result = manage(
        "import_dialogs", str(write_lines('{"id": 1, "context": ["Hi!"]}')), "--dataset", "ED", **environment
    )

    assert result.returncode == 1
    assert "was `manage.py migrate` run?" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.django_db(transaction=True)
def test_a_failed_import_ends_with_one_line_and_a_status_that_scripts_see(
    write_lines: WriteFile, test_database_url: str
) -> None:
    result = manage(
        "import_dialogs", str(write_lines("{")), "--dataset", "ED", "--strict", DATABASE_URL=test_database_url
    )

    assert result.returncode == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "Nothing imported: 1 problems in file.jsonl, and --strict allows none." in result.stderr


def _run(command: str, path: Path, **options: object) -> str:
    output = StringIO()
    call_command(command, path, stdout=output, **options)
    return output.getvalue()
