"""Defines the settings of a study that asks on Likert scales or sliders, and finds what contradicts itself in them."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

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
)
from hits.protocols import likert_texts
from hits.protocols.criteria import KEY_PATTERN, Key

SLIDER = (0, 100)

Words = Annotated[str, Field(pattern=r"^\d{1,3}: \S.{0,59}$")]  # "3: somewhat"
Fitting = Annotated[str, Field(pattern=rf"^({KEY_PATTERN[1:-1]}:)?(high|middle|low)$")]


class AskedCriterion(Part):
    """A criterion, as a study file names it."""

    name: Key
    label: Annotated[str, Field(max_length=100)] = ""
    question: Text
    points: int = Field(5, ge=3, le=11)  # from 1 up; a slider has none
    words: list[Words] = Field(default=[], max_length=101)  # at some or all points

    def ends(self, answer_by: str) -> tuple[int, int]:
        """Return the lowest and the highest point."""
        return SLIDER if answer_by == "slider" else (1, self.points)

    @property
    def words_by_point(self) -> dict[str, str]:
        return {point: words for point, _, words in (one.partition(": ") for one in self.words)}


class LikertTask(TaskPart):
    description: Annotated[Text, Field(max_length=2000)] = likert_texts.DESCRIPTION
    question: Text = likert_texts.QUESTION
    welcome: Text = likert_texts.WELCOME
    instructions: Text = likert_texts.INSTRUCTIONS
    consent: Text = design_texts.CONSENT_TO_ORDER
    criteria: list[AskedCriterion] = Field(
        default=[AskedCriterion.model_validate(one) for one in likert_texts.CRITERIA], min_length=1, max_length=7
    )
    # How many of the models' replies a dialog shows; 0 means all. Those that come take turns over the dialogs.
    models_per_dialog: int = Field(0, ge=0, le=20)
    layout: Literal["grid", "one by one"] = "grid"
    answer_by: Literal["points", "slider"] = "points"
    criteria_order: Literal["balanced", "as listed"] = "balanced"
    may_skip: bool = False  # "Can't say"


class LikertCheckpoints(CheckpointPart):
    criterion: Annotated[str, Field(max_length=30)] = ""  # the first one if empty
    at_least: int = Field(0, ge=0, le=100)  # 0 means the middle of the scale


class LikertWarmUpReply(WarmUpReply):
    fitting: list[Fitting] = Field(min_length=1)  # on the first criterion, unless one is named: "fluency:high"
    hint: Text = "Perhaps another rating?"


class LikertWarmUp(WarmUpPart):
    replies: list[LikertWarmUpReply] = Field(
        default=[LikertWarmUpReply.model_validate(reply) for reply in likert_texts.WARM_UP_REPLIES], min_length=1
    )


class LikertAnalysis(AnalysisPart):
    outcome: Outcome = "mean score"


class LikertDesign(StudyDesign):
    protocol: Literal["likert"] = "likert"
    checkpoints: LikertCheckpoints = LikertCheckpoints()
    task: LikertTask = LikertTask()
    warm_up: LikertWarmUp = LikertWarmUp()
    analysis: LikertAnalysis = LikertAnalysis()


# --- Settings that contradict themselves -----------------------------------------------------------------------------


def find_unknown_criteria(design: LikertDesign) -> Iterator[DesignProblem]:
    names = [one.name for one in design.task.criteria]
    for number, reply in enumerate(design.warm_up.replies, 1):
        for fitting in reply.fitting:
            name, colon, _ = fitting.rpartition(":")
            if colon and name not in names:
                yield DesignProblem(
                    f"warm_up.replies.{number}.fitting",
                    f"{name!r} is not a criterion of this study; its criteria are {', '.join(names)}",
                )


def find_impossible_share(design: LikertDesign) -> Iterator[DesignProblem]:
    """Report what can't be done where a dialog shows some of the models only."""
    shown, known = design.task.models_per_dialog, len(design.generators)
    if shown > known:
        message = f"there {'is one model' if known == 1 else f'are {known} models'}; write at most that, or 0 for all"
        yield DesignProblem("task.models_per_dialog", message)
    if not 0 < shown < known:
        return
    if design.analysis.drop_losers:
        message = "can't be used where a dialog shows some of the models only: it might lose the last one; drop none"
        yield DesignProblem("analysis.drop_losers", message)
    if design.analysis.stop_when_decided and shown == 1:
        message = "compares replies to the same dialog, and here each dialog shows one; set task.models_per_dialog to 2"
        yield DesignProblem("analysis.stop_when_decided", message)


def find_bad_words(design: LikertDesign) -> Iterator[DesignProblem]:
    for number, asked in enumerate(design.task.criteria, 1):
        lowest, highest = asked.ends(design.task.answer_by)
        points = [int(one.partition(":")[0]) for one in asked.words]
        field = f"task.criteria.{number}.words"
        for point in sorted({one for one in points if not lowest <= one <= highest}):
            yield DesignProblem(field, f"there is no {point} on this scale; it goes from {lowest} to {highest}")
        if design.task.answer_by == "slider" and points and not {lowest, highest} <= set(points):
            yield DesignProblem(
                field, f'on a slider, words stand at its ends, and perhaps between: "{lowest}: …", "{highest}: …"'
            )
        for point in sorted({one for one in points if points.count(one) > 1}):
            yield DesignProblem(field, f"{point} has words twice; give it one")
