"""An assignment as its worker saw and answered it: dialogs, cards where they were put, each attempt at a checkpoint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from generation.models import Candidate
from hits.batching.card_orders import card_order
from hits.collecting.active_times import CountedTime, counted_times
from hits.models import Answer, Assignment, BonusCheck, HitItem
from hits.protocols import Protocol, Scale, protocol_of
from hits.views.worker_preview import PreviewCard, PreviewTurn, preview_card, preview_turns


@dataclass(frozen=True)
class ShownCard:
    """`place` is where it stood on the page, from 1."""

    place: int
    card: PreviewCard
    is_gold: bool
    value: str | None  # what the worker said of it

    @property
    def letter(self) -> str:
        """As the worker's page names it (`letterOf` in frontend/src/worker/letters.ts): A to Z, then AA."""
        rest, letters = self.place, ""
        while rest:
            rest, last = divmod(rest - 1, 26)
            letters = chr(ord("A") + last) + letters
        return letters


@dataclass(frozen=True)
class CardsOfValue:
    """The cards of which a worker said the same."""

    label: str
    cards: list[ShownCard]


@dataclass(frozen=True)
class Attempt:
    number: int
    is_won: bool
    said_of_gold: str
    active_seconds: float


@dataclass(frozen=True)
class AnsweredDialog:
    item: HitItem
    turns: list[PreviewTurn]
    values: list[CardsOfValue]  # in the scale's order; last, if there are any, the cards without an answer
    attempts: list[Attempt]
    active_seconds: float
    hidden_seconds: float
    move_count: int
    problem: str
    is_answered: bool

    @property
    def number(self) -> int:
        return self.item.position + 1


def answered_dialogs(assignment: Assignment) -> list[AnsweredDialog]:
    protocol = protocol_of(assignment.hit.study.parsed_design)
    items = list(HitItem.objects.filter(hit=assignment.hit_id).select_related("dialog__dataset"))
    keys = [key for item in items for card in item.cards for key in card.candidates]
    candidates = Candidate.objects.select_related("generator").in_bulk(keys)
    answers = {answer.item_id: answer for answer in Answer.objects.filter(assignment=assignment)}
    checks: dict[int, list[BonusCheck]] = {}
    for check in BonusCheck.objects.filter(assignment=assignment).order_by("attempt"):
        checks.setdefault(check.item_id, []).append(check)
    times = counted_times(assignment)
    return [
        _answered(
            item,
            assignment,
            protocol,
            candidates,
            answers.get(item.pk),
            checks.get(item.pk, []),
            times.get(item.pk, CountedTime(0, 0)),
        )
        for item in items
    ]


def _answered(
    item: HitItem,
    assignment: Assignment,
    protocol: Protocol[Any],
    candidates: dict[int, Candidate],
    answer: Answer | None,
    checks: Sequence[BonusCheck],
    time: CountedTime,
) -> AnsweredDialog:
    cards = [preview_card(protocol.design, card, item.dialog, candidates) for card in item.cards]
    said = {number: protocol.value_of_card(answer.value, number) for number in range(len(cards))} if answer else {}
    order = answer.card_order if answer else _order(item, assignment)
    shown = [
        ShownCard(place, cards[number], item.cards[number].is_gold, said.get(number))
        for place, number in enumerate(order, start=1)
    ]
    return AnsweredDialog(
        item=item,
        turns=preview_turns(item.dialog.turns),
        values=_by_value(protocol.scale, shown),
        attempts=[_attempt(item, check, protocol, time) for check in checks],
        active_seconds=time.active_ms / 1000,
        hidden_seconds=time.hidden_ms / 1000,
        move_count=len(answer.moves) if answer else 0,
        problem=answer.problem if answer else "",
        is_answered=answer is not None,
    )


def _order(item: HitItem, assignment: Assignment) -> list[int]:
    """Before anything is saved: as the page would show it."""
    secret, dialog = bytes.fromhex(assignment.hit.study.order_secret), item.dialog
    return card_order(secret, dialog.dataset.name, dialog.external_id, len(item.cards), assignment.turn)


def _by_value(scale: Scale, shown: Sequence[ShownCard]) -> list[CardsOfValue]:
    found = [CardsOfValue(scale.label(value), [one for one in shown if one.value == value]) for value in scale.values]
    rest = [one for one in shown if one.value is None]
    return [*found, CardsOfValue("Not placed", rest)] if rest else found


def _attempt(item: HitItem, check: BonusCheck, protocol: Protocol[Any], time: CountedTime) -> Attempt:
    value = None if item.gold_card is None else protocol.value_of_card(check.value, item.gold_card)
    said = "nowhere" if value is None else protocol.scale.label(value)
    return Attempt(check.attempt, check.is_won, said, min(check.active_ms, time.active_ms) / 1000)
