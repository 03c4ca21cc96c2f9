"""Read EmpatheticDialogues as published, which is not quite CSV; each turn of a listener makes a dialog.

Every line has exactly 8 fields split by commas, commas in a text are written `_comma_`, and quotation marks mean
nothing: a CSV parser that honours them loses rows. The lines of a conversation follow each other. Each turn of its
listener (the even ones) makes a dialog, whose context is everything before it. Models are tested in the listener's role
(Rashkin et al., section 3) but trained on every turn. If the speaker has the last turn, it is in no context, so it is
stored as `next_turn` of the dialog before it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from evalplatform.errors import EvalPlatformError
from generation.corpora.file_format import FileFormat, by_lines
from generation.corpora.import_records import (
    MAX_ID_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    BadRecord,
    DialogRecord,
    checked_name,
    checked_optional_name,
    checked_optional_text,
    checked_text,
)
from generation.corpora.lines import Line, Problem, without_blanks

HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"


def read_dialogs(lines: Iterable[Line | Problem]) -> Iterator[DialogRecord | Problem]:
    conversation = _Conversation()
    is_broken = False
    has_header = False
    for line in without_blanks(lines):
        if isinstance(line, Problem):
            is_broken = True  # the conversation that this line belonged to now lacks a turn
            yield line
            continue
        if not has_header:
            _check_header(line.text)
            has_header = True
            continue
        try:
            fields = _split_fields(line.text)
            if fields[0] != conversation.id:
                yield from conversation.last_dialog()
                conversation, is_broken = _Conversation(fields[0]), False
            elif is_broken:
                raise BadRecord(f"an earlier turn of conversation {conversation.id} is missing")
            yield from conversation.add(line.number, fields)
        except BadRecord as bad:
            is_broken = True
            yield Problem(line.number, str(bad))
    yield from conversation.last_dialog()


def _check_header(text: str) -> None:
    if not text.startswith(HEADER):
        raise EvalPlatformError(f"Not a file of EmpatheticDialogues: its first line should be {HEADER}")


def _split_fields(text: str) -> list[str]:
    fields = text.split(",")
    if len(fields) != 8:
        raise BadRecord(
            f"the line has {len(fields)} fields; EmpatheticDialogues has 8, and writes commas in texts as _comma_"
        )
    return [field.replace("_comma_", ",").strip() for field in fields]


class _Conversation:
    """Collects the turns of a conversation. It holds back each dialog until it knows whether the speaker's turn after
    the dialog is the conversation's last one."""

    def __init__(self, id: str = "") -> None:
        self.id = id
        self._turns: list[str] = []
        self._dialog: DialogRecord | None = None

    def add(self, line: int, fields: list[str]) -> Iterator[DialogRecord]:
        """Add a turn. A listener's turn completes a new dialog; yield the one before, which is finished now."""
        _, index, emotion, situation, _speaker, utterance, *_ = fields
        count = len(self._turns)
        if index != str(count + 1):
            raise BadRecord(f"utterance_idx is {index!r} where turn {count + 1} of {self.id} should follow")
        text = checked_text(utterance, "utterance")
        dialog = DialogRecord(
            line=line,
            external_id=checked_name(f"{self.id}#{count}", "conv_id", MAX_ID_CHARACTERS),
            turns=self._turns,
            gold=text,
            emotion=checked_optional_name(emotion, "context (the emotion)", MAX_LABEL_CHARACTERS),
            situation=checked_optional_text(situation, "prompt (the situation)"),
            source={"conv_id": self.id, "turn": count},
        )
        if count % 2 == 1:
            if self._dialog:
                yield self._dialog
            self._dialog = dialog
        self._turns = [*self._turns, text]

    def last_dialog(self) -> Iterator[DialogRecord]:
        if self._dialog and len(self._turns) % 2 == 1:
            yield replace(self._dialog, source={**self._dialog.source, "next_turn": self._turns[-1]})
        elif self._dialog:
            yield self._dialog


FORMAT = FileFormat(
    "empathetic-dialogues",
    "the .csv files of EmpatheticDialogues as published",
    suffixes=(".csv",),
    read_dialogs=by_lines(read_dialogs),
)
