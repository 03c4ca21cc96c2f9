"""Defines what every screening rule has: its settings, its text, and a function that finds the work to exclude.

The rules themselves are in hits/screening/, one class each; hits/screening/rules.py lists them. This file stands with
the tables because a study's design contains its rules, and pages read designs without pandas.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from evalplatform.errors import EvalPlatformError
from hits.errors import DesignProblem

if TYPE_CHECKING:
    from hits.models.design import StudyDesign

Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]

# Passed as validation context when a frozen design is read: a RetiredRule then replaces a rule that no longer exists.
FROZEN = {"is_frozen": True}


@dataclass(frozen=True)
class Finding:
    """The facts that a rule found against a worker, or against one submission if it names one."""

    worker: str
    evidence: dict[str, Any]
    submission: int | None = None


class ScreeningRule(BaseModel, ABC):
    """One rule with its settings. It is frozen, and a misspelt setting is an error, not a default.

    Pages show the first paragraph of a rule's docstring; docs/screening.md also has the rest.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    by_name: ClassVar[dict[str, type["ScreeningRule"]]] = {}  # filled by hits/screening/rules.py
    is_default: ClassVar[bool] = False  # whether a study that names no rules has this one

    # Whether it keeps work because of how the human reply was rated: what it keeps says nothing about that reply.
    is_about_points: ClassVar[bool] = False

    # Whether it finds who gives one answer everywhere.
    is_about_one_answer: ClassVar[bool] = False

    # Whether it finds who goes by the places of the replies on the page.
    is_about_places: ClassVar[bool] = False

    rule: str  # its name, in study files and in every row that it writes

    @abstractmethod
    def find(self, frames: Any) -> list[Finding]:
        """Return the work to exclude, with the facts that speak against it. The same frames give the same findings.

        `frames` is hits.frames' `Frames`, which this file may not import.
        """

    @abstractmethod
    def excluded(self) -> str:
        """Say for the methods section whose work was excluded, in the past tense, with the settings as words: the
        sentence begins "We excluded"."""

    def problems(self, design: "StudyDesign") -> list[DesignProblem]:
        """Return what makes the rule pointless in this design. A problem's field is the rule's own setting."""
        return []

    def cautions(self, design: "StudyDesign") -> list[str]:
        """Return what a researcher should know about the rule in this design; the study can be built all the same."""
        return []

    @property
    def parameters(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude={"rule"})

    @classmethod
    def paragraphs(cls) -> list[str]:
        return [" ".join(part.split()) for part in (inspect.getdoc(cls) or "").split("\n\n")]

    @classmethod
    def summary(cls) -> str:
        """Return the first paragraph of the rule's docstring, as pages show it."""
        return cls.paragraphs()[0].replace("`", "")

    @model_validator(mode="wrap")
    @classmethod
    def _validate_as_named_rule(
        cls, settings: Any, read: ModelWrapValidatorHandler["ScreeningRule"], info: ValidationInfo
    ) -> "ScreeningRule":
        if cls is not ScreeningRule or isinstance(settings, ScreeningRule):
            return read(settings)
        name = settings.get("rule") if isinstance(settings, Mapping) else None
        is_frozen = bool(info.context and info.context.get("is_frozen"))
        if not isinstance(name, str) or name not in cls.by_name:
            if is_frozen and isinstance(name, str):
                return RetiredRule.model_validate(settings)
            words = f"{name!r} is no screening rule; known are {', '.join(cls.by_name)}"
            raise PydanticCustomError("screening_rule", "{words}", {"words": words if name else "names no rule"})
        try:
            return cls.by_name[name].model_validate(settings)
        except ValidationError:
            if is_frozen:  # the rule still exists, but its settings have changed
                return RetiredRule.model_validate(settings)
            raise


def as_percent(share: float) -> str:
    """
    >>> as_percent(.95), as_percent(2 / 3)
    ('95%', '66.7%')
    """
    return f"{round(100 * share, 1):g}%"


class RetiredRule(ScreeningRule):
    """Stands in for a frozen study's rule that this version of the software lacks, or has with other settings.

    Such a study is collected, paid and shown as before, but it can no longer be screened by its own rules.
    """

    model_config = ConfigDict(extra="allow")

    def find(self, frames: Any) -> list[Finding]:
        self.refuse()

    def excluded(self) -> str:
        return f"what the rule {self.rule} found, which this version of the software no longer has as it was"

    def refuse(self) -> NoReturn:
        raise EvalPlatformError(
            f"The study was frozen with the screening rule {self.rule}, which this version of EvalPlatform does not "
            "have as it was. Screen with the version that has it, or explore other rules: screen_study --rules FILE."
        )
