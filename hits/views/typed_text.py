"""Turns what is typed into a field into numbers and lists, and numbers into the text that a field shows."""

import re
from typing import Any


def as_number(text: str) -> Any:
    """Return the number, or the text as typed if it is none: the checks will say so."""
    text = text.strip()
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(r"\d{1,15}\.\d{1,15}", text) else text


def as_words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def as_list(text: str) -> list[str]:
    """Return what stands between commas; unlike words, entries may contain spaces."""
    return [one.strip() for one in text.split(",") if one.strip()]


def in_short(value: Any) -> Any:
    """Shorten numbers: 15.0 minutes are shown as 15."""
    return f"{value:g}" if isinstance(value, float) else value
