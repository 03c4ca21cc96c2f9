"""Shows the filters by which a crowd chooses people as form fields, reads them back, and finds more by words.

Each filter of a draft is a row of numbered fields. A filter that the crowd's list describes has its choices or its
range; of any other, ids and numbers can be typed, so that the form works without the list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict

from hits.crowds import ListedFilter, StoredFilters
from hits.views.typed_text import as_list, as_number, in_short

MOST_FOUND = 12
FEW_CHOICES = 12  # so many are shown at once; more are folded


@dataclass(frozen=True)
class Choice:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class FilterRow:
    """One filter of the draft. `listed` is what the crowd's list says of it, if anything."""

    number: int
    filter_id: str
    listed: ListedFilter | None
    choices: Sequence[Choice]
    typed: str  # values that the list has no choices for
    lower: str
    upper: str
    is_new: bool = False

    @property
    def title(self) -> str:
        return self.listed.title if self.listed else self.filter_id

    @property
    def chosen(self) -> list[str]:
        return [one.label for one in self.choices if one.is_chosen]

    @property
    def is_folded(self) -> bool:
        return len(self.choices) > FEW_CHOICES

    @property
    def has_range(self) -> bool:
        return self.listed is None or self.listed.is_range or bool(self.lower or self.upper)

    @property
    def has_typed(self) -> bool:
        is_about_ids = self.listed is not None and not self.listed.is_range and not self.choices
        return self.listed is None or is_about_ids or bool(self.typed)

    @property
    def bounds(self) -> str:
        if self.listed is None or self.listed.lowest is None or self.listed.highest is None:
            return ""
        return f"from {in_short(self.listed.lowest)} to {in_short(self.listed.highest)}"


@dataclass(frozen=True)
class FilterChooser:
    """The part of the form that chooses filters."""

    crowd: str
    rows: Sequence[FilterRow]
    listed_at: datetime | None
    listed_count: int
    sought: str = ""
    found: Sequence[ListedFilter] = ()
    found_count: int = 0
    said: str = ""  # what the last press has done
    problem: str = ""  # why the crowd could not be asked

    @property
    def spare(self) -> FilterRow:
        """The empty row for a filter that is typed."""
        return FilterRow(len(self.rows), "", None, [], "", "", "")


def filter_rows(filters: Sequence[Mapping[str, Any]], stored: StoredFilters | None, new: int = -1) -> list[FilterRow]:
    """Return a row for each filter of the draft, which may hold anything. `new` is the number of one just added."""
    return [_row(number, one, stored, number == new) for number, one in enumerate(filters)]


def _row(number: int, one: Mapping[str, Any], stored: StoredFilters | None, is_new: bool) -> FilterRow:
    filter_id = str(one.get("filter_id", ""))
    listed = stored.find(filter_id) if stored else None
    values, bounds = _values(one), _bounds(one)
    known = listed.choices if listed and not listed.is_range else {}
    return FilterRow(
        number=number,
        filter_id=filter_id,
        listed=listed,
        choices=[Choice(key, label, key in values) for key, label in known.items()],
        typed=", ".join(value for value in values if value not in known),
        lower=bounds[0],
        upper=bounds[1],
        is_new=is_new,
    )


def read_filters(post: QueryDict, path: str) -> list[dict[str, Any]]:
    """Return the filters as a design has them. A row without an id is left out."""
    found = []
    for number in post.getlist(f"{path}.row"):
        here = f"{path}.{number}"
        if not (filter_id := post.get(f"{here}.id", "").strip()):
            continue
        one: dict[str, Any] = {"filter_id": filter_id}
        if values := [*post.getlist(f"{here}.values"), *as_list(post.get(f"{here}.typed", ""))]:
            one["selected_values"] = values
        typed = {name: post.get(f"{here}.{name}", "").strip() for name in ("lower", "upper")}
        if bounds := {name: as_number(text) for name, text in typed.items() if text}:
            one["selected_range"] = bounds
        found.append(one)
    return found


def is_same_filters(read: Sequence[Mapping[str, Any]], stored: Sequence[Mapping[str, Any]]) -> bool:
    """Tell if the form says nothing new: it shows values in the list's order, and numbers in short."""
    return [_in_short(one) for one in read] == [_in_short(one) for one in stored]


def _in_short(one: Mapping[str, Any]) -> tuple[str, list[str], tuple[str, str]]:
    return str(one.get("filter_id", "")), sorted(_values(one)), _bounds(one)


def _values(one: Mapping[str, Any]) -> list[str]:
    values = one.get("selected_values", [])
    return [str(value) for value in values] if isinstance(values, list) else [str(values)]


def _bounds(one: Mapping[str, Any]) -> tuple[str, str]:
    bounds = one.get("selected_range")
    if not isinstance(bounds, Mapping):
        return "", ""
    lower, upper = (str(in_short(bounds.get(name, ""))) for name in ("lower", "upper"))
    return lower, upper


def find_filters(stored: StoredFilters, words: str, chosen: Sequence[str]) -> list[ListedFilter]:
    """Return the filters in which every word occurs, those first that have them in their title; none that is chosen."""
    sought = words.casefold().split()
    found = [
        one for one in stored.filters if one.filter_id not in chosen and all(word in one.searched for word in sought)
    ]
    return sorted(found, key=lambda one: not all(word in one.title.casefold() for word in sought))
