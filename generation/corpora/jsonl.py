"""Read dialogs and candidates from JSONL: one JSON object a line. docs/formats.md lists the keys."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from generation.corpora.file_format import FileFormat, by_lines
from generation.corpora.import_records import (
    MAX_ID_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    BadRecord,
    CandidateRecord,
    DialogRecord,
    checked_id,
    checked_labels,
    checked_name,
    checked_optional_name,
    checked_optional_text,
    checked_text,
    checked_turns,
)
from generation.corpora.lines import Line, Problem, without_blanks
from generation.thoughts import NOTHING_BUT_THOUGHTS, split_thoughts

MOST_RAW_CHARACTERS = 1_000_000  # of a reply with its thoughts; a line can't hold more

_SOURCE_KEYS = ("conv_id", "turn", "n_turns")


def read_dialogs(lines: Iterable[Line | Problem]) -> Iterator[DialogRecord | Problem]:
    for line in without_blanks(lines):
        if isinstance(line, Problem):
            yield line
            continue
        try:
            yield _make_dialog(line.number, _parse_object(line.text))
        except BadRecord as bad:
            yield Problem(line.number, str(bad))


def read_candidates(lines: Iterable[Line | Problem]) -> Iterator[CandidateRecord | Problem]:
    """Read lines with the replies of many generators (`candidates`), or of one (`generator` and `reply`)."""
    for line in without_blanks(lines):
        if isinstance(line, Problem):
            yield line
            continue
        try:
            values = _parse_object(line.text)
            replies = _list_replies(values)
        except BadRecord as bad:
            yield Problem(line.number, str(bad))
            continue
        for generator, text, label in replies:
            try:
                yield candidate_record(line.number, values, values.get("context"), generator, text, label)
            except BadRecord as bad:
                # Write the name as Python would, since nothing has checked it yet.
                yield Problem(line.number, f"{generator[:100]!r}: {bad}" if len(replies) > 1 else str(bad))


def candidate_record(
    line: int, values: dict[str, Any], context: Any, generator: Any, text: Any, label: Any
) -> CandidateRecord:
    external_id = "" if values.get("id") in (None, "") else checked_id(values["id"])
    turns = None if context is None else checked_turns(context)
    if not external_id and turns is None:
        raise BadRecord("id and context are both missing; one is needed to find the dialog")
    reply, thoughts = split_thoughts(checked_text(text, "reply", MOST_RAW_CHARACTERS))
    if thoughts and not reply:
        raise BadRecord(f"reply is {NOTHING_BUT_THOUGHTS}")
    return CandidateRecord(
        line=line,
        dataset=checked_optional_name(values.get("dataset"), "dataset"),
        external_id=external_id,
        turns=turns,
        generator=checked_name(generator, "generator"),
        text=checked_text(reply, "reply"),
        thoughts=thoughts,
        label=checked_optional_name(label, "label", MAX_LABEL_CHARACTERS),
    )


def _make_dialog(line: int, values: dict[str, Any]) -> DialogRecord:
    turns = checked_turns(values.get("context"))
    return DialogRecord(
        line=line,
        external_id=checked_id(values.get("id")),
        turns=turns,
        gold=checked_optional_text(values.get("reference"), "reference"),
        emotion=checked_optional_name(values.get("emotion"), "emotion", MAX_LABEL_CHARACTERS),
        situation=checked_optional_text(values.get("situation"), "situation"),
        turn_labels=checked_labels(values.get("context_labels"), turns),
        gold_label=checked_optional_name(values.get("reference_label"), "reference_label", MAX_LABEL_CHARACTERS),
        source=_make_source(values),
    )


def _make_source(values: dict[str, Any]) -> dict[str, Any]:
    found = {key: values[key] for key in _SOURCE_KEYS if isinstance(values.get(key), str | int)}
    for key, value in found.items():
        if isinstance(value, str):
            checked_optional_name(value, key, MAX_ID_CHARACTERS)
        elif abs(value) > 2**53:
            raise BadRecord(f"{key} is too large a number")
    following = checked_optional_text(values.get("next_turn"), "next_turn")
    return {**found, **({"next_turn": following} if following else {})}


def _list_replies(values: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    """Return (generator, reply, label) of each reply in a line."""
    candidates = values.get("candidates")
    if candidates is None:
        if "reply" not in values and "generator" not in values:
            raise BadRecord('"candidates" is missing, and so are "generator" and "reply"')
        return [(values.get("generator"), values.get("reply"), values.get("label"))]
    if not isinstance(candidates, dict) or not candidates:
        raise BadRecord("candidates is not an object of generator names and replies")
    labels = values.get("predicted_labels") or {}
    if not isinstance(labels, dict):
        raise BadRecord("predicted_labels is not an object of generator names and labels")
    return [(generator, text, labels.get(generator)) for generator, text in candidates.items()]


def _parse_object(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadRecord(f"broken JSON at column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError):  # numbers of thousands of digits, brackets nested thousands deep
        raise BadRecord("broken JSON: too large a number or too deep a nesting") from None
    if not isinstance(values, dict):
        raise BadRecord("the line is JSON, but not an object")
    return values


FORMAT = FileFormat(
    "jsonl",
    ".jsonl, one JSON object a line",
    suffixes=(".jsonl", "", ".json", ".ndjson", ".txt", ".gz"),  # .gz is here to refuse it with a clear reason
    read_dialogs=by_lines(read_dialogs),
    read_candidates=by_lines(read_candidates),
)
