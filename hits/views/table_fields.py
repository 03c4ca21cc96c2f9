"""Shows a protocol's table of settings as rows of form fields, and reads them back: one row for each table of a list.

A column is an `OwnSetting` whose kind is "text", "number", "words" (separated by commas or spaces), "list" (separated
by commas only), "choice" or "yes_no". An empty cell means the default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from hits.protocols import OwnSetting
from hits.views.typed_text import as_list, as_number, as_words, in_short

SPARE_ROWS = 2
YES_NO = (("yes", "yes"), ("no", "no"))


@dataclass(frozen=True)
class TableCell:
    column: OwnSetting
    text: str

    @property
    def choices(self) -> Sequence[tuple[str, str]]:
        return YES_NO if self.column.kind == "yes_no" else self.column.choices

    @property
    def in_words(self) -> str:
        return dict(self.choices).get(self.text, self.text)


def table_rows(tables: Sequence[Mapping[str, Any]], columns: Sequence[OwnSetting]) -> list[list[TableCell]]:
    """Return the cells that the form shows, with empty rows for more."""
    shown = [*tables, *({} for _ in range(SPARE_ROWS))]
    return [[TableCell(column, _written(table.get(column.path))) for column in columns] for table in shown]


def table_in_words(rows: Sequence[Sequence[TableCell]]) -> str:
    """Write the rows that say something, a line each: its first cell, and the others with their columns' labels."""
    lines = ([cell for cell in row if cell.text] for row in rows)
    return "\n".join(" · ".join([line[0].in_words, *map(_labelled, line[1:])]) for line in lines if line) or "none"


def _labelled(cell: TableCell) -> str:
    return f"{cell.column.label}: {cell.in_words}"


def read_table(post: QueryDict, path: str, columns: Sequence[OwnSetting]) -> list[dict[str, Any]]:
    typed = [post.getlist(f"{path}.{column.path}") for column in columns]
    found = []
    for texts in zip(*typed, strict=False):
        if texts[0].strip():
            cells = {one.path: _read(one, text.strip()) for one, text in zip(columns, texts, strict=True)}
            found.append({name: cell for name, cell in cells.items() if cell not in ("", [])})
    return found


def is_same_table(
    read: Sequence[Mapping[str, Any]], stored: Sequence[Mapping[str, Any]], columns: Sequence[OwnSetting]
) -> bool:
    """Tell if the form says nothing new: it shows neither every line break nor what has no column."""
    texts = ([[_collapsed(one.get(column.path)) for column in columns] for one in tables] for tables in (read, stored))
    return next(texts) == next(texts)


def _read(column: OwnSetting, text: str) -> Any:
    if column.kind == "yes_no" and text in ("yes", "no"):
        return text == "yes"
    if column.kind == "number":
        return as_number(text)
    if column.kind == "words":
        return as_words(text)
    return as_list(text) if column.kind == "list" else text


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(in_short(value))


def _collapsed(value: Any) -> str:
    return "".join(_written(value).split())
