"""Defines how workers sort cards into areas (good, okay, bad): settings, valid and changed answers, what passes, words.

All replies to a dialog stand side by side, and each is moved as a card into one of a few areas. A page sends `{"areas":
{"0": "good", ...}}` by the cards' places; we store the same by the cards' numbers.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

from hits.errors import DesignProblem
from hits.models.cards import Card
from hits.models.design import CheckpointPart, Name, Part, StudyDesign, TaskPart, Text, WarmUpPart, WarmUpReply
from hits.protocols import areas_texts
from hits.protocols.criteria import OVERALL, Criterion, Key, Scale
from hits.protocols.protocol import Instrument, Judgement, OwnSetting, Presented, Protocol, Told, Value
from hits.protocols.sent_answers import InvalidAnswer, Place, Sent, by_cards, by_places
from hits.stats import score_of

# A dialog counts as sorted again when at least this share of its cards has moved since the check that passed. Someone
# who improves one reply of five after a check stays well below; sorting five again at random exceeds it in 95 of 100
# cases.
REDONE_SHARE = 0.4
PLANNED_SHARES = (0.32, 0.31, 0.37)  # good, okay and bad of a weaker model, as in the paper

# --- Settings --------------------------------------------------------------------------------------------------------


class Area(Part):
    key: Key
    label: Name


class AreasTask(TaskPart):
    description: Annotated[Text, Field(max_length=2000)] = areas_texts.DESCRIPTION
    question: Text = areas_texts.QUESTION
    welcome: Text = areas_texts.WELCOME
    instructions: Text = areas_texts.INSTRUCTIONS
    consent: Text = areas_texts.CONSENT
    areas: list[Area] = Field(
        default=[Area(key=key, label=key.title()) for key in ("good", "okay", "bad")], min_length=2
    )


class AreasCheckpoints(CheckpointPart):
    passing_areas: list[Name] = ["good", "okay"]


class AreasWarmUpReply(WarmUpReply):
    areas: list[Name] = Field(min_length=1)
    hint: Text = "Perhaps another area?"


class AreasWarmUp(WarmUpPart):
    replies: list[AreasWarmUpReply] = Field(
        default=[AreasWarmUpReply.model_validate(reply) for reply in areas_texts.WARM_UP_REPLIES], min_length=1
    )


class AreasDesign(StudyDesign):
    protocol: Literal["areas"] = "areas"
    checkpoints: AreasCheckpoints = AreasCheckpoints()
    task: AreasTask = AreasTask()
    warm_up: AreasWarmUp = AreasWarmUp()


# --- Answers ---------------------------------------------------------------------------------------------------------


class AreasSent(Sent):
    areas: Annotated[dict[Place, Key], Field(max_length=100)] = Field(description="The area's key by the card's place.")


class Areas(Protocol[AreasDesign]):
    name = "areas"
    title = "They sort the replies into areas"
    design_class = AreasDesign
    sent_class = AreasSent
    own_settings = (
        OwnSetting("task.areas", "Areas in order, one a line", "labels", "key: what the worker reads"),
        OwnSetting("checkpoints.passing_areas", "Passed when the human reply is put into", "words"),
    )
    answer_noun = "placement"
    was_judged, not_judged = "was in", "not placed"
    still_missing = ("Still without a place", "place them")
    fitting_setting = OwnSetting("areas", "belongs in", "words")
    criteria_setting, passing_setting = "task.areas", "checkpoints.passing_areas"

    def problems(self) -> list[DesignProblem]:
        return [*_find_unknown_areas(self.design)]

    def planned_shares(self, criterion: Criterion) -> tuple[float, ...]:
        return PLANNED_SHARES

    def page_settings(self) -> dict[str, Any]:
        return {"areas": [area.model_dump() for area in self.design.task.areas]}

    def value_of(self, sent: AreasSent, card_order: Sequence[int]) -> Value:
        if not set(sent.areas.values()) <= set(self.scale.values):
            raise InvalidAnswer("The study has other areas.")
        return {"areas": by_cards(sent.areas, card_order)}

    def show(self, value: Value | None, card_order: Sequence[int]) -> dict[str, Any]:
        return {"areas": by_places(value["areas"], card_order) if value else {}}

    def missing(self, value: Value | None, card_count: int) -> int:
        return card_count - len(value["areas"]) if value else card_count

    @property
    def passing_values(self) -> Sequence[str]:
        return self.design.checkpoints.passing_areas

    def is_redone(self, checked: Value, final: Value) -> bool:
        before: dict[str, str] = checked["areas"]
        moved: int = sum(final["areas"].get(card) != area for card, area in before.items())
        return moved >= REDONE_SHARE * len(before)

    def told_answers(self, cards: int) -> Sequence[Told]:
        return [
            Told(f"put every reply into {label}", self.sent_by([level] * cards))
            for level, label in enumerate(self.scale.labels)
        ]

    @cached_property
    def criteria(self) -> Sequence[Criterion]:
        areas = self.design.task.areas
        scores = tuple(score_of(place, len(areas)) for place in range(len(areas)))
        return [Criterion(OVERALL, Scale(tuple(one.key for one in areas), tuple(one.label for one in areas), scores))]

    def judgements(self, value: Value, card_order: Sequence[int], cards: Sequence[Card]) -> Iterator[Judgement]:
        for place, number in enumerate(card_order):
            for candidate in cards[number].writers:
                yield Judgement(number, place, candidate, value["areas"][str(number)])

    def values_of_card(self, value: Value, card: int) -> dict[str, str]:
        return {OVERALL: value["areas"][str(card)]} if str(card) in value["areas"] else {}

    def how_to_win(self) -> str:
        return f"you put it into {' or '.join(self.scale.label(value) for value in self._passing_in_order)}"

    @property
    def _passing_in_order(self) -> list[str]:
        return [self.scale.values[level] for level in self.passing_levels]

    def what_counts(self) -> str:
        rules = self.design.checkpoints
        if rules.feedback == "after submission":
            return (
                "What counts is where the replies are when you submit. We tell you afterwards how many points you "
                "have won."
            )
        if rules.counts == "final":
            return (
                "What counts is where the replies are when you submit. Bonus Validate tells you whether the point "
                "would be yours; you need not press it."
            )
        return (
            "What counts is where the replies are when you first press Bonus Validate, and the point is yours if the "
            "human reply is still well placed when you submit. If you never press it, only where the replies are then "
            "counts."
        )

    def how_it_was_won(self) -> str:
        return f"put it into {_join_names(self.passing_values, 'or')}"

    def fitting_answer(self, reply: WarmUpReply) -> str:
        areas = reply.areas if isinstance(reply, AreasWarmUpReply) else []
        return f"belongs in {' or '.join(areas)}"

    def how_it_was_asked(self) -> str:
        return (
            "Workers saw a dialog with the replies of all models side by side, in an order that changed between "
            "workers and without the models' names, and put each reply into one of "
            f"{len(self.scale.labels)} areas: {_join_names(self.scale.labels, 'and')}."
        )

    def instrument(self) -> Instrument:
        how = "replies are moved as cards by mouse, finger or keyboard; each card into exactly one"
        return Instrument(Presented.OTHER, f"areas, into which {how}")

    def sent_by(self, levels: Sequence[int]) -> dict[str, Any]:
        return {"areas": {str(place): self.scale.values[level] for place, level in enumerate(levels)}}


def _join_names(names: Sequence[str], last: str) -> str:
    *most, end = names
    return f"{', '.join(most)} {last} {end}" if most else end


# --- Settings that contradict themselves -----------------------------------------------------------------------------


def _find_unknown_areas(design: AreasDesign) -> Iterator[DesignProblem]:
    keys = [area.key for area in design.task.areas]
    used = {"checkpoints.passing_areas": design.checkpoints.passing_areas}
    for number, reply in enumerate(design.warm_up.replies, 1):
        used[f"warm_up.replies.{number}.areas"] = reply.areas
    for field, names in used.items():
        for name in names:
            if name not in keys:
                yield DesignProblem(field, f"{name!r} is not an area of this study; its areas are {', '.join(keys)}")
