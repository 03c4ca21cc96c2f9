"""Room: files -> candidates."""

import json
import tracemalloc
from typing import Any

import pytest

from evalplatform.errors import EvalPlatformError
from generation.corpora.lines import Problem
from generation.importing import ImportCounts, ImportOptions, import_candidates, import_dialogs
from generation.models import Candidate, GenerationRun, Generator
from tests.conftest import CORPUS, WriteFile

CONTEXT = ["Hi!", "Hello, this is Helen."]


@pytest.fixture
def dialogs(db: None, write_lines: WriteFile) -> None:
    lines: list[dict[str, Any]] = [
        {"id": "d1", "context": CONTEXT, "reference": "Nice to meet you."},
        {"id": "d2", "context": ["It rained."]},
        {"id": "d3", "context": ["It rained."]},
    ]
    import_dialogs(write_lines(*lines, name="dialogs.jsonl"), "ED")


@pytest.fixture
def problems() -> list[Problem]:
    return []


def replies_of(path_lines: Any, write_lines: WriteFile, problems: list[Problem], **options: Any) -> ImportCounts:
    name = options.pop("name", "replies.jsonl")
    dataset = options.pop("dataset", "ED")
    path = write_lines(*path_lines, name=name)
    return import_candidates(path, dataset, options=ImportOptions(on_problem=problems.append, **options))


@pytest.mark.usefixtures("dialogs")
def test_a_line_brings_the_replies_of_many_generators(write_lines: WriteFile, problems: list[Problem]) -> None:
    line = {
        "id": "d1",
        "candidates": {"A": "Hello Helen!", "B": "nice to meet you , helen ."},
        "predicted_labels": {"A": "joyful"},
    }

    counts = replies_of([line], write_lines, problems)

    a, b = Candidate.objects.order_by("generator__name")
    assert counts.added == 2
    assert (a.text, a.display_text, a.predicted_label) == ("Hello Helen!", "Hello Helen!", "joyful")
    assert (b.text, b.display_text) == ("nice to meet you , helen .", "Nice to meet you, Helen.")
    run = GenerationRun.objects.get(generator__name="A")
    assert (run.dataset.name, run.origin) == ("ED", "replies.jsonl")
    assert run.finished_at is not None


@pytest.mark.usefixtures("dialogs")
@pytest.mark.parametrize("name", ["replies.jsonl", "replies.csv"])
def test_both_forms_find_dialogs_by_id_or_by_exact_context(
    name: str, write_lines: WriteFile, problems: list[Problem]
) -> None:
    by_id = {"id": "d2", "generator": "A", "reply": 'It did, "cats and dogs".', "label": "agreeing"}
    by_context = {"context": CONTEXT, "generator": "A", "reply": "Two\nlines"}
    lines: list[Any] = [by_id, by_context]
    if name.endswith("csv"):
        quoted_context = json.dumps(CONTEXT).replace('"', '""')
        lines = [
            "id,context,generator,reply,label",
            'd2,,A,"It did, ""cats and dogs"".",agreeing',
            f',"{quoted_context}",A,"Two',
            'lines",',
        ]

    counts = replies_of(lines, write_lines, problems, name=name)

    assert problems == []
    assert counts.added == 2
    texts = dict(Candidate.objects.values_list("dialog__external_id", "text"))
    assert texts == {"d1": "Two\nlines", "d2": 'It did, "cats and dogs".'}
    assert Candidate.objects.get(dialog__external_id="d2").predicted_label == "agreeing"


DAMAGE: list[tuple[Any, str]] = [
    ({"id": "d9", "generator": "A", "reply": "Hi"}, "no dialog of ED has the id 'd9'"),
    ({"context": ["What?"], "generator": "A", "reply": "Hi"}, "no dialog of ED has this context"),
    ({"context": ["It rained."], "generator": "A", "reply": "Hi"}, "2 dialogs of ED have this context"),
    ({"id": "d1", "context": ["It rained."], "generator": "A", "reply": "Hi"}, "not that of dialog 'd1'"),
    ({"generator": "A", "reply": "Hi"}, "id and context are both missing"),
    ({"id": "d1", "generator": "A"}, "reply is missing"),
    ({"id": "d1", "reply": "Hi"}, "generator is missing"),
    ({"id": "d1"}, '"candidates" is missing'),
    ({"id": "d1", "candidates": ["Hi"]}, "candidates is not an object"),
    ({"id": "d1", "generator": "A", "reply": "a" * 100_000}, "reply has 100,000 characters"),
    ({"id": "d1", "generator": "A", "reply": " \n"}, "reply is empty"),
    ({"id": "d1", "generator": "A", "reply": "\u200b"}, "reply is empty"),
    ({"id": "d1", "generator": "A", "reply": "\x00"}, "control character U+0000"),
    ({"id": "d1", "generator": "A", "reply": "\u202eoh"}, "reply has the control character U+202E"),
    ({"id": "d1", "generator": "A\nB", "reply": "Hi"}, "generator has the control character U+000A"),
    ({"id": "d1", "generator": "A", "reply": "Hi", "label": "a\tb"}, "label has the control character U+0009"),
    (b'{"id": "d1", "generator": "A", "reply": "\xff"}', "invalid UTF-8"),
    ("{", "broken JSON"),
    ({"id": "d1", "candidates": {"\ud83d": "Hi", "": "Hi"}}, "'\\ud83d': generator has the control character U+D83D"),
]


