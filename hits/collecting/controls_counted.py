"""Counts what a submission's controls tell: attention checks that were obeyed, and replies that were rated alike twice.

Collecting stores the counts with the submission, as it stores ratings, so that pages need not read answers for them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any
from typing import Protocol as Shape

from hits.models import Answer, Submission
from hits.models.cards import Card
from hits.protocols import Protocol, SaidTwice, obeys, said_twice


class ShownItem(Shape):
    """What a HitItem and a FrozenItem have in common."""

    @property
    def pk(self) -> int: ...
    @property
    def position(self) -> int: ...
    @property
    def cards(self) -> Sequence[Card]: ...
    @property
    def repeats(self) -> int | None: ...
    @property
    def told(self) -> int | None: ...


@dataclass(frozen=True)
class ControlCounts:
    """What one submission's controls tell, by the names of its columns."""

    attention_checks: int
    attention_passed: int
    said_twice: int
    said_alike: int

    def note(self, submission: Submission) -> None:
        for name, count in asdict(self).items():
            setattr(submission, name, count)


CONTROL_COUNTS = [one.name for one in fields(ControlCounts)]


def count_controls(protocol: Protocol[Any], items: Iterable[ShownItem], answers: Iterable[Answer]) -> ControlCounts:
    items, by_item = list(items), {answer.item_id: answer for answer in answers}
    checks = [obeys(protocol, one.value, one.card_order, told) for one, told in _told(protocol, items, by_item)]
    place_of = {one.name: one.measured.place_of for one in protocol.criteria}
    twice = [said for _, said in repeated(protocol, items, by_item)]
    alike = [place_of[one.criterion](one.first) == place_of[one.criterion](one.again) for one in twice]
    return ControlCounts(len(checks), sum(checks), len(twice), sum(alike))


def _told(
    protocol: Protocol[Any], items: Iterable[ShownItem], answers: Mapping[int, Answer]
) -> Iterator[tuple[Answer, int]]:
    """Yield the answer to each attention check, and which one it told. Where models were dropped, there may have been
    nothing to answer: that is no check."""
    for item in items:
        if item.told is not None and protocol.missing(None, len(answers[item.pk].card_order)):
            yield answers[item.pk], item.told


def repeated(
    protocol: Protocol[Any], items: Sequence[ShownItem], answers: Mapping[int, Answer]
) -> Iterator[tuple[ShownItem, SaidTwice]]:
    """Yield what one worker said of each reply that came twice, with the item that came again."""
    by_position = {item.position: item for item in items}
    for item in items:
        if item.repeats is None or item.told is not None:
            continue
        original = by_position[item.repeats]
        first, again = answers[original.pk], answers[item.pk]
        for said in said_twice(protocol, item.cards, (first.value, first.card_order), (again.value, again.card_order)):
            yield item, said
