"""EmpatheticDialogues as published: a CSV that isn't one.

Every line has exactly 8 fields split by commas, commas in a text are written `_comma_`, and quotation marks mean
nothing: a CSV parser that honours them loses rows. The lines of a conversation follow each other; each turn of its
listener (the even ones) makes a dialog, whose context is all that was said before.
"""

from collections.abc import Iterable, Iterator

from evalplatform.errors import EvalPlatformError
from generation.corpora.lines import Line, Problem, without_blanks
from generation.corpora.records import (
    MAX_ID_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    BadRecord,
    DialogRecord,
    checked_name,
    checked_optional_name,
    checked_optional_text,
    checked_text,
)

HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"


def read_dialogs(lines: Iterable[Line | Problem]) -> Iterator[DialogRecord | Problem]:
    conversation_id = ""
    turns: list[str] = []
    is_broken = False
    has_header = False
    for line in without_blanks(lines):
        if isinstance(line, Problem):
            is_broken = True  # whichever conversation it belonged to now lacks a turn
            yield line
            continue
        if not has_header:
            _check_header(line.text)
            has_header = True
            continue
        try:
            fields = _fields(line.text)
            if fields[0] != conversation_id:
                conversation_id, turns, is_broken = fields[0], [], False
            elif is_broken:
                raise BadRecord(f"an earlier turn of conversation {conversation_id} is missing")
            turns, record = _add_turn(line.number, turns, fields)
            if record:
                yield record
        except BadRecord as bad:
            is_broken = True
            yield Problem(line.number, str(bad))


def _check_header(text: str) -> None:
    if not text.startswith(HEADER):
        raise EvalPlatformError(f"Not a file of EmpatheticDialogues: its first line should be {HEADER}")


def _fields(text: str) -> list[str]:
    fields = text.split(",")
    if len(fields) != 8:
        raise BadRecord(
            f"the line has {len(fields)} fields; EmpatheticDialogues has 8, and writes commas in texts as _comma_"
        )
    return [field.replace("_comma_", ",").strip() for field in fields]


def _add_turn(line: int, turns: list[str], fields: list[str]) -> tuple[list[str], DialogRecord | None]:
    """The conversation with this turn, and the dialog that the turn answers if the listener speaks."""
    conversation_id, index, emotion, situation, _speaker, utterance, *_ = fields
    if index != str(len(turns) + 1):
        raise BadRecord(f"utterance_idx is {index!r} where turn {len(turns) + 1} of {conversation_id} should follow")
    text = checked_text(utterance, "utterance")
    is_listener = len(turns) % 2 == 1
    record = DialogRecord(
        line=line,
        external_id=checked_name(f"{conversation_id}#{len(turns)}", "conv_id", MAX_ID_CHARACTERS),
        turns=turns,
        gold=text,
        emotion=checked_optional_name(emotion, "context (the emotion)", MAX_LABEL_CHARACTERS),
        situation=checked_optional_text(situation, "prompt (the situation)"),
        source={"conv_id": conversation_id, "turn": len(turns)},
    )
    return [*turns, text], record if is_listener else None
