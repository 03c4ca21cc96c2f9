"""Defines the errors that a study can meet, from its design to its results."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of


@dataclass(frozen=True)
class DesignProblem:
    """One thing to change in a design: in which field, what is wrong, and what to do."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class InvalidStudy(EvalPlatformError):
    """A design with problems, all of them listed."""

    def __init__(self, problems: Sequence[DesignProblem]) -> None:
        self.problems = list(problems)
        count = count_of(len(self.problems), "problem")
        super().__init__(f"The study has {count}:\n" + "\n".join(f"  {problem}" for problem in self.problems))


class DesignUnreadable(EvalPlatformError):
    """This version of EvalPlatform can't read a stored design, most likely because another version froze it."""


class StudyFrozen(EvalPlatformError):
    """The design of a frozen study can't be changed; it can only be copied."""


class MarketUnavailable(EvalPlatformError):
    """The marketplace did not answer, or asked us to wait. We don't know whether it acted.

    Every call may be repeated, except a bonus where the crowd would pay it twice: there, look at its list first
    (`Abilities.is_bonus_repeatable`).
    """


class MarketRefused(EvalPlatformError):
    """The crowd refused, with its own code and text. `is_gone`: the HIT does not exist there.

    The run goes on without this item, unless the refusal concerns the account: then the next call would meet the same.
    """

    def __init__(self, code: str, message: str, is_about_account: bool = False, is_gone: bool = False) -> None:
        self.code = code
        self.message = message
        self.is_about_account = is_about_account
        self.is_gone = is_gone
        super().__init__(f"The marketplace refused ({code}): {message}")