@pytest.mark.usefixtures("dialogs")
def test_each_kind_of_damage_is_reported_by_line_and_the_rest_goes_in(
    write_lines: WriteFile, problems: list[Problem]
) -> None:
    lines = []
    for number, (damage, _) in enumerate(DAMAGE):
        lines += [damage, {"id": "d1", "generator": f"G{number}", "reply": "Hello!"}]

    counts = replies_of(lines, write_lines, problems)

    assert (counts.added, counts.rejected) == (len(DAMAGE), len(DAMAGE) + 1)  # the last line has two bad replies
    reasons = {problem.line: problem.reason for problem in reversed(problems)}
    for number, (_, reason) in enumerate(DAMAGE):
        assert reason in reasons[2 * number + 1]


@pytest.mark.usefixtures("dialogs")
def test_one_bad_reply_in_a_line_names_its_generator_and_spares_the_others(
    write_lines: WriteFile, problems: list[Problem]
) -> None:
    counts = replies_of([{"id": "d1", "candidates": {"A": "Hi", "B": "", "C": 3}}], write_lines, problems)

    assert (counts.added, counts.rejected) == (1, 2)
    assert [problem.reason for problem in problems] == ["'B': reply is empty", "'C': reply is not text"]


@pytest.mark.usefixtures("dialogs")
def test_damaged_csv_rows_are_reported_by_the_line_they_begin_on(
    write_lines: WriteFile, problems: list[Problem]
) -> None:
    lines = [
        "id,generator,reply",
        "d1,A",
        "d1,A,Hi",
        b"d1,B,\xff",
        'd1,C,"two',
        'lines"',
        "d9,A,Hi",
        "d1,D,Hi",
        'd2,A,"never closed' + "x" * 200_000,
        "d2,B,Hi",
    ]

    counts = replies_of(lines, write_lines, problems, name="replies.csv")

    assert sorted((problem.line, problem.reason.split(";")[0].split(":")[0]) for problem in problems) == [
        (2, "the row has 2 fields"),
        (4, "invalid UTF-8 at byte 6"),
        (7, "no dialog of ED has the id 'd9'"),
        (9, "broken CSV"),
    ]
    assert counts.added == 4


@pytest.mark.usefixtures("dialogs")
@pytest.mark.parametrize("after", ["d2,A,Hi", 'd2,A,"Hi"', 'd2,A,"Hi, you"'])
def test_a_quotation_mark_left_open_costs_its_own_row_only(
    after: str, write_lines: WriteFile, problems: list[Problem]
) -> None:
    lines = ["id,generator,reply", 'd1,A,"never closed', after, "d3,A,Hi"]

    counts = replies_of(lines, write_lines, problems, name="replies.csv")

    assert [problem.line for problem in problems] == [2]
    assert counts.added == 2
    assert not Candidate.objects.filter(text__contains="never").exists()


@pytest.mark.usefixtures("dialogs")
def test_blank_lines_inside_a_quoted_reply_are_part_of_it_and_bad_ones_spoil_it(
    write_lines: WriteFile, problems: list[Problem]
) -> None:
    lines = ["id,generator,reply", 'd1,A,"para one', "", 'para two"', "", 'd2,A,"one', b"\xff", 'two"', "d3,A,Hi"]

    replies_of(lines, write_lines, problems, name="replies.csv")

    assert Candidate.objects.get(dialog__external_id="d1").text == "para one\n\npara two"
    assert not Candidate.objects.filter(dialog__external_id="d2").exists()
    assert Candidate.objects.filter(dialog__external_id="d3").exists()
    assert [problem.line for problem in problems][:2] == [6, 7]


@pytest.mark.usefixtures("dialogs")
def test_a_killed_import_that_is_run_again_leaves_no_run_open(write_lines: WriteFile, problems: list[Problem]) -> None:
    lines = [{"id": "d1", "generator": "A", "reply": "Hi"}, {"id": "d1", "generator": "B", "reply": "Hi"}]
    replies_of(lines, write_lines, problems)
    GenerationRun.objects.filter(generator__name="A").update(finished_at=None)  # as if killed before the end

    replies_of(lines, write_lines, problems)

    assert not GenerationRun.objects.filter(finished_at=None).exists()


