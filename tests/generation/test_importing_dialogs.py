"""Room: files -> dialogs."""

import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evalplatform.errors import EvalPlatformError
from generation import importing
from generation.corpora.lines import Problem
from generation.importing import ImportOptions, ImportRefused, import_dialogs
from generation.models import Dataset, Dialog
from tests.conftest import CORPUS, WriteFile


def dialog_line(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {"id": f"d{number}", "context": ["Hi!", "Hello, how are you?"], "reference": "Fine, thanks.", **changes}


@pytest.fixture
def problems() -> list[Problem]:
    return []


@pytest.fixture
def reporting(problems: list[Problem]) -> ImportOptions:
    return ImportOptions(on_problem=problems.append)


@pytest.mark.django_db
def test_a_dialog_comes_in_with_everything_that_its_line_says(write_lines: WriteFile) -> None:
    line = dialog_line(
        emotion="content",
        situation="Meeting a neighbour.",
        context_labels=["neutral", "questioning"],
        reference_label="content",
        conv_id="c1",
        turn=2,
    )
    path = write_lines("", line)

    counts = import_dialogs(path, "ED")

    dialog = Dialog.objects.get()
    assert counts.added == 1
    assert (dialog.dataset.name, dialog.external_id) == ("ED", "d1")
    assert (dialog.turns, dialog.turn_labels) == (line["context"], line["context_labels"])
    assert (dialog.gold, dialog.gold_label) == ("Fine, thanks.", "content")
    assert (dialog.emotion, dialog.situation) == ("content", "Meeting a neighbour.")
    assert dialog.source == {"file": "file.jsonl", "line": 2, "conv_id": "c1", "turn": 2}


DAMAGE: list[tuple[Any, str]] = [
    ('{"id": "x", "context": ["Hi', "broken JSON at column 25"),
    ("[" * 100_000, "broken JSON"),
    ('["a list"]', "not an object"),
    (dialog_line(context=["Hi!", "  "]), "turn 2 is empty"),
    (dialog_line(context=[]), "context has no turns"),
    (dialog_line(context="Hi!"), "context is not a list"),
    (dialog_line(context=["Hi!", 3]), "turn 2 is not text"),
    ({"id": "x"}, "context is missing"),
    ({"context": ["Hi!"]}, "id is missing"),
    (b'{"id": "x", "context": ["caf\xe9"]}', "invalid UTF-8 at byte 29"),
    (dialog_line(context=["bell \x07"]), "turn 1 has the control character U+0007 at position 6"),
    (dialog_line(reference="half \ud83d"), "reference has the control character U+D83D"),
    (dialog_line(reference="a" * 100_000), "reference has 100,000 characters; at most 10,000"),
    (dialog_line(context=["Hi!", "\u200b\ufeff\u2060\xad \u3164\ufe0f"]), "turn 2 is empty"),
    (dialog_line(reference="\u200b"), "reference is empty"),
    (dialog_line(context=["I said \u202eyes"]), "turn 1 has the control character U+202E at position 8"),
    (dialog_line(context=["\u202aHi\u202c"]), "turn 1 has the control character U+202A"),
    (dialog_line(context=["Hi!"] * 101), "context has 101 turns"),
    (dialog_line(context_labels=["only one"]), "context_labels is not a list of 2 labels"),
    (b"x" * 1_500_000, "longer than 1,000,000 bytes"),
    (dialog_line(id="d" * 201), "id has 201 characters"),
    (dialog_line(id="d\n1"), "id has the control character U+000A at position 2"),
    (dialog_line(emotion="so\tsad"), "emotion has the control character U+0009"),
    (dialog_line(context_labels=["sad", "so\u2028sad"]), "context label 2 has the control character U+2028"),
    (dialog_line(conv_id="\ud83d"), "conv_id has the control character U+D83D"),
    (dialog_line(conv_id="a\x00b"), "conv_id has the control character U+0000"),
    (dialog_line(turn=10**30), "turn is too large a number"),
]


@pytest.mark.django_db
def test_each_kind_of_damage_is_reported_by_line_and_the_rest_goes_in(
    write_lines: WriteFile, problems: list[Problem], reporting: ImportOptions
) -> None:
    lines = []
    for number, (damage, _) in enumerate(DAMAGE):
        lines += [damage, dialog_line(number)]

    counts = import_dialogs(write_lines(*lines), "ED", options=reporting)

    assert (counts.added, counts.rejected) == (len(DAMAGE), len(DAMAGE))
    assert [problem.line for problem in problems] == list(range(1, 2 * len(DAMAGE), 2))
    for problem, (_, reason) in zip(problems, DAMAGE, strict=True):
        assert reason in problem.reason


@pytest.mark.django_db
def test_the_same_file_again_adds_nothing() -> None:
    first = import_dialogs(CORPUS / "empathetic.jsonl", "ED")
    second = import_dialogs(CORPUS / "empathetic.jsonl", "ED")

    assert (first.added, first.known) == (20, 0)
    assert (second.added, second.known) == (0, 20)
    assert Dialog.objects.count() == 20


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"context": ["Other."]}, "context"),
        ({"reference": "Other."}, "reference"),
        ({"emotion": "sad"}, "emotion"),
    ],
)
def test_the_same_id_with_another_text_is_a_conflict_and_changes_nothing(
    write_lines: WriteFile, problems: list[Problem], reporting: ImportOptions, change: dict[str, Any], named: str
) -> None:
    import_dialogs(write_lines(dialog_line(emotion="joyful")), "ED")

    counts = import_dialogs(write_lines(dialog_line(**change)), "ED", options=reporting)

    assert (counts.added, counts.conflicts) == (0, 1)
    assert f"another {named}" in problems[0].reason
    dialog = Dialog.objects.get()
    assert (dialog.turns[0], dialog.gold, dialog.emotion) == ("Hi!", "Fine, thanks.", "joyful")


