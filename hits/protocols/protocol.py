"""Defines what a protocol must tell the rooms; `missing_work` decides whether work is complete.

Words. A dialog's *cards* have numbers, in the order in which they are stored, and *places*, in the order in which one
worker sees them; `card_order` lists the card at each place. What a page *sends* about a dialog names places, because a
page knows nothing else. The *value* that we store names cards. A *judgement* is one rating that follows from a value:
on one criterion, of one candidate or of the human reply, and in a comparison against an opponent.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, final

from pydantic import ValidationError

from hits.errors import DesignProblem
from hits.models.cards import Card
from hits.models.design import Outcome, StudyDesign, WarmUpReply
from hits.protocols.criteria import OVERALL, Criterion, Scale
from hits.protocols.sent_answers import InvalidAnswer, Sent
from hits.stats import VerdictRule

Value = dict[str, Any]
Design = TypeVar("Design", bound=StudyDesign)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One rating that follows from an answer. `candidate` is None for the human reply.

    In a comparison with the human reply, the human reply is the candidate and the model's reply the opponent. So an
    empty opponent always means that nothing was compared.
    """

    card: int
    place: int
    candidate: int | None
    value: str
    criterion: str = OVERALL
    opponent: int | None = None


@dataclass(frozen=True)
class OwnSetting:
    """A setting that only this protocol has, as the study form asks for it.

    `path` is that of a study file ("task.areas"). The step of the form that has the other settings of that part asks
    for it; the step Task asks for those of a part that only this protocol has. `kind` is one of the kinds that
    hits.views.setting_fields can read. A "choice" has `choices`, each with what the
    researcher reads. A "table" is a list of tables with the same `columns`; the path of a column is its key there, and
    its kind is one of hits.views.table_fields. A row whose first column is empty is left out.
    """

    path: str
    label: str
    kind: str
    help: str = ""
    choices: Sequence[tuple[str, str]] = ()
    columns: Sequence["OwnSetting"] = ()


class Presented(StrEnum):
    """How a scale is presented, in the datasheet's words (HEDS 4.3.5)."""

    MULTIPLE_CHOICE = "multiple-choice options"
    CHECK_BOXES = "check-boxes"
    SLIDER = "slider"
    OTHER = "other"


@dataclass(frozen=True)
class Instrument:
    """What workers answer with. `described` says it in words: "a button for each area"."""

    kind: Presented
    described: str


@dataclass(frozen=True)
class Told:
    """An answer that an attention check may tell. `words` follow "please"; `sent` is what the page would send."""

    words: str
    sent: dict[str, Any]


