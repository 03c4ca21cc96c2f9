"""Defines how workers compare two replies: A, B or a tie, on one or more questions; which pairs they see; words.

A page sends `{"better": {"overall": "first"}, "why": ""}` by places; we store the number of the better card instead.
The pairs are those of the study's primary family (`analysis.compare`), so what is asked is what is tested.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import Field

from hits.errors import DesignProblem
from hits.models.cards import Card
from hits.models.design import WarmUpReply
from hits.protocols.compared_cards import compare_cards
from hits.protocols.criteria import Criterion, Key, Scale
from hits.protocols.pairs_design import PairQuestion, PairsDesign, PairsWarmUpReply, find_pairless_settings
from hits.protocols.protocol import Instrument, Judgement, OwnSetting, Presented, Protocol, Told, Value
from hits.protocols.sent_answers import InvalidAnswer, Sent
from hits.stats import VerdictRule

WITH_TIES = Scale(("win", "tie", "loss"), ("better", "as good", "worse"), (1, 0, -1))
WITHOUT_TIES = Scale(("win", "loss"), ("better", "worse"), (1, -1))
SIDES = ("first", "second")  # by place on the page
TIE, BOTH_BAD = "tie", "both_bad"  # stored beside the numbers of cards


class PairsSent(Sent):
    better: Annotated[dict[Key, str], Field(max_length=7)] = Field(
        description="By question: first, second, tie or both_bad."
    )
    why: Annotated[str, Field(max_length=1000)] = ""


class Pairs(Protocol[PairsDesign]):
    name = "pairs"
    title = "They compare two replies at a time"
    design_class = PairsDesign
    sent_class = PairsSent
    own_settings: ClassVar[Sequence[OwnSetting]] = (
        OwnSetting(
            "task.questions",
            "Questions about each pair",
            "table",
            "The pairs that workers see are those that the analysis compares.",
            columns=[
                OwnSetting("name", "Name", "text", "small letters, for tables and files"),
                OwnSetting("label", "As people read it", "text"),
                OwnSetting("question", "Question", "text", "the task's question if empty"),
            ],
        ),
        OwnSetting(
            "task.pairs_per_dialog",
            "Each dialog is shown",
            "choice",
            choices=[("one", "once, with one of the pairs"), ("each", "once with each pair, in different HITs")],
        ),
        OwnSetting("task.may_tie", "Workers may call two replies equal", "flag"),
        OwnSetting("task.may_reject_both", "They may call both bad, which counts as a tie", "flag"),
        OwnSetting("task.asks_why", "They may say why in words", "flag"),
        OwnSetting(
            "analysis.verdicts",
            "The verdict on a pair of replies is",
            "choice",
            choices=[
                ("majority", "what more than half of its votes say"),
                ("fourth vote", "what two of three say; where all three differ, what a fourth person says"),
                ("all votes", "none: each vote counts by itself"),
            ],
        ),
        OwnSetting("checkpoints.question", "Passed if the human reply is better on", "text", "the first one if empty"),
        OwnSetting("checkpoints.may_tie", "or as good", "flag"),
    )
    answer_noun = "comparison"
    was_judged, not_judged = "was", "not compared"
    still_missing = ("Still not compared", "choose")
    fitting_setting = OwnSetting("fitting", "is (better, worse, tie)", "words")
    criteria_setting, passing_setting = "task.questions", "checkpoints.question"

    # --- Designing and batching

    def problems(self) -> list[DesignProblem]:
        return [*find_pairless_settings(self.design)]

    def planned_shares(self, criterion: Criterion) -> tuple[float, ...]:
        return (1 / 3, 1 / 3, 1 / 3) if self._without_a_winner else (0.5, 0.5)

    @property
    def showings(self) -> int:
        each_pair = self.design.task.pairs_per_dialog == "each"
        return max(len(self.design.primary_pairs), 1) if each_pair else 1

    @property
    def verdict_rule(self) -> VerdictRule:
        return self.design.analysis.verdicts

    def dialogs_of_a_pair(self, dialogs: int) -> int:
        """At checkpoints, one model's reply stands beside the human one instead."""
        hits = self.design.hits
        compared = 1 - min(self.design.checkpoints.per_hit / hits.dialogs_per_hit, 1)
        return round(dialogs * self.showings * compared / max(len(self.design.primary_pairs), 1))

    def line_up(self, number: int, has_gold: bool) -> Sequence[str]:
        names = self.design.generators
        if has_gold:
            return [names[number % len(names)]]
        pairs = self.design.primary_pairs
        return pairs[number % len(pairs)] if pairs else names[:2]

    # --- Serving

    @property
    def balances_sides(self) -> bool:
        return True

    def page_settings(self) -> dict[str, Any]:
        task = self.design.task
        questions = [
            {"name": one.name, "label": one.label, "question": one.question or task.question} for one in task.questions
        ]
        allowed = {"may_tie": task.may_tie, "may_reject_both": task.may_reject_both, "asks_why": task.asks_why}
        return {"questions": questions, **allowed}

    def value_of(self, sent: PairsSent, card_order: Sequence[int]) -> Value:
        if not set(sent.better) <= {one.name for one in self.design.task.questions}:
            raise InvalidAnswer("Nobody was asked about that.")
        if sent.why.strip() and not self.design.task.asks_why:
            raise InvalidAnswer("Nobody was asked why.")
        if sent.better and len(card_order) != 2:
            raise InvalidAnswer("There are no two replies to compare.")
        said = {**dict(zip(SIDES, card_order, strict=False)), **{name: name for name in self._without_a_winner}}
        if not set(sent.better.values()) <= said.keys():
            raise InvalidAnswer("This dialog has no such reply.")
        better = {name: said[side] for name, side in sent.better.items()}
        why = sent.why.strip()
        return {"better": better, **({"why": why} if why else {})}

    @property
    def _without_a_winner(self) -> list[str]:
        task = self.design.task
        return [*([TIE] if task.may_tie else []), *([BOTH_BAD] if task.may_reject_both else [])]

    def show(self, value: Value | None, card_order: Sequence[int]) -> dict[str, Any]:
        sides = dict(zip(card_order, SIDES, strict=False))
        better = value["better"] if value else {}
        shown = {name: sides.get(card, card) for name, card in better.items()}
        return {"better": shown, "why": value.get("why", "") if value else ""}

    def missing(self, value: Value | None, card_count: int) -> int:
        # Two models that say the same make one card, and there is nothing to choose.
        is_done = card_count < 2 or (value is not None and len(value["better"]) == len(self.criteria))
        return 0 if is_done else card_count

    # --- Checkpoints

    @property
    def checkpoint_criterion(self) -> str:
        return self.design.checkpoints.question or self.design.task.questions[0].name

    @property
    def passing_values(self) -> Sequence[str]:
        return ("win", "tie") if self._tie_passes else ("win",)

    @property
    def _tie_passes(self) -> bool:
        return self.design.checkpoints.may_tie and self.design.task.may_tie

    def is_redone(self, checked: Value, final: Value) -> bool:
        return bool(checked["better"] != final["better"])

    def told_answers(self, cards: int) -> Sequence[Told]:
        everywhere = " for every question" if len(self.criteria) > 1 else ""
        last = len(self.scale.values) - 1
        told = [("A is better", [0, last]), ("B is better", [last, 0])]
        if self.design.task.may_tie:
            told.append(("As good", [0, 0]))
        return [Told(f"choose “{words}”{everywhere}", self.sent_by(levels)) for words, levels in told]

    # --- Ratings

    @cached_property
    def criteria(self) -> Sequence[Criterion]:
        task = self.design.task
        scale = WITH_TIES if self._without_a_winner else WITHOUT_TIES
        return [
            Criterion(one.name, scale, is_comparison=True, label=one.label, question=one.question)
            for one in task.questions
        ]

    def judgements(self, value: Value, card_order: Sequence[int], cards: Sequence[Card]) -> Iterator[Judgement]:
        first, last = min(card_order), max(card_order)
        for one in self.criteria:
            if first == last and not self._without_a_winner:
                continue  # identical replies, and no way to say so
            said = _seen_from(first, value["better"].get(one.name, TIE))
            yield from compare_cards(one, said, first, last, cards, card_order)

    def values_of_card(self, value: Value, card: int) -> dict[str, str]:
        return {name: _seen_from(card, better) for name, better in value["better"].items()}

    # --- Words

    def how_to_win(self) -> str:
        return f"you choose it{' or call both equal' if self._tie_passes else ''}{self._on_question}"

    @property
    def _on_question(self) -> str:
        asked = self.design.task.questions
        return f" on {_title(self._checked)}" if len(asked) > 1 else ""

    @property
    def _checked(self) -> PairQuestion:
        asked = self.design.task.questions
        return next((one for one in asked if one.name == self.checkpoint_criterion), asked[0])

    def what_counts(self) -> str:
        rules = self.design.checkpoints
        if rules.feedback == "after submission":
            return (
                "What counts is what you have chosen when you submit. We tell you afterwards how many points you won."
            )
        if rules.counts == "final":
            return (
                "What counts is what you have chosen when you submit. Bonus Validate tells you whether the point would "
                "be yours; you need not press it."
            )
        return (
            "What counts is what you have chosen when you first press Bonus Validate, and the point is yours if you "
            "have still chosen well when you submit. If you never press it, only what you submit counts."
        )

    def how_it_was_won(self) -> str:
        return f"preferred it{' or called both equal' if self._tie_passes else ''}{self._on_question}"

    def fitting_answer(self, reply: WarmUpReply) -> str:
        fitting = reply.fitting if isinstance(reply, PairsWarmUpReply) else []
        return f"is {' or '.join(fitting)}"

    def how_it_was_asked(self) -> str:
        task = self.design.task
        choices = ["the first", "the second", *(["a tie"] if task.may_tie else []), *self._both_bad_words]
        asked = [f"“{one.question or task.question}”" for one in task.questions]
        why = " They could say why in words." if task.asks_why else ""
        return (
            "Workers saw a dialog with two replies, without the models' names; which one came first changed between "
            f"workers. They chose {_either(choices)} for {' and '.join(asked)}.{why}"
        )

    def which_were_shown(self) -> str:
        is_each = self.design.task.pairs_per_dialog == "each"
        pairs = (
            "each dialog was shown once with each pair of models, in different tasks"
            if is_each
            else "each dialog was shown with one pair of models, and the pairs took turns over the dialogs"
        )
        if not self.design.checkpoints.per_hit:
            return pairs
        return f"{pairs}; at checkpoints, one model's reply stood beside the human reply instead"

    @property
    def _both_bad_words(self) -> list[str]:
        return ["“both bad” (counted as a tie)"] if self.design.task.may_reject_both else []

    def instrument(self) -> Instrument:
        ties = ", and for neither" if self._without_a_winner else ""
        return Instrument(Presented.MULTIPLE_CHOICE, f"a button for each of the two replies{ties}")

    # --- Simulation

    def sent_by(self, levels: Sequence[int]) -> dict[str, Any]:
        return self.sent_on({one.name: levels for one in self.criteria})

    def sent_on(self, levels: Mapping[str, Sequence[int]]) -> dict[str, Any]:
        chosen = {one.name: self._side_by(levels[one.name]) for one in self.criteria if len(levels[one.name]) == 2}
        return {"better": chosen, "why": ""}

    def _side_by(self, levels: Sequence[int]) -> str:
        first, second = levels
        if first == second and self._without_a_winner:
            return self._without_a_winner[0]
        return SIDES[0] if first <= second else SIDES[1]


def _seen_from(card: int, better: int | str) -> str:
    return "tie" if better in (TIE, BOTH_BAD) else "win" if better == card else "loss"


def _title(asked: PairQuestion) -> str:
    return asked.label or asked.name


def _either(choices: Sequence[str]) -> str:
    *most, last = choices
    return f"{', '.join(most)} or {last}"
