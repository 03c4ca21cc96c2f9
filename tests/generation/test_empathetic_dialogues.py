"""EmpatheticDialogues in its published, peculiar form."""

import json
from pathlib import Path

import pytest

from evalplatform.errors import EvalPlatformError
from generation.corpora.empathetic_dialogues import HEADER
from generation.corpora.formats import read_dialog_file
from generation.corpora.lines import Problem
from generation.importing import ImportOptions, import_dialogs
from generation.models import Dialog
from generation.training.context_pairs import Source, pairs_of
from tests.conftest import WriteFile


def row(conversation: str, index: int, text: str) -> str:
    return f"{conversation},{index},proud,I won_comma_ finally,{index % 2},{text},5|5|5_2|2|5,"


@pytest.mark.django_db
def test_every_turn_of_the_listener_is_a_dialog_with_all_that_was_said_before(write_lines: WriteFile) -> None:
    path = write_lines(
        HEADER,
        row("hit:1", 1, 'I won "the" race_comma_ at last'),
        row("hit:1", 2, 'Wow" great'),
        row("hit:1", 3, "Yes."),
        row("hit:1", 4, "Congrats!"),
        row("hit:2", 1, "It rained."),
        name="test.csv",
    )

    counts = import_dialogs(path, "ED")

    assert counts.added == 2
    first, second = Dialog.objects.order_by("pk")
    assert first.turns == ['I won "the" race, at last']
    assert (first.external_id, first.gold, first.emotion, first.situation) == (
        "hit:1#1",
        'Wow" great',
        "proud",
        "I won, finally",
    )
    assert second.turns == ['I won "the" race, at last', 'Wow" great', "Yes."]
    assert (second.external_id, second.gold) == ("hit:1#3", "Congrats!")


@pytest.mark.django_db
def test_the_last_turn_of_the_speaker_is_a_target_of_training_and_no_dialog_of_its_own(write_lines: WriteFile) -> None:
    path = write_lines(
        HEADER,
        *(row("hit:1", index, f"One {index}.") for index in range(1, 6)),
        *(row("hit:2", index, f"Two {index}.") for index in range(1, 5)),
        *(row("hit:3", index, f"Three {index}.") for index in range(1, 4)),
        row("hit:4", 1, "Four 1."),
        name="train.csv",
    )

    counts = import_dialogs(path, "ED")

    assert counts.added == 5  # the listeners' turns
    following = dict(Dialog.objects.values_list("external_id", "source__next_turn"))
    assert {name for name, text in following.items() if text} == {"hit:1#3", "hit:3#1"}
    for source in (Source([str(path)]), Source(["ED"])):
        targets = sorted(pair.reply for pair in pairs_of(source.records()))
        every = [
            *(f"One {n}." for n in (2, 3, 4, 5)),
            *(f"Three {n}." for n in (2, 3)),
            *(f"Two {n}." for n in (2, 3, 4)),
        ]
        assert targets == every
    last = next(pair for pair in pairs_of(Source(["ED"]).records()) if pair.reply == "One 5.")
    assert last.turns == ("One 1.", "One 2.", "One 3.", "One 4.")


def test_every_turn_of_the_real_corpus_but_first_ones_is_a_target(shared_data: Path, write_lines: WriteFile) -> None:
    """The JSONL has the listeners' turns and how many turns there were; the CSV is written from that."""
    conversations: dict[str, tuple[list[str], int]] = {}
    for line in (shared_data / "ed_test.jsonl").read_text().splitlines():
        values = json.loads(line)
        conversations[values["conv_id"]] = [*values["context"], values["reference"]], values["n_turns"]
    rows = []
    for name, (turns, count) in conversations.items():
        whole = [*turns, "Thank you."][:count]  # the JSONL lacks a last turn of the speaker
        rows += [row(name, index, text.replace(",", "_comma_")) for index, text in enumerate(whole, 1)]

    path = write_lines(HEADER, *rows, name="test.csv")
    records = list(read_dialog_file(path, "empathetic-dialogues"))
    targets = list(pairs_of(record for record in records if not isinstance(record, Problem)))

    assert len(rows) == 10_973
    assert len(records) == 5259
    assert len(targets) == 10_973 - 2547
    assert sum(1 for pair in targets if pair.reply == "Thank you.") == 455  # 5.4 % of this part, 5.7 % of all three


@pytest.mark.django_db
def test_a_damaged_turn_spoils_the_rest_of_its_conversation_only(write_lines: WriteFile) -> None:
    problems: list[Problem] = []
    path = write_lines(
        HEADER,
        row("hit:1", 1, "One."),
        row("hit:1", 2, "Two, with a real comma."),
        row("hit:1", 3, "Three."),
        row("hit:2", 1, "One."),
        row("hit:2", 3, "Three without two."),
        row("hit:3", 1, "One."),
        row("hit:3", 2, "Two."),
        row("hit:4", 1, "One."),
        row("hit:4", 2, " "),
        name="test.csv",
    )

    counts = import_dialogs(path, "ED", options=ImportOptions(on_problem=problems.append))

    assert counts.added == 1
    assert [(problem.line, problem.reason.split(";")[0]) for problem in problems] == [
        (3, "the line has 9 fields"),
        (4, "an earlier turn of conversation hit:1 is missing"),
        (6, "utterance_idx is '3' where turn 2 of hit:2 should follow"),
        (10, "utterance is empty"),
    ]


@pytest.mark.django_db
def test_another_csv_is_refused_in_one_line(write_lines: WriteFile) -> None:
    with pytest.raises(EvalPlatformError, match="Not a file of EmpatheticDialogues"):
        import_dialogs(write_lines("a,b,c", "1,2,3", name="other.csv"), "ED")


@pytest.mark.django_db
def test_the_published_form_of_the_real_corpus_gives_the_same_dialogs_as_its_jsonl(
    shared_data: Path, write_lines: WriteFile
) -> None:
    rows: dict[tuple[str, int], str] = {}
    for line in (shared_data / "ed_test.jsonl").read_text().splitlines():
        values = json.loads(line)
        conversation = values["conv_id"]
        for index, text in enumerate([*values["context"], values["reference"]], 1):
            fields = [conversation, str(index), values["emotion"], values["situation"], "0", text, "", ""]
            rows[conversation, index] = ",".join(field.replace(",", "_comma_") for field in fields)

    counts = import_dialogs(write_lines(HEADER, *rows.values(), name="test.csv"), "ED")

    assert (counts.added, counts.rejected) == (5259, 0)
    import_dialogs(shared_data / "ed_test.jsonl", "ED as JSONL")
    from_csv, from_jsonl = (
        {
            (dialog.external_id, tuple(dialog.turns), dialog.gold, dialog.emotion, dialog.situation)
            for dialog in Dialog.objects.filter(dataset__name=name)
        }
        for name in ("ED", "ED as JSONL")
    )
    assert from_csv == from_jsonl
