"""Shortens long names and breaks long lines in all figures, and computes how far intervals reach."""

import textwrap

from hits.analysing.figures.canvas import NARROW
from hits.stats import Estimate, Undefined

LONGEST_NAME, LONGEST_IN_A_COLUMN = 30, 16  # letters that fit beside a drawing; its words have the names in full
LETTERS_PER_INCH = 16
ROW, CLOSE_ROW, MANY_ROWS = 0.2, 0.18, 12  # inches
MOST_OF_ROWS = 7.6  # inches that the rows of one panel may have


def row_height(rows: int) -> float:
    """Return the height of a row of a panel: many stand closer, so that they fit on a page."""
    return min(ROW if rows <= MANY_ROWS else CLOSE_ROW, MOST_OF_ROWS / max(1, rows))


def longest_name(width: float) -> int:
    return LONGEST_IN_A_COLUMN if width <= NARROW else LONGEST_NAME


def wrapped(text: str, width: float) -> str:
    """Break a line of small letters so that it fits into a figure."""
    return "\n".join(textwrap.wrap(text, round(width * LETTERS_PER_INCH)))


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Shorten a name in the middle, since names of models often begin alike and differ at the end."""
    if len(name) <= longest:
        return name
    kept = longest - 1
    return f"{name[: kept - kept // 2]}…{name[-(kept // 2) :]}"


def half_widths(value: Estimate) -> tuple[float, float] | None:
    """Return how far an interval reaches to the left and to the right of its value."""
    if isinstance(value.interval, Undefined):
        return None
    return max(0.0, value.value - value.interval.low), max(0.0, value.interval.high - value.value)
