"""What every screening rule is: settings that a study may name, a text, and a function that looks for such work.

The rules themselves stand in hits/screening/, each in one class; hits/screening/rules.py lists them. This file stands
with the tables because a study's design holds its rules, and pages read designs without pandas.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

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

# Given as the context of validation when a frozen design is read: what is gone is stood in for, not refused.
FROZEN = {"is_frozen": True}


@dataclass(frozen=True)
class Finding:
    """Facts that a rule found against a worker, or against one submission if it names one."""

    worker: str
    evidence: dict[str, Any]
    submission: int | None = None


class ScreeningRule(BaseModel, ABC):
    """One rule with its settings. The first paragraph of its docstring is what pages say of it, the rest is for
    docs/screening.md. Frozen, and strict about names: a misspelt setting is an error, not a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by_name: ClassVar[dict[str, type["ScreeningRule"]]] = {}  # filled by hits/screening/rules.py
    is_default: ClassVar[bool] = False  # whether a study that names no rules has this one

    rule: str  # its name, in study files and in every row that it writes

    @abstractmethod
    def find(self, frames: Any) -> list[Finding]:
        """The work that is to be left out, with the facts that speak against it. `frames` is hits.frames' `Frames`,
        which tables may not import. The same frames give the same findings."""

    def problems(self, design: "StudyDesign") -> list[DesignProblem]:
        """What makes the rule pointless in this design. A problem's field is the rule's own setting."""
        return []

    @property
    def parameters(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude={"rule"})

    @classmethod
    def paragraphs(cls) -> list[str]:
        return [" ".join(part.split()) for part in (inspect.getdoc(cls) or "").split("\n\n")]

    @classmethod
    def summary(cls) -> str:
        return cls.paragraphs()[0].replace("`", "")

    @model_validator(mode="wrap")
    @classmethod
    def _as_the_rule_it_names(
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
            if is_frozen:  # the rule is still here, but not with the settings that it had
                return RetiredRule.model_validate(settings)
            raise


class RetiredRule(ScreeningRule):
    """Stands in for a rule of a frozen study that this version of the software does not have, or not with these
    settings.

    The study is collected, paid and shown as before. It can't be screened by its own rules any more.
    """

    model_config = ConfigDict(extra="allow")

    def find(self, frames: Any) -> list[Finding]:
        raise EvalPlatformError(
            f"The study was frozen with the screening rule {self.rule}, which this version of EvalPlatform does not "
            "have as it was. Screen with the version that has it, or explore other rules: screen_study --rules FILE."
        )
