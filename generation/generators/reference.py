"""`reference`: answer with the human reply of each dialog, so that a study can rate it like a model's."""

from collections.abc import Sequence
from typing import Any, Self

from generation.contexts import Context, Reply
from generation.errors import CheckpointRefused
from generation.generators.kinds import Settings, checked_settings


class ReferenceGenerator:
    NEEDS_DEVICE = False

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        if checkpoint:
            raise CheckpointRefused("The kind `reference` has no checkpoint: the human replies are in the dialogs.")
        return checked_settings(Settings, settings)

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        return cls()

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        return [
            Reply(context.gold) if context.gold else Reply("", failure="the dialog has no human reply")
            for context in contexts
        ]
