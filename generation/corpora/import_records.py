"""Check that a worker can read imported texts (length, control characters, emptiness); define the records."""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any

MAX_TEXT_CHARACTERS = 10_000
MAX_TURNS = 100
MAX_ID_CHARACTERS = 200
MAX_NAME_CHARACTERS = 100
MAX_LABEL_CHARACTERS = 50

# A text may have line breaks and tabs, but no other control characters and no lone surrogates. It may not have U+202A
# to U+202E either, which reverse the text after them; marks and isolates of right-to-left writing do no harm.
_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")
_LINE_BREAK_OR_TAB = re.compile(r"[\t\n\r\u2028\u2029]")

# Controls, formats (such as U+200B), spaces, and combining marks, which are only visible on another character.
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me"}
_BLANK_LETTERS = set("\u115f\u1160\u2800\u3164\uffa0")  # fillers of Korean and Braille


# Characters that a database refuses: PostgreSQL stores no NUL, and no database stores half a surrogate pair, which JSON
# can contain.
_NOT_STORABLE = re.compile(r"[\x00\ud800-\udfff]")


class BadRecord(Exception):
    """A record can't be used. The message is the reason that the researcher reads beside the line's number."""


@dataclass(frozen=True, slots=True)
class DialogRecord:
    line: int
    external_id: str
    turns: list[str]
    gold: str = ""
    emotion: str = ""
    situation: str = ""
    turn_labels: list[str] = field(default_factory=list)
    gold_label: str = ""
    source: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A reply, and how to find its dialog: by id, or by exact context when there is no id."""

    line: int
    dataset: str
    external_id: str
    turns: list[str] | None
    generator: str
    text: str
    label: str = ""
    thoughts: str = ""  # what a reasoning model wrote before its reply; not part of the text


def storable(text: str) -> str:
    """Replace each character that a database refuses by U+FFFD. (A reply with U+FFFD is refused elsewhere.)

    >>> storable("so\\0 sad")
    'so\ufffd sad'
    """
    return _NOT_STORABLE.sub("\ufffd", text)


def checked_text(value: Any, what: str, limit: int = MAX_TEXT_CHARACTERS) -> str:
    """Return the value as it is, if it is text with something visible in it."""
    if not isinstance(value, str):
        raise BadRecord(f"{what} is missing" if value is None else f"{what} is not text")
    if len(value) > limit:
        raise BadRecord(f"{what} has {len(value):,} characters; at most {limit:,} are allowed")
    _refuse_match(_CONTROL_CHARACTER, value, what)
    if not any(map(_is_visible, value)):
        raise BadRecord(f"{what} is empty")
    return value


def checked_name(value: Any, what: str, limit: int = MAX_NAME_CHARACTERS) -> str:
    """Return the value as it is, if it is text that fits on one line. For ids, names of generators, labels and such."""
    name = checked_text(value, what, limit)
    _refuse_match(_LINE_BREAK_OR_TAB, name, what)
    return name


def checked_optional_text(value: Any, what: str) -> str:
    return "" if value is None or value == "" else checked_text(value, what)


def checked_optional_name(value: Any, what: str, limit: int = MAX_NAME_CHARACTERS) -> str:
    return "" if value is None or value == "" else checked_name(value, what, limit)


def checked_id(value: Any) -> str:
    """Return the id as text. Files made by scripts often number their dialogs, and ids are compared as text."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return checked_name(str(value) if is_number else value, "id", MAX_ID_CHARACTERS)


def checked_turns(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise BadRecord("context is missing" if value is None else "context is not a list of turns")
    if not value:
        raise BadRecord("context has no turns")
    if len(value) > MAX_TURNS:
        raise BadRecord(f"context has {len(value)} turns; at most {MAX_TURNS} are allowed")
    return [checked_text(turn, f"turn {position}") for position, turn in enumerate(value, 1)]


def checked_labels(value: Any, turns: list[str]) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) != len(turns):
        raise BadRecord(f"context_labels is not a list of {len(turns)} labels, one for each turn")
    return [checked_name(label, f"context label {i}", MAX_LABEL_CHARACTERS) for i, label in enumerate(value, 1)]


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in _INVISIBLE_CATEGORIES and character not in _BLANK_LETTERS


def _refuse_match(pattern: re.Pattern[str], value: str, what: str) -> None:
    if found := pattern.search(value):
        raise BadRecord(f"{what} has the control character U+{ord(found[0]):04X} at position {found.start() + 1}")