@pytest.mark.usefixtures("dialogs")
def test_a_csv_without_the_needed_columns_is_refused_in_one_line(
    write_lines: WriteFile, problems: list[Problem]
) -> None:
    with pytest.raises(EvalPlatformError, match="it needs generator, reply, and id or context"):
        replies_of(["id,model,text", "d1,A,Hi"], write_lines, problems, name="replies.csv")


@pytest.mark.usefixtures("dialogs")
def test_another_reply_of_the_same_generator_is_a_conflict_and_changes_nothing(
    write_lines: WriteFile, problems: list[Problem]
) -> None:
    replies_of([{"id": "d1", "generator": "A", "reply": "First"}], write_lines, problems)

    counts = replies_of([{"id": "d1", "generator": "A", "reply": "Second"}], write_lines, problems)

    assert (counts.added, counts.conflicts) == (0, 1)
    assert "another reply by A is stored" in problems[0].reason
    assert Candidate.objects.get().text == "First"


@pytest.mark.usefixtures("dialogs")
@pytest.mark.parametrize(("stored", "reason"), [("sad", "another label of A's reply"), (None, "no label of A's reply")])
def test_the_same_reply_with_another_label_is_a_conflict_and_changes_nothing(
    stored: str | None, reason: str, write_lines: WriteFile, problems: list[Problem]
) -> None:
    reply = {"id": "d1", "generator": "A", "reply": "First"}
    replies_of([{**reply, "label": stored}], write_lines, problems)

    counts = replies_of([{**reply, "label": "joyful"}], write_lines, problems)

    assert (counts.known, counts.conflicts) == (0, 1)
    assert problems[0].reason == f"d1: {reason} is stored, and a stored reply is never changed"
    assert Candidate.objects.get().predicted_label == (stored or "")


@pytest.mark.usefixtures("dialogs")
def test_a_label_that_a_later_file_leaves_out_is_no_conflict(write_lines: WriteFile, problems: list[Problem]) -> None:
    reply = {"id": "d1", "generator": "A", "reply": "First"}
    replies_of([{**reply, "label": "sad"}], write_lines, problems)

    assert replies_of([reply], write_lines, problems).known == 1


@pytest.mark.usefixtures("dialogs")
def test_memory_does_not_grow_with_the_replies_of_other_generators(
    write_lines: WriteFile, problems: list[Problem]
) -> None:
    replies_of([{"id": "d1", "generator": "A", "reply": "Hi"}], write_lines, problems)
    first = Candidate.objects.get()
    others = Generator.objects.bulk_create(Generator(name=f"other {number}") for number in range(100))
    Candidate.objects.bulk_create(
        Candidate(dialog=first.dialog, generator=other, run=first.run, text="long" * 25_000, display_text="Long.")
        for other in others
    )

    tracemalloc.start()
    counts = replies_of([{"id": "d1", "generator": "A", "reply": "Hi"}], write_lines, problems)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert counts.known == 1
    assert peak_bytes < 2_000_000  # the others' texts are five times as much


@pytest.mark.usefixtures("dialogs")
def test_the_dataset_is_the_one_named_or_else_the_line_s_own(write_lines: WriteFile, problems: list[Problem]) -> None:
    lines = [
        {"id": "d1", "dataset": "ED", "generator": "A", "reply": "Hi"},
        {"id": "d1", "dataset": "OS", "generator": "B", "reply": "Hi"},
        {"id": "d1", "generator": "C", "reply": "Hi"},
    ]

    counts = replies_of(lines, write_lines, problems, dataset="")

    assert (counts.added, counts.rejected) == (1, 2)
    assert "no dataset named 'OS'" in problems[0].reason
    assert "names no dataset" in problems[1].reason
    with pytest.raises(EvalPlatformError, match="no dataset named 'OS'"):
        replies_of(lines, write_lines, problems, dataset="OS")


@pytest.mark.usefixtures("dialogs")
def test_strict_and_dry_run_write_nothing(write_lines: WriteFile, problems: list[Problem]) -> None:
    lines = [{"id": "d1", "generator": "A", "reply": "Hi"}, {"id": "d9", "generator": "A", "reply": "Hi"}]

    dry = replies_of(lines, write_lines, problems, dry_run=True)
    with pytest.raises(EvalPlatformError, match="Nothing imported: 1 problems"):
        replies_of(lines, write_lines, problems, strict=True)

    assert (dry.added, dry.rejected) == (1, 1)
    assert not Candidate.objects.exists()
    assert not Generator.objects.exists()


@pytest.mark.usefixtures("example_corpus")
def test_the_example_corpus_is_complete_and_importing_it_again_adds_nothing() -> None:
    assert Candidate.objects.count() == 240

    again = import_candidates(CORPUS / "candidates.jsonl")

    assert (again.added, again.known, again.rejected, again.conflicts) == (0, 240, 0, 0)
    assert GenerationRun.objects.filter(finished_at=None).count() == 0
