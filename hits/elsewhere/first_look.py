"""Looks at the beginning of a file: its encoding, its separator, its columns, and a few of its rows.

Pages call this, so it needs neither pandas nor DuckDB, and reads no more than a megabyte.
"""

import codecs
import csv
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evalplatform.errors import EvalPlatformError

SEEN_BYTES = 1_000_000
SAMPLE_ROWS = 200
MOST_COLUMNS = 2_000
LONGEST_COLUMN = 200  # characters of its name
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
LATIN = "cp1252"  # what Windows calls Latin-1; the bytes that it does not have are read as Latin-1's
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_PACKED = {
    b"PK\x03\x04": "is a zip file or an Excel workbook; save the sheet as CSV and try again",
    b"\x1f\x8b": "is packed; unpack it and try again",
    b"%PDF": "is a PDF",
    b"PAR1": "is a Parquet file; write it as CSV and try again",
}
_ENCODING_NAMES = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", LATIN: "Windows-1252 (Latin-1)"}


@dataclass(frozen=True)
class FirstLook:
    """What a file looks like. Without a header, columns are called "column 1", "column 2" and so on."""

    encoding: str
    separator: str
    has_header: bool
    columns: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]  # the first rows, each with a cell for each column

    @property
    def described(self) -> str:
        encoding = _ENCODING_NAMES.get(self.encoding, self.encoding.upper())
        header = "its first line names the columns" if self.has_header else "it has no header"
        return f"{encoding}, separated by {SEPARATORS[self.separator]}s; {header}."

    def values_of(self, column: str) -> list[str]:
        index = self.columns.index(column)
        return [cell for row in self.sample if (cell := row[index].strip())]


def look_at(path: Path) -> FirstLook:
    """Look at a CSV file. Raise in one line if it is not one."""
    try:
        with path.open("rb") as file:
            seen = file.read(SEEN_BYTES)
    except OSError as error:
        raise EvalPlatformError(f"{path} can't be read: {error.strerror}.") from error
    encoding = _encoding_of(seen, path.name)
    text = _decode(seen, encoding)
    lines = text.splitlines(keepends=True)
    if len(seen) == SEEN_BYTES:
        if len(lines) < 2:
            raise EvalPlatformError(
                f"{path.name} begins with a line of more than {SEEN_BYTES:,} bytes: it is no table."
            )
        lines = lines[:-1]  # it may be cut off
    separator, rows = _split_rows(lines, path.name)
    has_header = not any(_is_number(cell) for cell in rows[0])
    width = len(rows[0])
    names = rows[0] if has_header else [f"column {number}" for number in range(1, width + 1)]
    check_column_names(names, path.name)
    body = rows[1:] if has_header else rows
    sample = tuple(tuple(row) for row in body if len(row) == width)
    return FirstLook(encoding, separator, has_header, _unique(names), sample)


def check_column_names(names: Iterable[str], file_name: str) -> None:
    """Raise in one line if a name is too long to be one."""
    if long := next((one for one in names if len(one) > LONGEST_COLUMN), ""):
        raise EvalPlatformError(
            f"{file_name} has a column whose name has {len(long):,} characters ({long[:30]!r}...); {LONGEST_COLUMN} is "
            "the most that is read."
        )


def is_number(text: str) -> bool:
    """True for numbers as people write them, with a point or a comma."""
    return _is_number(text) or _is_number(text.replace(",", ".", 1))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _encoding_of(seen: bytes, name: str) -> str:
    if not seen.strip():
        raise EvalPlatformError(f"{name} is empty.")
    for beginning, problem in _PACKED.items():
        if seen.startswith(beginning):
            raise EvalPlatformError(f"{name} {problem}.")
    for mark, encoding in _BOMS:
        if seen.startswith(mark):
            return encoding
    if b"\0" in seen:
        for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):  # of Latin letters, every second byte is 0
            half = seen[start::2]
            if half.count(0) > 0.4 * len(half) and seen[1 - start :: 2].count(0) < 0.05 * len(half):
                return encoding
        raise EvalPlatformError(f"{name} is no text: it has zero bytes.")
    if sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in seen[:100_000]) > 0.01 * len(seen[:100_000]):
        raise EvalPlatformError(f"{name} is no text: it is full of control characters.")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(seen)
    except UnicodeDecodeError:
        return LATIN
    return "utf-8"


def decoder_of(encoding: str) -> codecs.IncrementalDecoder:
    """Return a decoder that never fails for Latin-1, and fails for everything else that is damaged."""
    return codecs.getincrementaldecoder(encoding)("latin_1_bytes" if encoding == LATIN else "strict")


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("latin_1_bytes", _as_latin_1)


def _decode(seen: bytes, encoding: str) -> str:
    try:
        return decoder_of(encoding).decode(seen).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise EvalPlatformError(f"The file can't be read as {encoding}: {error.reason}.") from error


def _split_rows(lines: list[str], name: str) -> tuple[str, list[list[str]]]:
    """Split by the separator that gives most lines the same number of columns, and the most columns."""
    best: tuple[float, int, str, list[list[str]]] | None = None
    for separator in SEPARATORS:
        try:
            reader = csv.reader(lines, delimiter=separator)
            rows = [row for row, _ in zip((row for row in reader if row), range(SAMPLE_ROWS + 1), strict=False)]
        except csv.Error:
            continue
        if not rows:
            continue
        width, same = Counter(map(len, rows)).most_common(1)[0]
        if width > 1 and (best is None or (same / len(rows), width) > best[:2]):
            best = (same / len(rows), width, separator, rows)
    if best is None:
        raise EvalPlatformError(
            f"{name} is no table: no comma, semicolon, tab or pipe separates its lines into columns."
        )
    if (width := len(best[3][0])) > MOST_COLUMNS:
        raise EvalPlatformError(f"{name} has {width:,} columns; {MOST_COLUMNS:,} is the most that is read.")
    return best[2], best[3]


def _unique(names: list[str]) -> tuple[str, ...]:
    """Name columns without a name by their place, and tell columns of the same name apart."""
    found: list[str] = []
    for number, name in enumerate(names, start=1):
        clean = " ".join(name.replace("\0", "").split()) or f"column {number}"
        found.append(clean if clean not in found else f"{clean} ({number})")
    return tuple(found)
