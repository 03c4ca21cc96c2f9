"""Shows an assignment as its worker answered it: who wrote each reply, what the worker said, checks of bonus points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from generation.models import Candidate
from hits.collecting import CountedTime, counted_times
from hits.models import Answer, Assignment, BonusCheck, HitItem
from hits.protocols import Protocol, obeys, protocol_of
from hits.serving import frozen_hit
from hits.views.card_writers import WrittenReply, candidates_of, written_replies
from hits.views.shown_pages import frames_of_hit


@dataclass(frozen=True)
class Attempt:
    number: int
    is_passed: bool
    said_of_gold: str  # after "the human reply"
    active_seconds: float


@dataclass(frozen=True)
class AnsweredDialog:
    item: HitItem
    frame: str  # the worker's page
    replies: list[WrittenReply]  # as they stood on the page
    attempts: list[Attempt]
    active_seconds: float
    hidden_seconds: float
    move_count: int
    problem: str
    is_answered: bool
    obeys: bool | None  # of an attention check

    @property
    def number(self) -> int:
        return self.item.position + 1

    @property
    def title(self) -> str:
        """The frame's title."""
        return f"Dialog {self.number} on the worker's page"


def answered_dialogs(assignment: Assignment) -> list[AnsweredDialog]:
    protocol = protocol_of(assignment.hit.study.parsed_design)
    items = list(HitItem.objects.filter(hit=assignment.hit_id).select_related("dialog__dataset"))
    candidates = candidates_of(items)
    answers = {answer.item_id: answer for answer in Answer.objects.filter(assignment=assignment)}
    checks: dict[int, list[BonusCheck]] = {}
    for check in BonusCheck.objects.filter(assignment=assignment).order_by("attempt"):
        checks.setdefault(check.item_id, []).append(check)
    times = counted_times(assignment)
    frozen = frozen_hit(assignment.hit.study.key, assignment.hit.number, assignment.offering)
    orders = [item.order(assignment.rotation, assignment.turned) for item in frozen.items]
    frames = frames_of_hit(frozen, assignment)
    return [
        _answered(
            item,
            frame,
            order,
            protocol,
            candidates,
            answers.get(item.pk),
            checks.get(item.pk, []),
            times.get(item.pk, CountedTime(0, 0)),
        )
        for item, frame, order in zip(items, frames, orders, strict=True)
    ]


def _answered(
    item: HitItem,
    frame: str,
    order: Sequence[int],  # in which the page would show the cards; once something is saved, its own order counts
    protocol: Protocol[Any],
    candidates: dict[int, Candidate],
    answer: Answer | None,
    checks: Sequence[BonusCheck],
    time: CountedTime,
) -> AnsweredDialog:
    cards = range(len(item.cards))
    said = {card: (protocol.said_of(answer.value, card) if answer else "") or protocol.not_judged for card in cards}
    order = answer.card_order if answer else order
    return AnsweredDialog(
        item=item,
        frame=frame,
        replies=written_replies(item.cards, order, candidates, said),
        attempts=[_attempt(item, check, protocol, time) for check in checks],
        active_seconds=time.active_ms / 1000,
        hidden_seconds=time.hidden_ms / 1000,
        move_count=len(answer.moves) if answer else 0,
        problem=answer.problem if answer else "",
        is_answered=answer is not None,
        obeys=None if answer is None or item.told is None else obeys(protocol, answer.value, order, item.told),
    )


def _attempt(item: HitItem, check: BonusCheck, protocol: Protocol[Any], time: CountedTime) -> Attempt:
    said = "" if item.gold_card is None else protocol.said_of_gold(check.value, item.gold_card)
    return Attempt(check.attempt, check.is_passed, said, min(check.active_ms, time.active_ms) / 1000)
