"""Makes a UTF-8 CSV file of whatever came: text in another encoding, or a JSON list of records.

Files are read and written in pieces, so that memory does not grow with them; JSON is read as a whole, and has a limit.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.elsewhere.first_look import LATIN, MOST_COLUMNS, check_column_names, decoder_of
from hits.models.ratings_upload import most_upload_bytes

PIECE = 1 << 22
MOST_JSON_BYTES = 50_000_000
MOST_LIST = 100  # numbers in one cell, each of which becomes a column


def is_json(path: Path) -> bool:
    """True if the file begins as JSON does: with a list of records, or with a record a line."""
    try:
        with path.open("rb") as file:
            beginning = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError as error:
        raise EvalPlatformError(f"{path} can't be read: {error.strerror}.") from error
    return beginning[:1] == b"{" or (beginning[:1] == b"[" and beginning[1:].lstrip()[:1] == b"{")


def json_as_csv(source: Path, target: Path, name: str) -> None:
    """Write a JSON list of records, or one record a line, as CSV. A list of numbers in a cell becomes a column for each
    of them, since other tools write several raters' scores that way."""
    if source.stat().st_size > MOST_JSON_BYTES:
        raise EvalPlatformError(f"{name} is larger than {MOST_JSON_BYTES // 10**6} MB; write it as CSV and try again.")
    records = _records(source, name)
    rows = [
        {column: cell for key, value in record.items() for column, cell in _cells(key, value)} for record in records
    ]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if not columns or len(columns) > MOST_COLUMNS:
        raise EvalPlatformError(f"{name} has {len(columns):,} columns; it must have 1 to {MOST_COLUMNS:,}.")
    check_column_names(columns, name)
    try:
        _write_rows(target, columns, rows, name)
    except UnicodeEncodeError as error:
        raise EvalPlatformError(
            f"{name} has half a letter, {error.object[error.start]!r}, which no text file can hold; write it without."
        ) from error


def _write_rows(target: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]], name: str) -> None:
    """Each row has all columns, so a small file of unlike records would become a huge one."""
    with target.open("wb") as written, TextIOWrapper(written, encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            if written.tell() > most_upload_bytes():
                raise EvalPlatformError(
                    f"{name} becomes larger than {settings.UPLOAD_MB:,} MB (UPLOAD_MB) as a table of {len(columns):,} "
                    "columns; do its records have the same fields?"
                )


def _records(source: Path, name: str) -> list[dict[str, Any]]:
    try:
        text = source.read_text(encoding="utf-8-sig")
        if text.lstrip().startswith("["):
            found: Any = json.loads(text)
        else:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise EvalPlatformError(f"{name} is no JSON that can be read: {error}.") from error
    if not found or not all(isinstance(record, dict) for record in found):
        raise EvalPlatformError(f"{name} must be a list of records: [{{...}}, ...] or a record a line.")
    return list(found)


def _cells(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and value[:1] == "[":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            yield key, value
            return
    if isinstance(value, list) and value and len(value) <= MOST_LIST and all(_is_plain_number(one) for one in value):
        yield from ((f"{key} {number}", str(one)) for number, one in enumerate(value, start=1))
    elif isinstance(value, (dict, list)):
        yield key, json.dumps(value, ensure_ascii=False)
    else:
        yield key, "" if value is None else str(value)


def _is_plain_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_utf8(path: Path) -> bool:
    """True if all of the file is UTF-8 without zero bytes."""
    decoder = decoder_of("utf-8")
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            if b"\0" in piece:
                raise EvalPlatformError(f"{path.name} is no text: it has zero bytes.")
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                return False
    return not decoder.getstate()[0]


def copy_as_utf8(source: Path, target: Path, encoding: str) -> None:
    decoder = decoder_of(LATIN if encoding.startswith("utf-8") else encoding)
    with source.open("rb") as file, target.open("w", encoding="utf-8", newline="") as copy:
        is_first = True
        while piece := file.read(PIECE):
            try:
                text = decoder.decode(piece)
            except UnicodeDecodeError as error:
                raise EvalPlatformError(f"{source.name} can't be read as {encoding}: {error.reason}.") from error
            if "\0" in text:
                raise EvalPlatformError(f"{source.name} is no text: it has zero bytes.")
            copy.write(text.removeprefix("\ufeff") if is_first else text)
            is_first = False
