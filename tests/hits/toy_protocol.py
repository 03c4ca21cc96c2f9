"""Stars: each reply gets one to three of them for each of two criteria. A protocol of tests, from one file."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

from hits.errors import DesignProblem
from hits.models.cards import Card
from hits.models.design import CheckpointPart, StudyDesign, TaskPart, WarmUpPart, WarmUpReply
from hits.protocols.criteria import Criterion, Key, Scale
from hits.protocols.protocol import Instrument, Judgement, OwnSetting, Presented, Protocol, Value
from hits.protocols.sent_answers import InvalidAnswer, Place, Sent, by_cards, by_places

SCALE = Scale(("3", "2", "1"), ("three stars", "two stars", "one star"), (3, 2, 1))


class StarsTask(TaskPart):
    description: str = "Give stars."
    question: str = "How many?"
    welcome: str = "Welcome."
    instructions: str = "Give stars to each reply."
    consent: str = "You agree."


class StarsReply(WarmUpReply):
    stars: list[str] = ["3"]


class StarsWarmUp(WarmUpPart):
    replies: list[StarsReply] = [StarsReply(text="Oh no!")]


class StarsDesign(StudyDesign):
    protocol: Literal["stars"] = "stars"
    checkpoints: CheckpointPart = CheckpointPart()
    task: StarsTask = StarsTask()
    warm_up: StarsWarmUp = StarsWarmUp()


class StarsSent(Sent):
    stars: dict[Key, Annotated[dict[Place, str], Field(max_length=100)]]  # by criterion, then by place


class Stars(Protocol[StarsDesign]):
    name = "stars"
    title = "They give stars"
    design_class = StarsDesign
    sent_class = StarsSent
    own_settings = ()
    answer_noun = "rating"
    still_missing = ("Still without stars", "give them")
    fitting_setting = OwnSetting("stars", "deserves", "words")
    checkpoint_criterion = "empathy"
    passing_values = ("3", "2")

    def problems(self) -> list[DesignProblem]:
        return []

    def page_settings(self) -> dict[str, Any]:
        return {"criteria": [one.name for one in self.criteria]}

    def value_of(self, sent: StarsSent, card_order: Sequence[int]) -> Value:
        if not sent.stars.keys() <= {one.name for one in self.criteria}:
            raise InvalidAnswer("Nobody was asked about that.")
        if any(value not in SCALE.values for said in sent.stars.values() for value in said.values()):
            raise InvalidAnswer("These are no stars.")
        return {"stars": {name: by_cards(said, card_order) for name, said in sent.stars.items()}}

    def show(self, value: Value | None, card_order: Sequence[int]) -> dict[str, Any]:
        stars = value["stars"] if value else {}
        return {"stars": {name: by_places(said, card_order) for name, said in stars.items()}}

    def missing(self, value: Value | None, card_count: int) -> int:
        said = [set(value["stars"].get(one.name, ())) if value else set() for one in self.criteria]
        return card_count - len(set.intersection(*said))

    def is_redone(self, checked: Value, final: Value) -> bool:
        return checked != final

    @cached_property
    def criteria(self) -> Sequence[Criterion]:
        return [Criterion("empathy", SCALE), Criterion("fluency", SCALE)]

    def judgements(self, value: Value, card_order: Sequence[int], cards: Sequence[Card]) -> Iterator[Judgement]:
        for place, number in enumerate(card_order):
            for candidate in cards[number].writers:
                for one in self.criteria:
                    yield Judgement(number, place, candidate, value["stars"][one.name][str(number)], one.name)

    def values_of_card(self, value: Value, card: int) -> dict[str, str]:
        return {name: said[str(card)] for name, said in value["stars"].items() if str(card) in said}

    def how_to_win(self) -> str:
        return "you give it two stars or more"

    def what_counts(self) -> str:
        return "What counts are the stars that you submit."

    def how_it_was_won(self) -> str:
        return "gave it two stars or more"

    def fitting_answer(self, reply: WarmUpReply) -> str:
        return "deserves three stars"

    def how_it_was_asked(self) -> str:
        return "Workers gave stars."

    def instrument(self) -> Instrument:
        return Instrument(Presented.MULTIPLE_CHOICE, "one to three stars")

    def sent_by(self, levels: Sequence[int]) -> dict[str, Any]:
        said = {str(place): SCALE.values[level] for place, level in enumerate(levels)}
        return {"stars": {one.name: said for one in self.criteria}}
