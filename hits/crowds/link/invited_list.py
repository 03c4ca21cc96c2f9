"""Reads a list of raters: one a line, or CSV with a header; says line by line what can't be read.

In: what somebody pasted, or a file's bytes. Out: names and addresses, and problems with their lines' numbers.
Guaranteed: a line that can't be read costs no other line; no name or address holds a line break or another character
that can't be seen, so that neither breaks a letter's head.
"""

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from evalplatform.errors import EvalPlatformError

MOST_LINES = 2000
MOST_BYTES = 1_000_000
LONGEST_NAME = 100
NAMED_ADDRESS = re.compile(r"(.*?)<([^<>]*)>")

# What columns are called, in small letters and without spaces, hyphens and the like.
EMAIL_COLUMNS = {"email", "mail", "emailaddress", "address", "emailadresse"}
NAME_COLUMNS = {"name", "fullname"}
FIRST_NAME_COLUMNS = {"firstname", "givenname", "vorname"}
LAST_NAME_COLUMNS = {"lastname", "surname", "familyname", "nachname"}


@dataclass(frozen=True)
class Person:
    """A rater as a line names them. One of the two may be empty."""

    name: str
    email: str
    line: int


@dataclass(frozen=True)
class LineProblem:
    line: int
    text: str
    why: str


@dataclass
class ReadList:
    people: list[Person] = field(default_factory=list)
    problems: list[LineProblem] = field(default_factory=list)


class _Unreadable(Exception):
    """Why a line can't be read."""


def read_list(text: str) -> ReadList:
    """Read people from pasted lines. Raises EvalPlatformError only if the list as a whole is too long."""
    lines = text.lstrip("\ufeff").splitlines()
    if len(lines) > MOST_LINES:
        raise EvalPlatformError(f"The list has more than {MOST_LINES:,} lines: please add it in parts.")
    separator, columns = _find_columns(lines)
    read = ReadList()
    for number, line in enumerate(lines, start=1):
        if not line.strip() or (columns and line == _first_line(lines)):
            continue
        try:
            name, email = _read_columns(line, separator, columns) if columns else _read_line(line)
            read.people.append(Person(_checked_name(name), _checked_email(email), number))
        except _Unreadable as problem:
            read.problems.append(LineProblem(number, line.strip()[:80], str(problem)))
    return read


def decode_list(content: bytes) -> str:
    """Return a file's text, as spreadsheets write it: UTF-8, UTF-16, or Windows' letters."""
    if len(content) > MOST_BYTES:
        raise EvalPlatformError("The file is larger than 1 MB, which is no list of names: please choose another.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


# --- Columns ---------------------------------------------------------------------------------------------------------


def _first_line(lines: list[str]) -> str:
    return next((line for line in lines if line.strip()), "")


def _find_columns(lines: list[str]) -> tuple[str, list[str]]:
    """Return the separator and the columns if the first line is a header; no columns if it is somebody."""
    first = _first_line(lines)
    for separator in "\t;,":
        columns = [re.sub(r"[^a-z]", "", cell.lower()) for cell in _cells(first, separator)]
        known = EMAIL_COLUMNS | NAME_COLUMNS | LAST_NAME_COLUMNS
        if "@" not in first and any(column in known for column in columns):
            return separator, columns
    return ",", []


def _cells(line: str, separator: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]


def _read_columns(line: str, separator: str, columns: list[str]) -> tuple[str, str]:
    cells = dict(zip(columns, _cells(line, separator), strict=False))

    def of(names: set[str]) -> str:
        return next((cells[name] for name in columns if name in names and cells.get(name)), "")

    return of(NAME_COLUMNS) or f"{of(FIRST_NAME_COLUMNS)} {of(LAST_NAME_COLUMNS)}", of(EMAIL_COLUMNS)


def _read_line(line: str) -> tuple[str, str]:
    """Read `Ada Lovelace <ada@example.org>`, `Ada Lovelace, ada@example.org`, an address alone, or a name alone."""
    if (named := NAMED_ADDRESS.fullmatch(line.strip().rstrip(",;"))) is not None:
        return named[1].strip().strip('"'), named[2]
    separator = next((one for one in "\t;," if one in line), ",")
    cells = [cell for cell in _cells(line, separator) if cell]
    addresses = [cell for cell in cells if "@" in cell]
    names = [cell for cell in cells if "@" not in cell]
    if len(addresses) > 1:
        raise _Unreadable("has two addresses; write one person a line")
    if len(names) > 1:
        raise _Unreadable("has more than a name and an address; write “name, address”, or a header with the columns")
    return "".join(names), "".join(addresses)


# --- Names and addresses ---------------------------------------------------------------------------------------------


def _checked_name(name: str) -> str:
    name = " ".join(name.split(" ")).strip()
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in name):
        raise _Unreadable("has a character that can't be seen")
    name = " ".join(name.split())
    if len(name) > LONGEST_NAME:
        raise _Unreadable(f"has a name of more than {LONGEST_NAME} letters")
    return name


def _checked_email(email: str) -> str:
    email = email.strip()
    if not email:
        return ""
    try:
        validate_email(email)
    except ValidationError:
        raise _Unreadable("has an e-mail address that can't be right") from None
    return email


def lines_of(problems: list[LineProblem]) -> Iterator[str]:
    """Yield each problem as a sentence."""
    for one in problems:
        yield f"Line {one.line} ({one.text}) {one.why}."
