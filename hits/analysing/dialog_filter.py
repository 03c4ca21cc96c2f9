"""Says which dialogs are meant by a cell of a table, or by the filters of the page that lists dialogs.

In: a cell's model, value and slice, or the query of an address. Out: the same as a query, and the dialogs that it
chooses among those that a background process has counted (hits.analysing.rated_dialogs). Guaranteed: what a cell counts
is what its link lists. This file needs no pandas, because pages use it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import urlencode

NO_EMOTION = "no emotion"
DIFFER, AGREE = "differ", "agree"


@dataclass(frozen=True)
class DialogFilter:
    """Every field is a name as the results write it; "" stands for all. `disagreement` is "differ" or "agree": of
    workers about the model's reply, or about any reply if no model is chosen."""

    criterion: str = ""
    model: str = ""
    value: str = ""
    dataset: str = ""
    emotion: str = ""
    turns: str = ""
    disagreement: str = ""
    other: str = ""  # a second model that was rated in the same dialog

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> "DialogFilter":
        return cls(**{one.name: query.get(one.name, "")[:200] for one in fields(cls)})

    def as_query(self) -> str:
        return urlencode({name: value for name, value in asdict(self).items() if value})


@dataclass(frozen=True)
class RatedDialogFacts:
    """The dialogs of a study that somebody has rated, the most disputed first, as lists of the same length.

    `kept` counts the ratings that screening keeps, and `apart` says how far workers are apart (None if no card has two
    ratings). `counts` has, by criterion, writer and value, how many kept ratings each dialog has.
    """

    dialogs: list[int]
    kept: list[int]
    apart: list[float | None]
    dataset: list[int]
    datasets: list[str]
    emotion: list[int]
    emotions: list[str]
    turns: list[int]
    values: dict[str, list[str]]
    counts: dict[str, dict[str, list[list[int]]]]

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "RatedDialogFacts | None":
        return cls(**facts) if facts else None

    @property
    def criteria(self) -> list[str]:
        return list(self.values)

    def criterion_of(self, chosen: DialogFilter) -> str:
        return chosen.criterion if chosen.criterion in self.values else self.criteria[0]

    def models(self, criterion: str) -> list[str]:
        return list(self.counts[criterion])

    @property
    def turn_counts(self) -> list[str]:
        return [str(count) for count in sorted(set(self.turns))]

    @property
    def emotion_names(self) -> list[str]:
        return [*self.emotions, *([NO_EMOTION] if self.emotions and -1 in self.emotion else [])]


def choose_dialogs(facts: RatedDialogFacts, chosen: DialogFilter, with_left_out: bool = False) -> list[int]:
    """Return the indexes of the chosen dialogs, the most disputed first. Model and value must meet in one rating."""
    indexes = [index for index, kept in enumerate(facts.kept) if kept or with_left_out]
    tests: list[tuple[str, list[Any], Any]] = [
        (chosen.dataset, facts.dataset, _place_in(facts.datasets, chosen.dataset)),
        (chosen.emotion, facts.emotion, _place_of_emotion(facts, chosen.emotion)),
        (chosen.turns, facts.turns, int(chosen.turns) if chosen.turns.isdecimal() else None),
    ]
    for asked, column, wanted in tests:
        if asked:
            indexes = [index for index in indexes if column[index] == wanted]
    if chosen.model or chosen.value:
        columns = _counted_columns(facts, chosen)
        indexes = [index for index in indexes if any(column[index] for column in columns)]
    if chosen.other:
        columns = _counted_columns(facts, DialogFilter(chosen.criterion, chosen.other))
        indexes = [index for index in indexes if any(column[index] for column in columns)]
    if chosen.disagreement in (DIFFER, AGREE) and chosen.model:
        columns = _counted_columns(facts, DialogFilter(chosen.criterion, chosen.model))
        indexes = [
            index for index in indexes if _disagreement([column[index] for column in columns]) == chosen.disagreement
        ]
    elif chosen.disagreement in (DIFFER, AGREE):
        is_apart = chosen.disagreement == DIFFER
        indexes = [index for index in indexes if (far := facts.apart[index]) is not None and (far > 0) == is_apart]
    return indexes


def _disagreement(counts: list[int]) -> str:
    """Say whether the ratings of a reply, counted by value, differ or agree; "" if there are fewer than two."""
    if sum(counts) < 2:
        return ""
    return AGREE if sum(count > 0 for count in counts) == 1 else DIFFER


def _counted_columns(facts: RatedDialogFacts, chosen: DialogFilter) -> list[list[int]]:
    """Return the counts of which one must be above 0. There are none for an unknown model or value."""
    criterion = facts.criterion_of(chosen)
    by_writer = facts.counts[criterion]
    writers = [by_writer[chosen.model]] if chosen.model in by_writer else [] if chosen.model else [*by_writer.values()]
    if not chosen.value:
        return [column for columns in writers for column in columns]
    index = _place_in(facts.values[criterion], chosen.value)
    return [] if index is None else [columns[index] for columns in writers]


def _place_of_emotion(facts: RatedDialogFacts, name: str) -> int | None:
    return -1 if name == NO_EMOTION else _place_in(facts.emotions, name)


def _place_in(names: list[str], name: str) -> int | None:
    return names.index(name) if name in names else None
