"""Defines best-worst scaling: workers mark the best and the worst of several replies; which models they see; words.

A page sends `{"marked": {"best": "0", "worst": "2"}}` by places; we store the numbers of the cards instead. Every reply
gets a rating, best, neither or worst, whose scores are 1, 0 and -1: the mean score of a model is the usual score of
best-worst scaling, (times best - times worst) / times shown.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from hits.errors import DesignProblem
from hits.models.cards import Card
from hits.models.design import WarmUpReply
from hits.protocols.best_worst_design import BestWorstDesign, BestWorstWarmUpReply, find_impossible_marks
from hits.protocols.criteria import OVERALL, Criterion, Scale
from hits.protocols.protocol import Instrument, Judgement, OwnSetting, Presented, Protocol, Told, Value
from hits.protocols.sent_answers import InvalidAnswer, Place, Sent

Mark = Literal["best", "worst"]

SCALE = Scale(("best", "neither", "worst"), ("best", "neither", "worst"), (1, 0, -1), is_by_mean=True)
BEST, NEITHER, WORST = range(3)  # levels of the scale


class BestWorstSent(Sent):
    marked: Annotated[dict[Mark, Place], Field(max_length=2)] = Field(description="By mark, the place of the reply.")


class BestWorst(Protocol[BestWorstDesign]):
    name = "best-worst"
    title = "They mark the best and the worst reply"
    design_class = BestWorstDesign
    sent_class = BestWorstSent
    own_settings: ClassVar[Sequence[OwnSetting]] = (
        OwnSetting("task.models_per_dialog", "Models whose replies a dialog shows", "number", "0: all of them"),
        OwnSetting(
            "checkpoints.passed_by",
            "Passed if the human reply is",
            "choice",
            choices=[("not worst", "not marked as the worst"), ("best", "marked as the best")],
        ),
    )
    answer_noun = "choice"
    was_judged, not_judged = "was", "not marked"
    still_missing = ("Still without a best and a worst reply", "mark them")
    fitting_setting = OwnSetting("fitting", "is (best, neither, worst)", "words")
    passing_setting = "checkpoints.passed_by"
    puts_in_order = True
    criteria = (Criterion(OVERALL, SCALE),)

    # --- Designing and batching

    def problems(self) -> list[DesignProblem]:
        return [*find_impossible_marks(self.design)]

    def line_up(self, number: int, has_gold: bool) -> Sequence[str]:
        names = self.design.generators
        if not self._shows_some:
            return names
        drawn, first = divmod(number, len(names))
        chosen = {(first + step) % len(names) for step in self._rounds[drawn % len(self._rounds)]}
        return [name for place, name in enumerate(names) if place in chosen]

    @cached_property
    def _rounds(self) -> list[tuple[int, ...]]:
        """Return which models begin each round, by their numbers; the round goes on with the next of each.

        So a round shows all models equally often, and after all rounds, any two have met equally often. The seed
        decides about the order of the rounds, since few studies need all of them.
        """
        others = combinations(range(1, len(self.design.generators)), self.design.task.models_per_dialog - 1)
        begun = [(0, *some) for some in others]
        return sorted(begun, key=lambda one: hashlib.sha256(f"{self.design.seed} {one}".encode()).digest())

    @property
    def _shows_some(self) -> bool:
        return 0 < self.design.task.models_per_dialog < len(self.design.generators)

    # --- Serving

    def page_settings(self) -> dict[str, Any]:
        return {}

    def value_of(self, sent: BestWorstSent, card_order: Sequence[int]) -> Value:
        if sent.marked and len(card_order) < 2:
            raise InvalidAnswer("There are no two replies to choose from.")
        places = {mark: int(place) for mark, place in sent.marked.items()}
        if any(place >= len(card_order) for place in places.values()):
            raise InvalidAnswer("This dialog has other replies.")
        if len(set(places.values())) < len(places):
            raise InvalidAnswer("No reply is the best and the worst.")
        return {"marked": {mark: card_order[place] for mark, place in places.items()}}

    def show(self, value: Value | None, card_order: Sequence[int]) -> dict[str, Any]:
        marked = value["marked"] if value else {}
        return {"marked": {mark: str(card_order.index(card)) for mark, card in marked.items()}}

    def missing(self, value: Value | None, card_count: int) -> int:
        # Models that all say the same make one card, and there is nothing to choose.
        return 0 if card_count < 2 or (value is not None and len(value["marked"]) == 2) else card_count

    # --- Checkpoints

    @property
    def passing_values(self) -> Sequence[str]:
        return ("best",) if self._must_be_best else ("best", "neither")

    @property
    def _must_be_best(self) -> bool:
        return self.design.checkpoints.passed_by == "best"

    def is_redone(self, checked: Value, final: Value) -> bool:
        """Return whether both marks have moved: people who think twice about one of them keep the other."""
        before, after = checked["marked"], final["marked"]
        return bool(before) and all(after.get(mark) != card for mark, card in before.items())

    def told_answers(self, cards: int) -> Sequence[Told]:
        between = [NEITHER] * (cards - 2)
        return [
            Told("mark the first reply as the best and the last as the worst", self.sent_by([BEST, *between, WORST])),
            Told("mark the first reply as the worst and the last as the best", self.sent_by([WORST, *between, BEST])),
        ]

    # --- Ratings

    def judgements(self, value: Value, card_order: Sequence[int], cards: Sequence[Card]) -> Iterator[Judgement]:
        for place, number in enumerate(card_order):
            said = self.values_of_card(value, number).get(OVERALL, "neither")  # of a single reply, nobody was asked
            for candidate in cards[number].writers:
                yield Judgement(number, place, candidate, said)

    def values_of_card(self, value: Value, card: int) -> dict[str, str]:
        marked = value["marked"]
        for mark, chosen in marked.items():
            if chosen == card:
                return {OVERALL: mark}
        return {OVERALL: "neither"} if len(marked) == 2 else {}

    # --- Words

    def how_to_win(self) -> str:
        return "you mark it as the best" if self._must_be_best else "you do not mark it as the worst"

    def what_counts(self) -> str:
        rules = self.design.checkpoints
        if rules.feedback == "after submission":
            return (
                "What counts is what you have marked when you submit. We tell you afterwards how many points you won."
            )
        if rules.counts == "final":
            return (
                "What counts is what you have marked when you submit. Bonus Validate tells you whether the point would "
                "be yours; you need not press it."
            )
        return (
            "What counts is what you have marked when you first press Bonus Validate, and the point is yours if you "
            "have still chosen well when you submit. If you never press it, only what you submit counts."
        )

    def how_it_was_won(self) -> str:
        return "marked it as the best" if self._must_be_best else "did not mark it as the worst"

    def fitting_answer(self, reply: WarmUpReply) -> str:
        fitting = reply.fitting if isinstance(reply, BestWorstWarmUpReply) else []
        return f"is {' or '.join(fitting)}"

    def how_it_was_asked(self) -> str:
        models, turns = "all models", ""
        if self._shows_some:
            models = f"{self.design.task.models_per_dialog} models"
            turns = " (the models took turns over the dialogs)"
        return (
            f"Workers saw a dialog with the replies of {models} side by side{turns}, in an order that changed between "
            "workers and without the models' names, and marked the best reply and the worst one (best-worst scaling)."
        )

    def which_were_shown(self) -> str:
        if not self._shows_some:
            return ""
        shown = self.design.task.models_per_dialog
        return f"each dialog was shown with the replies of {shown} models, and the models took turns over the dialogs"

    def instrument(self) -> Instrument:
        return Instrument(
            Presented.MULTIPLE_CHOICE,
            "two radio buttons beside each reply, one for the best and one for the worst, none chosen in advance",
        )

    # --- Simulation

    def levels_in_order(self, opinions: Sequence[float]) -> list[int]:
        best, worst = _ends([-opinion for opinion in opinions])
        return [BEST if place == best else WORST if place == worst else NEITHER for place in range(len(opinions))]

    def sent_by(self, levels: Sequence[int]) -> dict[str, Any]:
        """Of several replies on the same level, the order of the cards decides, which changes between workers: so no
        model has an advantage."""
        if len(levels) < 2:
            return {"marked": {}}
        best, worst = _ends(levels)
        return {"marked": {"best": str(best), "worst": str(worst)}}


def _ends(levels: Sequence[float]) -> tuple[int, int]:
    """Return the places of the lowest and the highest: of equal ones, the first and the last, so never the same."""
    places = range(len(levels))
    return min(places, key=lambda place: (levels[place], place)), max(places, key=lambda place: (levels[place], place))
