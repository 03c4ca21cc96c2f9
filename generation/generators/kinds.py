"""Define what a kind of generator is: three functions, `check`, `load` and `answer`.

generation/registry.py lists the kinds; CONTRIBUTING.md shows how to add one. Web pages check settings with this file
and with the kinds' own, so neither imports torch before `load`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from generation.contexts import Answer, Context, Reply
from generation.errors import SettingsRefused


class GeneratorKind(Protocol):
    """An instance is a loaded generator."""

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings with their defaults, or raise SettingsRefused or CheckpointRefused. This must be quick
        and must not import torch."""
        ...

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        """Load the checkpoint. `settings` are those that `check` returned; `device` is "cpu", "cuda" or "cuda:1"."""
        ...

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        """Return one reply for each context. The same seed and context give the same reply in any batch."""
        ...


class AnswersEach(Protocol):
    """A kind may have this method, too. Its replies then arrive and are saved one by one. Kinds that ask a server have
    it: an error concerns one dialog only, and no reply that has cost money is lost."""

    def answer_each(
        self, questions: Iterator[tuple[Context, int]], at_once: int
    ) -> Iterator[tuple[int, Answer] | None]:
        """Yield (number, answer) as soon as a question is answered; questions are numbered in the order in which they
        are taken. Yield None now and then while waiting. An error that concerns all questions is raised only after
        the answers that were on their way have been yielded."""
        ...


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CommonSettings(Settings):
    """Settings that every generator has. They are handled outside of its kind."""

    batch_size: int = Field(8, ge=1, le=10_000)  # dialogs at once; halved when memory runs out
    forced_label: str = ""  # the emotion or intent of every reply, for kinds that obey one


def checked_settings(model: type[Settings], settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with their defaults, or raise SettingsRefused with one line."""
    try:
        return model.model_validate(settings).model_dump()
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(part) for part in problem["loc"])
        if not name:  # several settings do not go together
            words = problem["msg"].removeprefix("Value error, ")
            raise SettingsRefused(f"{words[:1].upper()}{words[1:]}.") from None
        if problem["type"] == "extra_forbidden":
            raise SettingsRefused(f"There is no setting {name!r}; there are {', '.join(model.model_fields)}.") from None
        raise SettingsRefused(f"The setting {name!r} can't be {problem['input']!r}: {problem['msg']}.") from None
