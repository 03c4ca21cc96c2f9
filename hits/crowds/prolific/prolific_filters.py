"""Reads a filter from Prolific's list of them. What its documentation leaves open is read as loosely as it can be."""

from collections.abc import Mapping
from typing import Any

from hits.crowds.filter_lists import ListedFilter


def read_filter(row: Mapping[str, Any]) -> ListedFilter:
    choices = row.get("choices")
    groups = [str(row.get(name) or "") for name in ("category", "subcategory")]
    title = str(row.get("title") or row["filter_id"])
    words = str(row.get("question") or row.get("description") or "")
    return ListedFilter(
        filter_id=str(row["filter_id"]),
        title=title,
        words="" if words == title else words,
        group=", ".join(filter(None, groups)),
        is_range=row.get("type") == "range",
        lowest=_number(row.get("min")),
        highest=_number(row.get("max")),
        choices={str(key): str(label) for key, label in choices.items()} if isinstance(choices, Mapping) else {},
    )


def _number(value: Any) -> float | None:
    return value if type(value) in (int, float) else None
