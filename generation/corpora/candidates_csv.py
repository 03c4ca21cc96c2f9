"""CSV, a reply a row: columns generator, reply, id or context (a JSON list), and perhaps dataset and label."""

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any

from evalplatform.errors import EvalPlatformError
from generation.corpora.jsonl import candidate_record
from generation.corpora.lines import Line, Problem
from generation.corpora.records import BadRecord, CandidateRecord

_NEEDED = {"generator", "reply"}


def read_candidates(lines: Iterable[Line | Problem]) -> Iterator[CandidateRecord | Problem]:
    problems: list[Problem] = []
    numbers: list[int] = []
    rows = csv.reader(_texts(lines, problems, numbers))
    columns: list[str] | None = None
    while True:
        numbers.clear()
        try:
            row = next(rows, None)
        except csv.Error as error:
            problems.append(Problem(numbers[0], f"broken CSV: {error}; is a quotation mark left open?"))
            row = []
        yield from problems
        problems.clear()
        if row is None:
            return
        if columns is None:
            columns = _checked_columns(row)
        elif row:
            try:
                yield _candidate(numbers[0], columns, row)
            except BadRecord as bad:
                yield Problem(numbers[0], str(bad))


def _texts(lines: Iterable[Line | Problem], problems: list[Problem], numbers: list[int]) -> Iterator[str]:
    """The lines for the CSV parser; what can't be parsed goes to `problems`, and where we are to `numbers`."""
    for line in lines:
        if isinstance(line, Problem):
            problems.append(line)
        else:
            numbers.append(line.number)
            yield f"{line.text}\n"


def _checked_columns(row: list[str]) -> list[str]:
    columns = [name.strip().lower() for name in row]
    if not set(columns) >= _NEEDED or not {"id", "context"} & set(columns):
        raise EvalPlatformError(
            f"The first line names the columns {', '.join(columns) or '(none)'}; "
            "needed are generator, reply, and id or context."
        )
    return columns


def _candidate(line: int, columns: list[str], row: list[str]) -> CandidateRecord:
    if len(row) != len(columns):
        raise BadRecord(f"the row has {len(row)} fields; the first line names {len(columns)} columns")
    values: dict[str, Any] = dict(zip(columns, row, strict=True))
    context = _context(values["context"]) if values.get("context") else None
    return candidate_record(line, values, context, values["generator"], values["reply"], values.get("label"))


def _context(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadRecord("context is not a JSON list of turns") from None
