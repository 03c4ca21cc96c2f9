"""What a kind of generator is: three functions. generation/registry.py lists the kinds, docs/generating.md shows how to
add one. Nothing here imports torch, nor does a kind's module before `load`: pages check settings with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalplatform.errors import EvalPlatformError


class CheckpointRefused(EvalPlatformError):
    """The checkpoint is missing, broken, truncated, or of another kind."""


class SettingsRefused(EvalPlatformError):
    """A setting is unknown or out of range for this kind."""


class GeneratorUnavailable(EvalPlatformError):
    """It can't answer now, but may later: a server that is down. It is tried again."""


@dataclass(frozen=True)
class Context:
    """What a generator may know of a dialog."""

    turns: tuple[str, ...]  # oldest first; speaker 1 begins
    turn_labels: tuple[str, ...] = ()  # one of the 41 labels a turn, or () when unknown
    gold: str = ""  # for `reference` only
    forced_label: str = ""  # the reply should have this emotion or intent


@dataclass(frozen=True)
class Reply:
    text: str  # "" with a failure
    label: str = ""  # predicted (or forced) emotion or intent
    score: float | None = None  # what the kind calls score: log-probability / length^penalty, for instance
    turns_cut: int = 0  # oldest turns that the model could not take
    failure: str = ""  # why there is no text: "empty", "endless", "not text", or a sentence
    thoughts: str = ""  # of a reasoning model; kept, and never shown to workers


Answer = Reply | Exception  # GeneratorUnavailable: the server did not answer this one


def first_line(error: Exception) -> str:
    """What a library says of its error, or at least what it calls it."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class GeneratorKind(Protocol):
    """An instance is a loaded generator."""

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings with defaults filled in, or SettingsRefused or CheckpointRefused. Cheap, without torch."""
        ...

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        """`settings` are those that `check` returned; `device` is "cpu", "cuda" or "cuda:1"."""
        ...

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        """One seed and one reply a context; the same seed and context give the same reply whatever the batch."""
        ...


class AnswersEach(Protocol):
    """A kind that has this method, too, is asked so: its replies come, and are saved, one by one. Servers are asked
    this way, because an error is then about one dialog, and what others cost is not lost."""

    def answer_each(
        self, questions: Iterator[tuple[Context, int]], at_once: int
    ) -> Iterator[tuple[int, Answer] | None]:
        """The number of each question, in the order in which they were taken from `questions`, with its answer, as
        soon as there is one; now and then None while all is waiting. What is wrong for all is raised, though only
        after the answers that were under way."""
        ...


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CommonSettings(Settings):
    """What every generator has besides the settings of its kind, which never sees these."""

    batch_size: int = Field(8, ge=1, le=10_000)  # dialogs at once; halved when memory runs out
    forced_label: str = ""  # the emotion or intent of every reply, for kinds that obey one


def checked_settings(model: type[Settings], settings: dict[str, Any]) -> dict[str, Any]:
    """With defaults filled in; what is wrong in one line."""
    try:
        return model.model_validate(settings).model_dump()
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(part) for part in problem["loc"])
        if not name:  # of settings that do not go together
            words = problem["msg"].removeprefix("Value error, ")
            raise SettingsRefused(f"{words[:1].upper()}{words[1:]}.") from None
        if problem["type"] == "extra_forbidden":
            raise SettingsRefused(f"There is no setting {name!r}; there are {', '.join(model.model_fields)}.") from None
        raise SettingsRefused(f"The setting {name!r} can't be {problem['input']!r}: {problem['msg']}.") from None
