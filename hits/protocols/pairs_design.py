"""Defines the settings of a study that compares two replies at a time, and finds what contradicts itself in them."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny

from hits.errors import DesignProblem
from hits.models import design_texts
from hits.models.design import (
    AnalysisPart,
    CheckpointPart,
    Outcome,
    Part,
    StudyDesign,
    TaskPart,
    Text,
    WarmUpPart,
    WarmUpReply,
    rules_without_points,
)
from hits.models.screening_rule import ScreeningRule
from hits.protocols import pairs_texts
from hits.protocols.criteria import OVERALL, Key
from hits.stats import VerdictRule

Verdict = Literal["better", "worse", "tie"]


class PairQuestion(Part):
    """A question about a pair, as a study file names it."""

    name: Key = OVERALL
    label: Annotated[str, Field(max_length=100)] = ""
    question: Annotated[str, Field(max_length=1000)] = ""  # the task's question if empty


class PairsTask(TaskPart):
    description: Annotated[Text, Field(max_length=2000)] = pairs_texts.DESCRIPTION
    question: Text = pairs_texts.QUESTION
    welcome: Text = pairs_texts.WELCOME
    instructions: Text = pairs_texts.INSTRUCTIONS
    consent: Text = design_texts.CONSENT_TO_ORDER
    questions: list[PairQuestion] = Field(default=[PairQuestion()], min_length=1, max_length=7)
    # Whether each dialog comes once with each pair, in different HITs, or once with one of them.
    pairs_per_dialog: Literal["each", "one"] = "one"
    may_tie: bool = True
    may_reject_both: bool = False  # "both bad", which counts as a tie
    asks_why: bool = False  # a reason in words, if the worker likes


class PairsCheckpoints(CheckpointPart):
    question: Annotated[str, Field(max_length=30)] = ""  # the first one if empty
    # Whether the point is won if the human reply is called as good. Where nobody can say so, it means nothing.
    may_tie: bool = True


class PairsWarmUpReply(WarmUpReply):
    fitting: list[Verdict] = Field(min_length=1)
    hint: Text = "Perhaps the other one?"


class PairsWarmUp(WarmUpPart):
    replies: list[PairsWarmUpReply] = Field(
        default=[PairsWarmUpReply.model_validate(reply) for reply in pairs_texts.WARM_UP_REPLIES], min_length=1
    )


def _is_majority(rule: str) -> bool:
    return rule == "majority"


class PairsAnalysis(AnalysisPart):
    outcome: Outcome = "win rate"
    # How votes become verdicts. Like `even_by`, it is written down only where it is set.
    verdicts: VerdictRule = Field("majority", exclude_if=_is_majority)


class PairsDesign(StudyDesign):
    protocol: Literal["pairs"] = "pairs"
    checkpoints: PairsCheckpoints = PairsCheckpoints()
    task: PairsTask = PairsTask()
    warm_up: PairsWarmUp = PairsWarmUp()
    analysis: PairsAnalysis = PairsAnalysis()
    screening: list[SerializeAsAny[ScreeningRule]] = Field(default_factory=rules_without_points)


VOTES = 3  # a verdict by a fourth vote rests on so many votes before


def _find_verdicts_without_votes(design: PairsDesign) -> Iterator[DesignProblem]:
    if design.analysis.verdicts != "fourth vote":
        return
    if design.hits.assignments != VOTES:
        yield DesignProblem("hits.assignments", f"a fourth vote needs {VOTES} before it; set it to {VOTES}")
    if not (design.task.may_tie or design.task.may_reject_both):
        yield DesignProblem("analysis.verdicts", 'without ties, three votes never all differ; use "majority"')
    if design.checkpoints.per_hit >= design.hits.dialogs_per_hit:
        yield DesignProblem("checkpoints.per_hit", "leaves no dialog of a HIT for fourth votes; lower it")


def find_pairless_settings(design: PairsDesign) -> Iterator[DesignProblem]:
    yield from _find_verdicts_without_votes(design)
    if len(design.warm_up.replies) != 2:
        yield DesignProblem("warm_up.replies", "two replies are compared; write exactly two")
    if design.task.pairs_per_dialog == "each" and design.hits.uneven_end == "drop":
        yield DesignProblem(
            "hits.uneven_end", 'no dialog can be left out where each is shown with each pair; use "spread"'
        )
    if not design.task.may_tie and any("tie" in one.fitting for one in design.warm_up.replies):
        yield DesignProblem("warm_up.replies", "workers can't call two replies equal in this study")
    if len(design.generators) > 1 and not design.primary_pairs:
        yield DesignProblem("analysis.compare", "names no pair of the study's models; workers would have nothing to do")
