"""Read candidates from CSV, one reply a row: columns generator, reply, id or context, and perhaps dataset and label."""

import csv
import json
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from evalplatform.errors import EvalPlatformError
from generation.corpora.file_format import FileFormat, by_lines
from generation.corpora.import_records import BadRecord, CandidateRecord
from generation.corpora.jsonl import candidate_record
from generation.corpora.lines import Line, Problem

MAX_LINES_OF_A_ROW = 200

_NEEDED = {"generator", "reply"}


def read_candidates(lines: Iterable[Line | Problem]) -> Iterator[CandidateRecord | Problem]:
    columns: list[str] | None = None
    for found in _read_rows(lines):
        if isinstance(found, Problem):
            yield found
            continue
        number, row = found
        if columns is None:
            columns = _check_columns(row)
            continue
        try:
            yield _make_candidate(number, columns, row)
        except BadRecord as bad:
            yield Problem(number, str(bad))


def _read_rows(lines: Iterable[Line | Problem]) -> Iterator[tuple[int, list[str]] | Problem]:
    """Yield rows with the number of the line on which they begin.

    A quotation mark that is never closed would swallow the rest of the file. A row that can't be finished is therefore
    reported by its first line alone, and reading goes on with the next line.
    """
    source = iter(lines)
    returned: deque[Line | Problem] = deque()

    def next_line() -> Line | Problem | None:
        return returned.popleft() if returned else next(source, None)

    while (first := next_line()) is not None:
        if isinstance(first, Problem):
            yield first
            continue
        if not first.text.strip():
            continue
        taken: list[Line] = [first]
        following: Line | Problem | None = None
        while (row := _parse(taken)) is None and len(taken) < MAX_LINES_OF_A_ROW:
            following = next_line()
            if not isinstance(following, Line):
                break
            taken.append(following)
        if isinstance(row, list):
            yield first.number, row
            continue
        yield Problem(first.number, row or "broken CSV: a quotation mark is left open")
        returned.extendleft(reversed([*taken[1:], *([following] if isinstance(following, Problem) else [])]))


def _parse(lines: list[Line]) -> list[str] | str | None:
    """Return the row, None while a quotation mark is open, or a text that says what is wrong with the row."""
    try:
        (row,) = csv.reader(["\n".join(line.text for line in lines)], strict=True)
    except csv.Error as error:
        return None if "unexpected end of data" in str(error) else f"broken CSV: {error}"
    except ValueError:  # more than one row, from a line break inside the line that no quotation mark covers
        return "broken CSV: a line break outside of quotation marks"
    return row


def _check_columns(row: list[str]) -> list[str]:
    columns = [name.strip().lower() for name in row]
    if not set(columns) >= _NEEDED or not {"id", "context"} & set(columns):
        raise EvalPlatformError(
            f"The first line names the columns {', '.join(columns) or '(none)'}; "
            "it needs generator, reply, and id or context."
        )
    return columns


def _make_candidate(line: int, columns: list[str], row: list[str]) -> CandidateRecord:
    if len(row) != len(columns):
        raise BadRecord(f"the row has {len(row)} fields; the first line names {len(columns)} columns")
    values: dict[str, Any] = dict(zip(columns, row, strict=True))
    context = _parse_context(values["context"]) if values.get("context") else None
    return candidate_record(line, values, context, values["generator"], values["reply"], values.get("label"))


def _parse_context(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadRecord("context is not a JSON list of turns") from None


FORMAT = FileFormat("csv", ".csv, a reply a row", suffixes=(".csv",), read_candidates=by_lines(read_candidates))
