"""Reads Prolific's list of filters. What its documentation leaves open is read as loosely as it can be.

Filters about groups of participants list no choices: the workspace's groups are these, except for our own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hits.crowds.filter_lists import ListedFilter
from hits.crowds.prolific.prolific_calls import ProlificCalls
from hits.crowds.prolific.study_fields import PREFIX

ABOUT_GROUPS = "participant_group_"


def read_filters(calls: ProlificCalls) -> Iterator[ListedFilter]:
    listed = [read_filter(one) for one in calls.filters().values()]
    groups: dict[str, str] = {}
    if any(one.filter_id.startswith(ABOUT_GROUPS) for one in listed):
        named = {str(one["id"]): str(one["name"]) for one in calls.groups()}
        groups = {key: name for key, name in named.items() if not name.startswith(f"{PREFIX} ")}
    for one in listed:
        yield replace(one, choices=groups) if one.filter_id.startswith(ABOUT_GROUPS) else one


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