class Protocol(ABC, Generic[Design]):
    """One way of asking, with one study's settings."""

    name: ClassVar[str]
    title: ClassVar[str]  # on the study form, under "How people are asked"
    design_class: ClassVar[type[StudyDesign]]  # adds the settings that only this protocol has
    sent_class: ClassVar[type[Sent]]
    own_settings: ClassVar[Sequence[OwnSetting]]
    answer_noun: ClassVar[str]  # what an answer to a dialog is called in the methods section
    was_judged: ClassVar[str] = "was rated"  # before a value: the human reply "was in" Good
    not_judged: ClassVar[str] = "not rated"
    still_missing: ClassVar[tuple[str, str]]  # "Still without a place" ... "please place them"
    fitting_setting: ClassVar[OwnSetting]  # which answers fit a reply of the warm-up
    criteria_setting: ClassVar[str] = "task"  # which setting names the criteria or their values, if one does
    passing_setting: ClassVar[str] = "checkpoints"  # which setting says what passes a checkpoint
    # Whether an answer puts a dialog's replies in order, so that not all can get the same value (`levels_in_order`).
    puts_in_order: ClassVar[bool] = False

    def __init__(self, design: Design) -> None:
        self.design = design

    # --- Designing

    @abstractmethod
    def problems(self) -> list[DesignProblem]:
        """Return the contradictions among the protocol's own settings."""

    def planned_shares(self, criterion: Criterion) -> tuple[float, ...] | None:
        """Return the shares of values, best first, that the planner assumes of a model; where replies are compared,
        those of wins, ties and losses of two equals.

        None, unless a protocol says otherwise: then the form says that the planner does not cover this way of asking,
        and methods and datasheet that there was no power analysis. Everything else works.
        """
        return None

    # --- Batching

    @property
    def showings(self) -> int:
        """Return how many items each dialog makes, each with the next line-up. No HIT has a dialog twice."""
        return 1

    @property
    def verdict_rule(self) -> VerdictRule:
        """Return how votes on two replies become a verdict. By "fourth vote", the study asks for one by itself where
        three people said three different things (hits.deciding)."""
        return "majority"

    def dialogs_of_a_pair(self, dialogs: int) -> int:
        """Return in how many of a study's dialogs the replies of two given generators are compared."""
        return dialogs

    @property
    def ratings_per_item(self) -> int:
        """Return how many ratings of generators' replies follow from one answer, without a human reply."""
        replies = len(self.line_up(0, False))
        return sum(1 if one.is_comparison else replies for one in self.criteria)

    def line_up(self, number: int, has_gold: bool) -> Sequence[str]:
        """Return the generators whose replies appear in an item; a checkpoint (`has_gold`) also shows the human reply.

        Dialogs are numbered so that `number % n` gives each of n line-ups about equally often, in each HIT and in each
        dataset. A protocol that compares two replies returns two generators, but only one for a checkpoint: then there
        is exactly one rating of the human reply, to which `passing_values` applies.
        """
        return self.design.generators

    # --- Serving

    @property
    def is_side_by_side(self) -> bool:
        """Return False where each reply is judged by itself, before the next one is seen."""
        return True

    @property
    def balances_sides(self) -> bool:
        """Return whether each worker is to see each of two models on each side equally often (hits.serving.sides)."""
        return False

    @abstractmethod
    def page_settings(self) -> dict[str, Any]:
        """Return what the worker's page needs beside the dialogs and the common texts."""

    def settings_of_worker(self, rotation: int) -> dict[str, Any]:
        """Return those of `page_settings` that differ between workers, such as the order of criteria.

        They follow from the worker's `rotation`, which is stored with the assignment, so that it is known who saw what.
        """
        return {}

    def read(self, sent: Mapping[str, Any], card_order: Sequence[int]) -> Value:
        """Return the value to store for what a page sent. It may be incomplete, because pages save while people work.

        Raises InvalidAnswer.
        """
        try:
            parsed = self.sent_class.model_validate(sent)
        except ValidationError:
            raise InvalidAnswer(f"This is no answer as {self.name} has them.") from None
        return self.value_of(parsed, card_order)

    @abstractmethod
    def value_of(self, sent: Any, card_order: Sequence[int]) -> Value:
        """Return the value to store for an answer that has the shape of `sent_class`.

        Raises InvalidAnswer if it does not fit the dialog or the study.
        """

    @abstractmethod
    def show(self, value: Value | None, card_order: Sequence[int]) -> dict[str, Any]:
        """Return a stored value in the form that pages send: the reverse of `read`. None means not answered yet."""

    def nothing(self) -> Value:
        """Return the value of a dialog that was not answered at all."""
        return self.read(self.show(None, ()), ())

    @abstractmethod
    def missing(self, value: Value | None, card_count: int) -> int:
        """Return how many replies of a dialog still have no answer; 0 if it is complete."""

    # --- Checkpoints

    @final
    def passes(self, value: Value, gold_card: int) -> bool:
        """Return whether the human reply was judged as it should be. hits.protocols.checkpoints says what that wins."""
        return self.value_passes(self.values_of_card(value, gold_card).get(self.checkpoint_criterion))

    @final
    def value_passes(self, value: str | None) -> bool:
        """Return the same from a rating of the human reply on `checkpoint_criterion`; None if there is none."""
        return value in self.passing_values

    @property
    def is_won_by_one_answer(self) -> bool:
        """Return whether who says the same of every reply passes: never where one of them must be better."""
        if self.puts_in_order:
            return False
        checked = next((one for one in self.criteria if one.name == self.checkpoint_criterion), None)
        wins = set(self.passing_values) - ({"win"} if checked is not None and checked.is_comparison else set())
        return checked is not None and not wins.isdisjoint(checked.scale.values)

    @property
    @abstractmethod
    def passing_values(self) -> Sequence[str]:
        """Return the ratings of the human reply on `checkpoint_criterion` that pass the checkpoint."""

    @property
    def checkpoint_criterion(self) -> str:
        """Return the criterion that decides about checkpoints."""
        return OVERALL

    @abstractmethod
    def is_redone(self, checked: Value, final: Value) -> bool:
        """Return whether so much has changed since a check that the dialog was in effect answered again."""

    def told_answers(self, cards: int) -> Sequence[Told]:
        """Return the answers that an attention check of so many cards may tell; the design's seed draws one.

        Frozen studies store its number, so the order never changes. No two answers may be the same.
        """
        best, worst = 0, len(self.scale.values) - 1
        if self.criteria[0].is_comparison:
            others = [worst] * (cards - 1)
            return [
                Told("choose the first reply as the better one", self.sent_by([best, *others])),
                Told("choose the last reply as the better one", self.sent_by([*others, best])),
            ]
        return [
            Told(f"answer “{label}” about every reply", self.sent_by([level] * cards))
            for level, label in enumerate(self.scale.labels)
        ]

    # --- Ratings

    @property
    @abstractmethod
    def criteria(self) -> Sequence[Criterion]:
        """Return the criteria in the order in which they are asked, the main one first."""

    @abstractmethod
    def judgements(self, value: Value, card_order: Sequence[int], cards: Sequence[Card]) -> Iterator[Judgement]:
        """Yield the ratings of a complete answer. A card that stands for several candidates makes one for each."""

    @abstractmethod
    def values_of_card(self, value: Value, card: int) -> dict[str, str]:
        """Return what was said of one card, by criterion. A criterion without an answer is left out."""

    def said_of(self, value: Value, card: int) -> str:
        """Return what was said of one card as researchers read it: "good", or "empathy: 4, fluency: 5"; "" if nothing
        was said."""
        values = self.values_of_card(value, card)
        told = [(one.title, one.scale.label(values[one.name])) for one in self.criteria if one.name in values]
        if len(self.criteria) == 1:
            return "".join(label for _, label in told)
        return ", ".join(f"{title}: {label}" for title, label in told)

    def said_of_gold(self, value: Value, gold_card: int) -> str:
        """Say how the human reply was judged on the criterion that decides: "was in Good"."""
        said = self.values_of_card(value, gold_card).get(self.checkpoint_criterion)
        if said is None:
            return f"was {self.not_judged}"
        asked = next(one for one in self.criteria if one.name == self.checkpoint_criterion)
        about = f" on {asked.title}" if len(self.criteria) > 1 else ""
        return f"{self.was_judged} {asked.scale.label(said)}{about}"

    @property
    def outcomes(self) -> dict[Outcome, str]:
        """Return the primary outcomes that a study may choose, in the words of pages and tables.

        The default is that of `design_class`, which must be one of them. Where replies are compared, no reply has a
        value of its own, so there is only the share of comparisons that a generator wins.
        """
        if self.criteria[0].is_comparison:
            return {"win rate": "win rate"}
        return {
            "share of best": f"share of {self.scale.values[0]}",
            "mean score": "mean score",
            "win rate": "win rate",
        }

    @cached_property
    def scale(self) -> Scale:
        """Return the scale of the main criterion."""
        return self.criteria[0].scale

    @cached_property
    def gold_scale(self) -> Scale:
        """Return the scale of the criterion that decides about checkpoints."""
        return next(one.scale for one in self.criteria if one.name == self.checkpoint_criterion)

    # --- Words

    @abstractmethod
    def how_to_win(self) -> str:
        """Say when a worker wins a checkpoint's point; the sentence begins "the point is yours when"."""

    @abstractmethod
    def what_counts(self) -> str:
        """Tell workers, before their first check, which answer decides about a point (hits.protocols.checkpoints)."""

    @abstractmethod
    def how_it_was_won(self) -> str:
        """Say the same in the methods section: "a worker who ... won a bonus point"."""

    @abstractmethod
    def fitting_answer(self, reply: WarmUpReply) -> str:
        """Tell the researcher which answer the warm-up praises."""

    @abstractmethod
    def how_it_was_asked(self) -> str:
        """Return a sentence for the methods section: "Workers saw a dialog with ... and ..."."""

    def which_were_shown(self) -> str:
        """Say which models' replies a dialog shows, if not all: "each dialog was shown with ...". Empty if all."""
        return ""

    @abstractmethod
    def instrument(self) -> Instrument:
        """Return what workers answer with, for the datasheet (HEDS 4.3.5)."""

    # --- Simulation

    @abstractmethod
    def sent_by(self, levels: Sequence[int]) -> dict[str, Any]:
        """Return what a page would send for someone who puts the card at each place on this level of `scale`."""

    def sent_on(self, levels: Mapping[str, Sequence[int]]) -> dict[str, Any]:
        """Return the same for someone with an opinion on each criterion: levels of its own scale, by its name."""
        return self.sent_by(levels[self.criteria[0].name])

    def levels_in_order(self, opinions: Sequence[float]) -> list[int]:
        """Return the levels of `scale` that follow from opinions of a dialog's replies, the higher the better.

        Only a protocol that `puts_in_order` has it: elsewhere each opinion is cut by itself, where the truth says.
        """
        raise NotImplementedError

    @cached_property
    def passing_levels(self) -> list[int]:
        """Return the levels of the main scale that pass a checkpoint, best first.

        Where another criterion with another scale decides, those are the levels at which a simulated worker, who has
        one opinion of a reply and answers all criteria with it, passes.
        """
        if self.gold_scale == self.scale:
            return [level for level, value in enumerate(self.scale.values) if self.value_passes(value)]
        levels = range(len(self.scale.values))
        return [level for level in levels if self.passes(self.read(self.sent_by([level]), [0]), 0)]


def missing_work(
    protocol: Protocol[Any], card_counts: Mapping[int, int], values: Mapping[int, Value]
) -> dict[int, int]:
    """Return how many replies of which items have no answer. This is the one place that says whether work is complete.

    All three mappings are by the items' primary keys.
    """
    counted = {item: protocol.missing(values.get(item), count) for item, count in card_counts.items()}
    return {item: missing for item, missing in counted.items() if missing}
