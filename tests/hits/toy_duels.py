"""Duels: two replies to a dialog side by side, and which of them is better, on two criteria. A protocol of tests."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

from hits.errors import DesignProblem
from hits.models.cards import Card
from hits.models.design import AnalysisPart, CheckpointPart, Outcome, StudyDesign, TaskPart, WarmUpPart, WarmUpReply
from hits.protocols.compared_cards import compare_cards
from hits.protocols.criteria import Criterion, Key, Scale
from hits.protocols.protocol import Instrument, Judgement, OwnSetting, Presented, Protocol, Value
from hits.protocols.sent_answers import InvalidAnswer, Sent

SCALE = Scale(("win", "tie", "loss"), ("better", "as good", "worse"), (1, 0, -1))
SIDES = ("first", "both", "second")  # by place on the page: for the reply at the first, the values of SCALE


class DuelsTask(TaskPart):
    description: str = "Compare replies."
    question: str = "Which one is better?"
    welcome: str = "Welcome."
    instructions: str = "Choose the better reply."
    consent: str = "You agree."


class DuelsReply(WarmUpReply):
    better: list[str] = ["first"]


class DuelsWarmUp(WarmUpPart):
    replies: list[DuelsReply] = [DuelsReply(text="Oh no!"), DuelsReply(text="Shelves.")]


class DuelsAnalysis(AnalysisPart):
    outcome: Outcome = "win rate"


class DuelsDesign(StudyDesign):
    protocol: Literal["duels"] = "duels"
    checkpoints: CheckpointPart = CheckpointPart()
    task: DuelsTask = DuelsTask()
    warm_up: DuelsWarmUp = DuelsWarmUp()
    analysis: DuelsAnalysis = DuelsAnalysis()


class DuelsSent(Sent):
    better: dict[Key, str]  # by criterion: one of SIDES


class Duels(Protocol[DuelsDesign]):
    """The value that is stored says by criterion which card is better: its number, or "both"."""

    name = "duels"
    title = "They compare two replies"
    design_class = DuelsDesign
    sent_class = DuelsSent
    own_settings = ()
    answer_noun = "comparison"
    still_missing = ("Still not compared", "compare them")
    fitting_setting = OwnSetting("better", "better is", "words")
    checkpoint_criterion = "empathy"
    passing_values = ("win",)

    def problems(self) -> list[DesignProblem]:
        return []

    def line_up(self, number: int, has_gold: bool) -> Sequence[str]:
        names = self.design.generators
        if has_gold:
            return [names[number % len(names)]]
        pairs = list(combinations(names, 2))
        return pairs[number % len(pairs)]

    def page_settings(self) -> dict[str, Any]:
        return {"criteria": [one.name for one in self.criteria]}

    def value_of(self, sent: DuelsSent, card_order: Sequence[int]) -> Value:
        if not sent.better.keys() <= {one.name for one in self.criteria}:
            raise InvalidAnswer("Nobody was asked about that.")
        if any(side not in SIDES or len(card_order) != 2 for side in sent.better.values()):
            raise InvalidAnswer("This dialog has no such reply.")
        cards = {"first": card_order[:1], "second": card_order[1:], "both": ["both"]}
        return {"better": {name: cards[side][0] for name, side in sent.better.items()}}

    def show(self, value: Value | None, card_order: Sequence[int]) -> dict[str, Any]:
        better = value["better"] if value else {}
        sides: dict[int | str, str] = {"both": "both"}
        sides |= {card: SIDES[2 * place] for place, card in enumerate(card_order)}
        return {"better": {name: sides[card] for name, card in better.items()}}

    def missing(self, value: Value | None, card_count: int) -> int:
        is_done = card_count < 2 or (value is not None and len(value["better"]) == len(self.criteria))
        return 0 if is_done else card_count

    def is_redone(self, checked: Value, final: Value) -> bool:
        return checked != final

    @cached_property
    def criteria(self) -> Sequence[Criterion]:
        return [Criterion(name, SCALE, is_comparison=True) for name in ("empathy", "fluency")]

    def judgements(self, value: Value, card_order: Sequence[int], cards: Sequence[Card]) -> Iterator[Judgement]:
        for one in self.criteria:
            said = _seen_from(0, value["better"].get(one.name, "both"))
            yield from compare_cards(one, said, 0, len(cards) - 1, cards, card_order)

    def values_of_card(self, value: Value, card: int) -> dict[str, str]:
        return {name: _seen_from(card, better) for name, better in value["better"].items()}

    def how_to_win(self) -> str:
        return "you prefer it"

    def what_counts(self) -> str:
        return "What counts is what you submit."

    def how_it_was_won(self) -> str:
        return "preferred it"

    def fitting_answer(self, reply: WarmUpReply) -> str:
        return "is better"

    def how_it_was_asked(self) -> str:
        return "Workers compared two replies."

    def instrument(self) -> Instrument:
        return Instrument(Presented.MULTIPLE_CHOICE, "better, as good or worse")

    def sent_by(self, levels: Sequence[int]) -> dict[str, Any]:
        if len(levels) < 2:
            return {"better": {}}
        first, second = levels
        side = "both" if first == second else "first" if first < second else "second"
        return {"better": {one.name: side for one in self.criteria}}


def _seen_from(card: int, better: int | str) -> str:
    return "tie" if better == "both" else "win" if better == card else "loss"
