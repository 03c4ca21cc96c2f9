"""An assignment as its worker saw and answered it: dialogs, cards where they were put, each attempt at a checkpoint."""

from collections.abc import Sequence
from dataclasses import dataclass

from generation.models import Candidate
from hits.batching.card_orders import card_order
from hits.collecting.active_times import CountedTime, counted_times
from hits.models import Answer, Assignment, BonusCheck, HitItem
from hits.models.design import Area, StudyDesign
from hits.views.worker_preview import PreviewCard, PreviewTurn, preview_card, preview_turns


@dataclass(frozen=True)
class ShownCard:
    """`place` is where it stood on the page, from 1."""

    place: int
    card: PreviewCard
    is_gold: bool
    area: str  # its key; empty if it was not placed

    @property
    def letter(self) -> str:
        """As the worker's page names it (`letterOf` in frontend/src/worker/pieces.ts): A to Z, then AA."""
        rest, letters = self.place, ""
        while rest:
            rest, last = divmod(rest - 1, 26)
            letters = chr(ord("A") + last) + letters
        return letters


@dataclass(frozen=True)
class AreaWithCards:
    label: str
    cards: list[ShownCard]


@dataclass(frozen=True)
class Attempt:
    number: int
    is_won: bool
    gold_area: str
    active_seconds: float


@dataclass(frozen=True)
class AnsweredDialog:
    item: HitItem
    turns: list[PreviewTurn]
    areas: list[AreaWithCards]  # as the study has them; last, if there are any, the cards that were not placed
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
    design = assignment.hit.study.parsed_design
    items = list(HitItem.objects.filter(hit=assignment.hit_id).select_related("dialog__dataset"))
    keys = [key for item in items for card in item.cards for key in card["candidates"]]
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
            design,
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
    design: StudyDesign,
    candidates: dict[int, Candidate],
    answer: Answer | None,
    checks: Sequence[BonusCheck],
    time: CountedTime,
) -> AnsweredDialog:
    cards = [preview_card(design, card, item.dialog, candidates) for card in item.cards]
    placed = answer.value["areas"] if answer else {}
    order = answer.card_order if answer else _order(item, assignment)
    shown = [
        ShownCard(place, cards[number], item.cards[number]["gold"], placed.get(str(number), ""))
        for place, number in enumerate(order, start=1)
    ]
    return AnsweredDialog(
        item=item,
        turns=preview_turns(item.dialog.turns),
        areas=_by_area(design.task.areas, shown),
        attempts=[_attempt(item, check, design.task.areas, time) for check in checks],
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


def _by_area(areas: Sequence[Area], shown: Sequence[ShownCard]) -> list[AreaWithCards]:
    found = [AreaWithCards(area.label, [one for one in shown if one.area == area.key]) for area in areas]
    rest = [one for one in shown if not one.area]
    return [*found, AreaWithCards("Not placed", rest)] if rest else found


def _attempt(item: HitItem, check: BonusCheck, areas: Sequence[Area], time: CountedTime) -> Attempt:
    gold = next(number for number, card in enumerate(item.cards) if card["gold"])
    key = check.value["areas"].get(str(gold), "")
    label = next((area.label for area in areas if area.key == key), "nowhere")
    return Attempt(check.attempt, check.is_won, label, min(check.active_ms, time.active_ms) / 1000)
