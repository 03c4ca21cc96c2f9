"""Scales: each reply is rated on criteria of the researcher's own, on short and long scales. A protocol of tests."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from hits.errors import DesignProblem
from hits.models.cards import Card
from hits.models.design import CheckpointPart, Part, StudyDesign, TaskPart, WarmUpPart, WarmUpReply
from hits.protocols.criteria import Criterion, Scale
from hits.protocols.protocol import Instrument, Judgement, OwnSetting, Presented, Protocol, Value
from hits.protocols.sent_answers import InvalidAnswer, Place, Sent, by_cards, by_places


class Asked(Part):
    name: str
    question: str = "How good is it?"
    points: int = 7
    words: list[str] = []
    is_optional: bool = False


class ScalesTask(TaskPart):
    description: str = "Rate replies."
    question: str = "How good is each reply?"
    welcome: str = "Welcome."
    instructions: str = "Rate each reply."
    consent: str = "You agree."
    layout: Literal["one by one", "grid"] = "one by one"
    criteria: list[Asked] = [Asked(name="empathy", question="Does it care?"), Asked(name="fluency", points=101)]


class ScalesReply(WarmUpReply):
    ratings: list[str] = ["7"]


class ScalesWarmUp(WarmUpPart):
    replies: list[ScalesReply] = [ScalesReply(text="Oh no!")]


class ScalesCheckpoints(CheckpointPart):
    criterion: str = "fluency"
    at_least: int = 50


class ScalesDesign(StudyDesign):
    protocol: Literal["scales"] = "scales"
    checkpoints: ScalesCheckpoints = ScalesCheckpoints()
    task: ScalesTask = ScalesTask()
    warm_up: ScalesWarmUp = ScalesWarmUp()


class ScalesSent(Sent):
    ratings: dict[str, Annotated[dict[Place, str], Field(max_length=100)]]  # by criterion, then by place


class Scales(Protocol[ScalesDesign]):
    name = "scales"
    title = "They rate each reply on scales"
    design_class = ScalesDesign
    sent_class = ScalesSent
    own_settings: ClassVar[Sequence[OwnSetting]] = (
        OwnSetting(
            "task.layout", "Replies are shown", "choice", choices=[("one by one", "one by one"), ("grid", "on a grid")]
        ),
        OwnSetting(
            "task.criteria",
            "Criteria",
            "table",
            columns=[
                OwnSetting("name", "Name", "text"),
                OwnSetting("question", "Question", "text"),
                OwnSetting("points", "Points", "number", "3 to 101"),
                OwnSetting("words", "Words at its ends", "list"),
                OwnSetting("is_optional", "May be skipped", "yes_no"),
            ],
        ),
        OwnSetting("checkpoints.criterion", "Passed by", "text"),
        OwnSetting("checkpoints.at_least", "and at least", "number"),
    )
    answer_noun = "rating"
    criteria_setting = "task.criteria"
    still_missing = ("Still not rated", "rate them")
    fitting_setting = OwnSetting("ratings", "deserves", "words")

    def problems(self) -> list[DesignProblem]:
        return []

    @property
    def is_side_by_side(self) -> bool:
        return self.design.task.layout == "grid"

    def page_settings(self) -> dict[str, Any]:
        return {"criteria": [one.model_dump() for one in self.design.task.criteria]}

    def value_of(self, sent: ScalesSent, card_order: Sequence[int]) -> Value:
        scales = {one.name: one.scale.values for one in self.criteria}
        if not sent.ratings.keys() <= scales.keys():
            raise InvalidAnswer("Nobody was asked about that.")
        if any(value not in scales[name] for name, said in sent.ratings.items() for value in said.values()):
            raise InvalidAnswer("This is off the scale.")
        return {"ratings": {name: by_cards(said, card_order) for name, said in sent.ratings.items()}}

    def show(self, value: Value | None, card_order: Sequence[int]) -> dict[str, Any]:
        ratings = value["ratings"] if value else {}
        return {"ratings": {name: by_places(said, card_order) for name, said in ratings.items()}}

    def missing(self, value: Value | None, card_count: int) -> int:
        said = [set(value["ratings"].get(one.name, ())) if value else set() for one in self.criteria]
        return card_count - len(set.intersection(*said))

    @property
    def checkpoint_criterion(self) -> str:
        return self.design.checkpoints.criterion

    @cached_property
    def passing_values(self) -> Sequence[str]:
        (scale,) = [one.scale for one in self.criteria if one.name == self.checkpoint_criterion]
        return [value for value in scale.values if int(value) >= self.design.checkpoints.at_least]

    def is_redone(self, checked: Value, final: Value) -> bool:
        return checked != final

    @cached_property
    def criteria(self) -> Sequence[Criterion]:
        asked = self.design.task.criteria
        return [Criterion(one.name, _scale(one.points), question=one.question) for one in asked]

    def judgements(self, value: Value, card_order: Sequence[int], cards: Sequence[Card]) -> Iterator[Judgement]:
        for place, number in enumerate(card_order):
            for candidate in cards[number].writers:
                for one in self.criteria:
                    yield Judgement(number, place, candidate, value["ratings"][one.name][str(number)], one.name)

    def values_of_card(self, value: Value, card: int) -> dict[str, str]:
        return {name: said[str(card)] for name, said in value["ratings"].items() if str(card) in said}

    def how_to_win(self) -> str:
        return "you rate it high enough"

    def what_counts(self) -> str:
        return "What counts is what you submit."

    def how_it_was_won(self) -> str:
        return "rated it high enough"

    def fitting_answer(self, reply: WarmUpReply) -> str:
        return "deserves much"

    def how_it_was_asked(self) -> str:
        return "Workers rated replies."

    def instrument(self) -> Instrument:
        return Instrument(Presented.MULTIPLE_CHOICE, "a button for each point")

    def sent_by(self, levels: Sequence[int]) -> dict[str, Any]:
        said: dict[str, dict[str, str]] = {}
        for one in self.criteria:
            step = (len(one.scale.values) - 1) / (len(self.scale.values) - 1)
            said[one.name] = {str(place): one.scale.values[round(level * step)] for place, level in enumerate(levels)}
        return {"ratings": said}


def _scale(points: int) -> Scale:
    lowest = 0 if points == 101 else 1
    numbers = tuple(range(lowest + points - 1, lowest - 1, -1))
    return Scale(tuple(map(str, numbers)), tuple(map(str, numbers)), numbers, is_by_mean=True)
