"""Defines how workers rate each reply on scales, on one to seven criteria: valid answers, what passes, words.

A page sends `{"ratings": {"empathy": {"0": "4"}}}` by criteria and the cards' places; we store the same by the cards'
numbers. Where a study allows it, "cant_say" stands for an answer without a rating.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import Field

from hits.errors import DesignProblem
from hits.models.cards import Card
from hits.models.design import WarmUpReply
from hits.protocols.criteria import Criterion, Key, Scale, usual_shares
from hits.protocols.likert_design import (
    AskedCriterion,
    LikertDesign,
    LikertWarmUpReply,
    find_bad_words,
    find_impossible_share,
    find_unknown_criteria,
)
from hits.protocols.protocol import Instrument, Judgement, OwnSetting, Presented, Protocol, Told, Value
from hits.protocols.sent_answers import InvalidAnswer, Place, Sent, by_cards, by_places

CANT_SAY = "cant_say"
# A dialog counts as rated again when at least this share of its ratings has changed since the check that passed. People
# who think twice about one reply of five stay below it; rating all of them again at random exceeds it nearly always.
REDONE_SHARE = 0.4


class LikertSent(Sent):
    ratings: Annotated[dict[Key, Annotated[dict[Place, str], Field(max_length=100)]], Field(max_length=7)] = Field(
        description="The rating by criterion, and then by the card's place."
    )


class Likert(Protocol[LikertDesign]):
    name = "likert"
    title = "They rate each reply on scales"
    design_class = LikertDesign
    sent_class = LikertSent
    own_settings: ClassVar[Sequence[OwnSetting]] = (
        OwnSetting(
            "task.criteria",
            "Criteria, one to seven",
            "table",
            columns=[
                OwnSetting("name", "Name", "text", "small letters, for tables and files"),
                OwnSetting("label", "As people read it", "text"),
                OwnSetting("question", "Question", "text"),
                OwnSetting("points", "Points", "number", "3 to 11; 5 if empty"),
                OwnSetting("words", "Words at points", "list", "1: not at all, 5: very much"),
            ],
        ),
        OwnSetting(
            "task.answer_by",
            "Workers answer by",
            "choice",
            choices=[("points", "points, each a button"), ("slider", "a slider from 0 to 100")],
        ),
        OwnSetting("task.models_per_dialog", "Models whose replies a dialog shows", "number", "0: all of them"),
        OwnSetting(
            "task.layout",
            "Replies to a dialog are shown",
            "choice",
            choices=[("grid", "side by side"), ("one by one", "one at a time")],
        ),
        OwnSetting(
            "task.criteria_order",
            "Criteria are asked",
            "choice",
            choices=[("balanced", "in an order that changes between workers"), ("as listed", "as listed")],
        ),
        OwnSetting("task.may_skip", "Workers may answer “Can’t say”", "flag"),
        OwnSetting("checkpoints.criterion", "Passed by the human reply’s rating on", "text", "the first one if empty"),
        OwnSetting("checkpoints.at_least", "of at least", "number", "0: the middle of the scale"),
    )
    answer_noun = "rating"
    was_judged, not_judged = "was rated", "not rated"
    still_missing = ("Still not rated", "rate them")
    fitting_setting = OwnSetting("fitting", "deserves (high, middle, low)", "words")
    criteria_setting, passing_setting = "task.criteria", "checkpoints.at_least"

    # --- Designing

    def problems(self) -> list[DesignProblem]:
        return [
            *find_unknown_criteria(self.design),
            *find_bad_words(self.design),
            *find_impossible_share(self.design),
        ]

    # --- Batching

    def line_up(self, number: int, has_gold: bool) -> Sequence[str]:
        names, shown = self.design.generators, self.design.task.models_per_dialog or len(self.design.generators)
        chosen = {(number + step) % len(names) for step in range(shown)}
        return [name for place, name in enumerate(names) if place in chosen]

    def planned_shares(self, criterion: Criterion) -> tuple[float, ...] | None:
        """Nobody can plan where most pairs of models are rated by different workers on different dialogs."""
        shown = self.design.task.models_per_dialog
        return None if 0 < shown < len(self.design.generators) else usual_shares(len(criterion.scale.values))

    # --- Serving

    @property
    def is_side_by_side(self) -> bool:
        return self.design.task.layout == "grid"

    def criteria_order(self, rotation: int) -> list[int]:
        count = len(self.criteria)
        first = rotation % count if self.design.task.criteria_order == "balanced" else 0
        return [*range(first, count), *range(first)]

    def page_settings(self) -> dict[str, Any]:
        task = self.design.task
        return {**self.settings_of_worker(0), "layout": task.layout, "may_skip": task.may_skip}

    def settings_of_worker(self, rotation: int) -> dict[str, Any]:
        return {"criteria": [self._on_page(number) for number in self.criteria_order(rotation)]}

    def _on_page(self, number: int) -> dict[str, Any]:
        task = self.design.task
        asked = task.criteria[number]
        lowest, highest = asked.ends(task.answer_by)
        return {
            "name": asked.name,
            "label": asked.label or asked.name,
            "question": asked.question,
            "lowest": lowest,
            "highest": highest,
            "words": asked.words_by_point,
            "is_slider": task.answer_by == "slider",
            "is_first": number == 0,
        }

    def value_of(self, sent: LikertSent, card_order: Sequence[int]) -> Value:
        for name, said in sent.ratings.items():
            if not set(said.values()) <= self._answers.get(name, set()):
                raise InvalidAnswer("The study has other scales.")
        return {"ratings": {name: by_cards(said, card_order) for name, said in sent.ratings.items() if said}}

    @cached_property
    def _answers(self) -> dict[str, set[str]]:
        more = {CANT_SAY} if self.design.task.may_skip else set()
        return {one.name: {*one.scale.values, *more} for one in self.criteria}

    def show(self, value: Value | None, card_order: Sequence[int]) -> dict[str, Any]:
        ratings = value["ratings"] if value else {}
        return {"ratings": {name: by_places(said, card_order) for name, said in ratings.items()}}

    def missing(self, value: Value | None, card_count: int) -> int:
        ratings = value["ratings"] if value else {}
        complete = set.intersection(*(set(ratings.get(one.name, ())) for one in self.criteria))
        return card_count - len(complete)

    # --- Checkpoints

    @property
    def checkpoint_criterion(self) -> str:
        return self.design.checkpoints.criterion or self.design.task.criteria[0].name

    @cached_property
    def passing_values(self) -> Sequence[str]:
        scale = next((one.scale for one in self.criteria if one.name == self.checkpoint_criterion), None)
        return [value for value in scale.values if int(value) >= self._lowest_passing(scale)] if scale else []

    def _lowest_passing(self, scale: Scale) -> float:
        return self.design.checkpoints.at_least or (min(scale.scores) + max(scale.scores)) / 2

    def is_redone(self, checked: Value, final: Value) -> bool:
        before = _flat(checked)
        after = _flat(final)
        changed = sum(after.get(key) != said for key, said in before.items())
        return bool(changed) and changed >= REDONE_SHARE * len(before)

    def told_answers(self, cards: int) -> Sequence[Told]:
        last = len(self.scale.values) - 1
        levels = (0, last) if self.design.task.answer_by == "slider" else range(last + 1)  # the ends are easy to hit
        return [Told(self._told_in_words(level), self.sent_by([level] * cards)) for level in levels]

    def _told_in_words(self, level: int) -> str:
        """Name one point for all criteria, or each criterion's own where their scales differ."""
        said = {one.title: one.scale.label(self._rated(one.scale, [level])["0"]) for one in self.criteria}
        points = set(said.values())
        if len(points) == 1:
            return f"choose {points.pop()} {'on every scale ' if len(said) > 1 else ''}for every reply"
        return f"choose {_joined([f'{point} on {title}' for title, point in said.items()])} for every reply"

    # --- Ratings

    @cached_property
    def criteria(self) -> Sequence[Criterion]:
        task = self.design.task
        return [
            Criterion(one.name, _scale_of(one, task.answer_by), label=one.label, question=one.question)
            for one in task.criteria
        ]

    def judgements(self, value: Value, card_order: Sequence[int], cards: Sequence[Card]) -> Iterator[Judgement]:
        for place, number in enumerate(card_order):
            said = self.values_of_card(value, number)
            for candidate in cards[number].writers:
                for name, rating in said.items():
                    yield Judgement(number, place, candidate, rating, name)

    def values_of_card(self, value: Value, card: int) -> dict[str, str]:
        """Return the ratings of a card. "Can't say" is an answer, but no rating."""
        ratings = value["ratings"]
        said = {one.name: ratings.get(one.name, {}).get(str(card)) for one in self.criteria}
        return {name: rating for name, rating in said.items() if rating not in (None, CANT_SAY)}

    # --- Words

    def how_to_win(self) -> str:
        return f"you rate it {self._lowest_passing_words} or higher{self._on_criterion}"

    @property
    def _lowest_passing_words(self) -> str:
        return self.gold_scale.label(self.passing_values[-1])

    @property
    def _on_criterion(self) -> str:
        if len(self.criteria) == 1:
            return ""
        return f" on {next(one.title for one in self.criteria if one.name == self.checkpoint_criterion)}"

    def what_counts(self) -> str:
        rules = self.design.checkpoints
        if rules.feedback == "after submission":
            return "What counts are the ratings that you submit. We tell you afterwards how many points you have won."
        if rules.counts == "final":
            return (
                "What counts are the ratings that you submit. Bonus Validate tells you whether the point would be "
                "yours; you need not press it."
            )
        return (
            "What counts are the ratings when you first press Bonus Validate, and the point is yours if the human "
            "reply is still rated high enough when you submit. If you never press it, only the ratings that you submit "
            "count."
        )

    def how_it_was_won(self) -> str:
        return f"rated it {self._lowest_passing_words} or higher{self._on_criterion}"

    def fitting_answer(self, reply: WarmUpReply) -> str:
        fitting = reply.fitting if isinstance(reply, LikertWarmUpReply) else []
        return f"deserves {' or '.join(fitting)}"

    def how_it_was_asked(self) -> str:
        task = self.design.task
        asked = [f"{one.title} (“{one.question}”)" for one in self.criteria]
        many = len(asked) > 1
        order = " Criteria came in an order that changed between workers." if many and self._is_balanced else ""
        skipped = " They could also answer that they can't say, which counts as no rating." if task.may_skip else ""
        return (
            f"Workers saw a dialog with {self._seen_in_words}, without the models' names, and rated each reply "
            f"{self._scales_in_words} for {_joined(asked)}.{order}{skipped}"
        )

    def which_were_shown(self) -> str:
        shown = self.design.task.models_per_dialog
        if not 0 < shown < len(self.design.generators):
            return ""
        models = "one model's reply" if shown == 1 else f"the replies of {shown} models"
        return f"each dialog was shown with {models}, and the models took turns over the dialogs"

    @property
    def _seen_in_words(self) -> str:
        shown, way = self.design.task.models_per_dialog, "side by side" if self.is_side_by_side else "one by one"
        order = "in an order that changed between workers"
        if not 0 < shown < len(self.design.generators):
            return f"the replies of all models {way}, {order}"
        turns = "the models took turns over the dialogs"
        return (
            f"one model's reply ({turns})" if shown == 1 else f"the replies of {shown} models {way}, {order} ({turns})"
        )

    @property
    def _is_balanced(self) -> bool:
        return self.design.task.criteria_order == "balanced"

    @property
    def _scales_in_words(self) -> str:
        if self.design.task.answer_by == "slider":
            return "on a slider from 0 to 100"
        points = {one.points for one in self.design.task.criteria}
        if len(points) > 1:
            return f"on scales of {_joined([str(one) for one in sorted(points)])} points"
        described = {tuple(one.words) for one in self.design.task.criteria}
        words = f" ({', '.join(next(iter(described)))})" if len(described) == 1 and any(described) else ""
        return f"from 1 to {points.pop()}{words}"

    def instrument(self) -> Instrument:
        if self.design.task.answer_by == "slider":
            return Instrument(Presented.SLIDER, "a slider from 0 to 100, on which nothing is chosen in advance")
        return Instrument(Presented.MULTIPLE_CHOICE, "a row of radio buttons, none of which is chosen in advance")

    # --- Simulation

    def sent_by(self, levels: Sequence[int]) -> dict[str, Any]:
        return {"ratings": {one.name: self._rated(one.scale, levels) for one in self.criteria} if levels else {}}

    def sent_on(self, levels: Mapping[str, Sequence[int]]) -> dict[str, Any]:
        rated = {
            one.name: {str(place): one.scale.values[level] for place, level in enumerate(levels[one.name])}
            for one in self.criteria
        }
        return {"ratings": rated if any(rated.values()) else {}}

    def _rated(self, scale: Scale, levels: Sequence[int]) -> dict[str, str]:
        step = (len(scale.values) - 1) / (len(self.scale.values) - 1)
        return {str(place): scale.values[round(level * step)] for place, level in enumerate(levels)}


def _scale_of(asked: AskedCriterion, answer_by: str) -> Scale:
    lowest, highest = asked.ends(answer_by)
    scores = tuple(range(highest, lowest - 1, -1))
    words = asked.words_by_point
    labels = tuple(f"{point} ({words[str(point)]})" if str(point) in words else str(point) for point in scores)
    return Scale(tuple(map(str, scores)), labels, scores, is_by_mean=True)


def _flat(value: Value) -> dict[tuple[str, str], str]:
    return {(name, card): said for name, ratings in value["ratings"].items() for card, said in ratings.items()}


def _joined(names: Sequence[str]) -> str:
    *most, end = names
    return f"{', '.join(most)} and {end}" if most else end
