"""Says which columns of a file are what: by the researcher's words, or by a guess that is always told.

A file has a line for each rating, or a line for each item with several columns of values: one for each criterion, each
rater or each model. Patterns name such columns together, as in `value=rating_{generator}` with
`worker=annotator_{generator}`, or `value=rater{worker}_{criterion}`.

Pages use this file too, so it needs no pandas.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evalplatform.errors import EvalPlatformError

ROLES = ("item", "worker", "generator", "dataset", "criterion")
Facet = Literal["criterion", "worker", "generator"]
Kind = Literal["", "numbers", "words", "labels"]
FACETS: tuple[Facet, ...] = ("criterion", "worker", "generator")
TITLES = {"item": "item", "worker": "rater", "generator": "model", "dataset": "dataset", "criterion": "criterion"}
_LISTS: Mapping[str, Facet] = {"value": "criterion", "values": "criterion", "raters": "worker", "models": "generator"}
_KEYS = (*ROLES, *_LISTS)
_PLACE = r"\{([^{}]*)\}"


class MappingRefused(EvalPlatformError):
    """A mapping that does not fit the file; `field` is the role that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class ColumnMapping(BaseModel):
    """Which columns are what. `values` are columns, or one pattern; with several columns, `each_is` says what they
    differ by. An empty role has no column. `kind` is empty if the values say themselves what they are; `words` are the
    values of a scale of words, the best first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str = ""
    worker: str = ""
    generator: str = ""
    dataset: str = ""
    criterion: str = ""
    values: tuple[str, ...] = ()
    each_is: Facet = "criterion"
    kind: Kind = ""
    words: tuple[str, ...] = ()
    is_unidentified: bool = False  # what stands for raters does not identify them: places of a line, say


@dataclass(frozen=True)
class ValueColumn:
    """A column of values, and what is the same for all of them; "" where another column says it."""

    column: str
    worker_column: str
    worker: str = ""
    generator: str = ""
    criterion: str = ""


def parse_columns(text: str, base: ColumnMapping) -> ColumnMapping:
    """Read `item=context_id,worker=rater,value=fluency|empathy`; what it does not name stays as in `base`."""
    changes: dict[str, object] = {}
    for part in re.split(rf",(?=\s*(?:{'|'.join(_KEYS)})\s*=)", text):
        key, is_there, column = (word.strip() for word in part.partition("="))
        if not is_there or key not in _KEYS:
            raise MappingRefused(
                "columns", f"{part.strip()!r} maps no column; write ROLE=COLUMN with one of {', '.join(_KEYS)}."
            )
        if key in ROLES:
            changes[key] = column
        else:
            changes |= {"values": tuple(word.strip() for word in column.split("|")), "each_is": _LISTS[key]}
    return base.model_copy(update=changes)


def value_columns(mapping: ColumnMapping, columns: Sequence[str]) -> list[ValueColumn]:
    """Return the columns of values. Raise `MappingRefused` if the mapping names columns that are not there, or none
    for the values."""
    is_pattern = bool(mapping.values) and "{" in mapping.values[0]
    for role in ROLES:
        name = getattr(mapping, role)
        if name and name not in columns and not (is_pattern and role == "worker" and "{" in name):
            raise MappingRefused(
                role, f"There is no column {name!r} for the {TITLES[role]}; there are {_listed(columns)}."
            )
    if not mapping.values:
        raise MappingRefused(
            "values", f"No column is taken for the ratings. Name it, or several; there are {_listed(columns)}."
        )
    found = _by_pattern(mapping, columns) if is_pattern else _by_list(mapping, columns)
    for facet in FACETS:
        if getattr(mapping, facet) and any(getattr(one, facet) for one in found) and "{" not in getattr(mapping, facet):
            raise MappingRefused(
                facet,
                f"The {TITLES[facet]} stands in a column of its own, and can't be told by the columns of values too.",
            )
    return found


def _by_list(mapping: ColumnMapping, columns: Sequence[str]) -> list[ValueColumn]:
    names: list[str] = []
    for word in mapping.values:
        first, is_range, last = (part.strip() for part in word.partition(".."))
        if is_range and word not in columns and first in columns and last in columns:
            names += columns[columns.index(first) : columns.index(last) + 1]
        elif word in columns:
            names.append(word)
        else:
            raise MappingRefused(
                "values", f"There is no column {word!r} for the ratings; there are {_listed(columns)}."
            )
    if len(names) == 1 and mapping.each_is == "criterion":
        return [ValueColumn(names[0], mapping.worker)]
    if mapping.each_is == "worker":
        return [ValueColumn(name, "", worker=name) for name in names]
    return [ValueColumn(name, mapping.worker, **{mapping.each_is: name}) for name in names]


def _by_pattern(mapping: ColumnMapping, columns: Sequence[str]) -> list[ValueColumn]:
    pattern = mapping.values[0]
    places = re.findall(_PLACE, pattern)
    if len(mapping.values) > 1 or not set(places) <= set(FACETS) or len(set(places)) < len(places):
        raise MappingRefused(
            "values", f"{pattern!r} is no pattern; use {{criterion}}, {{worker}} and {{generator}}, each once at most."
        )
    parts = re.split(_PLACE, pattern)[::2]
    found = []
    for column in columns:
        names = _read_names(column, parts)
        if names is not None:
            facts = dict(zip(places, names, strict=True))
            worker = _fill(mapping.worker, facts)
            if worker and worker not in columns:
                raise MappingRefused("worker", f"There is no column {worker!r} for the rater of {column!r}.")
            found.append(ValueColumn(column, worker, **facts))
    if not found:
        raise MappingRefused("values", f"No column is named as {pattern!r} says; there are {_listed(columns)}.")
    return found


def _fill(pattern: str, facts: Mapping[str, str]) -> str:
    """Not by str.format, which reads attributes, and fills as much memory as the text asks for."""
    return re.sub(_PLACE, lambda place: facts.get(place[1], place[0]), pattern)


def _read_names(column: str, parts: Sequence[str]) -> list[str] | None:
    """Return what stands between the parts, or None if the column is not made of them.

    Names are as short as they can be, but the last one takes the rest. No regular expression: its time grows with a
    power of the length, which strangers choose.

    >>> _read_names("rating_chatgpt_empathy", ["rating_", "_", ""])
    ['chatgpt', 'empathy']
    >>> _read_names("rating_", ["rating_", ""])
    """
    if len(parts) == 1:
        return [] if column == parts[0] else None
    first, *between, last = parts
    if not column.startswith(first):
        return None
    names, start = [], len(first)
    for part in between:
        end = column.find(part, start + 1)
        if end < 0:
            return None
        names.append(column[start:end])
        start = end + len(part)
    end = len(column) - len(last)
    return [*names, column[start:end]] if end > start and column.endswith(last) else None


def describe_mapping(mapping: ColumnMapping, found: Sequence[ValueColumn]) -> list[str]:
    """Say aloud what was taken for what."""
    told = [f"{TITLES[role]}: {getattr(mapping, role)}" for role in ROLES if getattr(mapping, role)]
    facts = [
        ", ".join(f"{TITLES[one]} {getattr(value, one)}" for one in FACETS if getattr(value, one)) for value in found
    ]
    shown = [f"{one.column} ({fact})" if fact else one.column for one, fact in zip(found, facts, strict=True)]
    more = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
    return [*told, f"ratings: {', '.join(shown[:12])}{more}"]


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - 20} more" if len(columns) > 20 else ""
    return ", ".join(columns[:20]) + more
