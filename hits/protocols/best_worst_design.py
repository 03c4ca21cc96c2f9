"""Defines the settings of a study by best-worst scaling, and finds what contradicts itself in them."""

from collections.abc import Iterator
from itertools import permutations
from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny

from hits.errors import DesignProblem
from hits.models import design_texts
from hits.models.design import (
    AnalysisPart,
    CheckpointPart,
    Outcome,
    StudyDesign,
    TaskPart,
    Text,
    WarmUpPart,
    WarmUpReply,
    rules_without_points,
)
from hits.models.screening_rule import ScreeningRule
from hits.protocols import best_worst_texts


class BestWorstTask(TaskPart):
    description: Annotated[Text, Field(max_length=2000)] = best_worst_texts.DESCRIPTION
    question: Text = best_worst_texts.QUESTION
    welcome: Text = best_worst_texts.WELCOME
    instructions: Text = best_worst_texts.INSTRUCTIONS
    consent: Text = design_texts.CONSENT_TO_ORDER
    # How many of the models' replies a dialog shows; 0 means all. Those that come take turns over the dialogs.
    models_per_dialog: int = Field(0, ge=0, le=20)


class BestWorstCheckpoints(CheckpointPart):
    passed_by: Literal["best", "not worst"] = "not worst"  # what the human reply must be


class BestWorstWarmUpReply(WarmUpReply):
    fitting: list[Literal["best", "neither", "worst"]] = Field(min_length=1)
    hint: Text = "Perhaps another one?"


class BestWorstWarmUp(WarmUpPart):
    replies: list[BestWorstWarmUpReply] = Field(
        default=[BestWorstWarmUpReply.model_validate(reply) for reply in best_worst_texts.WARM_UP_REPLIES], min_length=2
    )


class BestWorstAnalysis(AnalysisPart):
    outcome: Outcome = "mean score"


def _fair_rules() -> list[ScreeningRule]:
    """Return also the rule that finds who marks the same places everywhere: checkpoints have a reply more, so that the
    last place is not the same in all dialogs, as `same_answer` would need."""
    return rules_without_points(with_places=True)


class BestWorstDesign(StudyDesign):
    protocol: Literal["best-worst"] = "best-worst"
    checkpoints: BestWorstCheckpoints = BestWorstCheckpoints()
    task: BestWorstTask = BestWorstTask()
    warm_up: BestWorstWarmUp = BestWorstWarmUp()
    analysis: BestWorstAnalysis = BestWorstAnalysis()
    screening: list[SerializeAsAny[ScreeningRule]] = Field(default_factory=_fair_rules)


# --- Settings that contradict themselves -----------------------------------------------------------------------------


def find_impossible_marks(design: BestWorstDesign) -> Iterator[DesignProblem]:
    shown, known = design.task.models_per_dialog, len(design.generators)
    if shown == 1:
        yield DesignProblem("task.models_per_dialog", "of one reply, none is best and worst; write 2 or more, or 0")
    elif shown > known:
        yield DesignProblem(
            "task.models_per_dialog", f"the study has fewer models ({known}); write at most that, or 0 for all"
        )
    if design.analysis.drop_losers:
        yield DesignProblem(
            "analysis.drop_losers",
            "can't be used here: which reply is best depends on those beside it, so that the scores of the models that "
            "stay would change; drop none",
        )
    if not _can_fit(design.warm_up.replies):
        yield DesignProblem(
            "warm_up.replies", "no answer fits: one reply must be best, another one worst, and all others neither"
        )


def _can_fit(replies: list[BestWorstWarmUpReply]) -> bool:
    return any(
        "best" in best.fitting
        and "worst" in worst.fitting
        and all("neither" in other.fitting for other in replies if other is not best and other is not worst)
        for best, worst in permutations(replies, 2)
    )