@pytest.mark.django_db
def test_a_conflict_inside_one_file_is_found_too(write_lines: WriteFile, reporting: ImportOptions) -> None:
    counts = import_dialogs(write_lines(dialog_line(), dialog_line(reference="Other.")), "ED", options=reporting)

    assert (counts.added, counts.conflicts) == (1, 1)


@pytest.mark.django_db
def test_a_field_that_a_later_file_leaves_out_is_no_conflict(write_lines: WriteFile) -> None:
    import_dialogs(write_lines(dialog_line(emotion="joyful")), "ED")

    assert import_dialogs(write_lines(dialog_line()), "ED").known == 1


@pytest.mark.django_db
def test_strict_imports_all_or_nothing(
    write_lines: WriteFile, problems: list[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_SIZE", 2)  # so that earlier batches have something to undo
    path = write_lines(*[dialog_line(number) for number in range(5)], "{}", "{}")

    with pytest.raises(ImportRefused, match="2 problems"):
        import_dialogs(path, "ED", options=ImportOptions(strict=True, on_problem=problems.append))

    assert not Dialog.objects.exists()
    assert [problem.line for problem in problems] == [6, 7]
    assert import_dialogs(CORPUS / "empathetic.jsonl", "ED", options=ImportOptions(strict=True)).added == 20


@pytest.mark.django_db
def test_a_dry_run_reports_the_same_and_writes_nothing(write_lines: WriteFile) -> None:
    path = write_lines(dialog_line(1), "{}", dialog_line(1, reference="Other."), dialog_line(2))

    dry = import_dialogs(path, "ED", options=ImportOptions(dry_run=True))

    assert not Dialog.objects.exists()
    assert not Dataset.objects.exists()
    assert dry == import_dialogs(path, "ED")


@pytest.mark.django_db
def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(write_lines: WriteFile) -> None:
    path = write_lines("")
    path.write_bytes(b'\xef\xbb\xbf{"id": 1, "context": ["Hi!"]}\r\n\r\n{"id": 2, "context": ["Ho!"]}\r\n')

    assert import_dialogs(path, "ED").added == 2
    assert set(Dialog.objects.values_list("external_id", flat=True)) == {"1", "2"}


@pytest.mark.django_db
def test_texts_of_all_kinds_come_back_as_they_were(write_lines: WriteFile) -> None:
    turns = ["שלום!", "日本語 🤷🏽‍♀️", "<script>alert('x')</script>", "line\nbreak\ttab", "é" * 10_000, "می‌خواهم", "क्‍ष"]
    turns += ["\u200fשלום!", "\u2068Ali\u2069?", "❤️", "...", "\U0001fae8"]  # the last is younger than Python's Unicode

    import_dialogs(write_lines(dialog_line(context=turns)), "ED")

    assert Dialog.objects.get().turns == turns


@pytest.mark.django_db
def test_what_is_stored_without_a_gold_does_not_get_one_later(
    write_lines: WriteFile, problems: list[Problem], reporting: ImportOptions
) -> None:
    import_dialogs(write_lines({"id": "d1", "context": ["Hi!"]}), "ED")

    import_dialogs(write_lines({"id": "d1", "context": ["Hi!"], "reference": "Ho!"}), "ED", options=reporting)

    assert problems[0].reason == "d1: no reference is stored under this id, and a stored dialog is never changed"


@pytest.mark.django_db
def test_a_file_of_nothing_but_damage_makes_no_dataset(write_lines: WriteFile) -> None:
    assert import_dialogs(write_lines("{", "{"), "ED").rejected == 2
    assert not Dataset.objects.exists()


@pytest.mark.django_db
def test_long_lines_are_written_in_smaller_batches(write_lines: WriteFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH_BYTES", 1_000)
    path = write_lines(*[dialog_line(number, reference="word " * 100) for number in range(10)])

    with CaptureQueriesContext(connection) as queries:
        counts = import_dialogs(path, "ED")

    assert counts.added == 10
    assert sum("INSERT INTO" in query["sql"] and "dialog" in query["sql"] for query in queries) >= 5


@pytest.mark.django_db
def test_a_file_that_is_not_there_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(EvalPlatformError, match=r"nowhere.jsonl can't be read: No such file or directory\."):
        import_dialogs(tmp_path / "nowhere.jsonl", "ED")


@pytest.mark.django_db(transaction=True)
def test_two_imports_of_one_file_at_once_add_every_dialog_once(
    write_lines: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_SIZE", 10)
    path = write_lines(*[dialog_line(number) for number in range(200)])
    counts: list[importing.ImportCounts] = []

    def run() -> None:
        counts.append(import_dialogs(path, "ED"))
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Dialog.objects.count() == 200
    assert sum(count.added for count in counts) == 200
    assert sum(count.known for count in counts) == 600
