"""Asks a crowd which filters it has, and keeps the answer for the study form.

In: a crowd whose API lists its filters. Out: its list, as it was when it was last asked. Guaranteed: reading the stored
list calls nobody; a crowd that does not answer leaves the stored list as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from hits.crowds.contract import Crowd
from hits.models import FilterList


@dataclass(frozen=True)
class ListedFilter:
    """A filter as the crowd describes it. It is either about a range of numbers or about values: with choices, or
    without, if the values are ids that a researcher has to know."""

    filter_id: str
    title: str
    words: str = ""  # the question that people answered there
    group: str = ""
    is_range: bool = False
    lowest: float | None = None
    highest: float | None = None
    choices: Mapping[str, str] = field(default_factory=dict)

    @property
    def searched(self) -> str:
        return " ".join([self.title, self.words, self.group, self.filter_id, *self.choices.values()]).casefold()


@dataclass(frozen=True)
class StoredFilters:
    filters: Sequence[ListedFilter]
    listed_at: datetime

    def find(self, filter_id: str) -> ListedFilter | None:
        return next((one for one in self.filters if one.filter_id == filter_id), None)


@runtime_checkable
class ListsFilters(Protocol):
    """A crowd that chooses people by filters of its own, which its API lists. A design has them in
    `crowd.options.filters`."""

    def filters_environment(self) -> str:
        """Return where to ask: the real one, if this server may work there."""
        ...

    def list_filters(self, currency: str) -> Sequence[ListedFilter]:
        """Ask the crowd, once or twice: somebody waits. Raises MarketRefused or MarketUnavailable."""
        ...


def lists_filters(crowd: Crowd) -> bool:
    return isinstance(crowd, ListsFilters)


def stored_filters(crowd: Crowd) -> StoredFilters | None:
    """Return what the crowd listed when it was last asked, or None if nobody has asked yet."""
    if not isinstance(crowd, ListsFilters):
        return None
    row = FilterList.objects.filter(crowd=crowd.name, environment=crowd.filters_environment()).first()
    return None if row is None else StoredFilters([ListedFilter(**one) for one in row.filters], row.listed_at)


def ask_for_filters(crowd: Crowd, currency: str, now: datetime) -> StoredFilters | None:
    """Ask the crowd, and store its answer."""
    if not isinstance(crowd, ListsFilters):
        return None
    found = list(crowd.list_filters(currency))
    stored: dict[str, Any] = {"listed_at": now, "filters": [asdict(one) for one in found]}
    FilterList.objects.update_or_create(crowd=crowd.name, environment=crowd.filters_environment(), defaults=stored)
    return StoredFilters(found, now)
