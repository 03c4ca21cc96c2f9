"""A kind of generator for the tests that does what a dialog's last turn tells it to. Importing it makes it known."""

import time
from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field

from generation.contexts import Context, Reply
from generation.errors import CheckpointRefused, GeneratorUnavailable
from generation.generators.kinds import Settings, checked_settings
from generation.registry import KINDS

KINDS["scripted"] = "tests.scripted_generator:ScriptedGenerator"


class ScriptedSettings(Settings):
    seconds: float = Field(0, ge=0)  # that a reply takes
    fits: int = 1000  # dialogs at once, before memory runs out
    word: str = "said"
    has_torch: bool = False  # which says in its own way that memory ran out


class ScriptedGenerator:
    NEEDS_DEVICE = False

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._asked: set[str] = set()

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        if checkpoint == "broken":
            raise CheckpointRefused("The checkpoint is broken.")
        return checked_settings(ScriptedSettings, settings)

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        return cls(settings)

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        if len(contexts) > self._settings["fits"]:
            self._run_out_of_memory()
        return [self._reply(context, seed) for context, seed in zip(contexts, seeds, strict=True)]

    def _run_out_of_memory(self) -> None:
        if self._settings["has_torch"]:
            import torch

            torch.empty(2**60)
        raise MemoryError

    def _reply(self, context: Context, seed: int) -> Reply:
        time.sleep(self._settings["seconds"])
        turn = context.turns[-1]
        is_first = turn not in self._asked
        self._asked.add(turn)
        if turn.startswith("break"):
            raise ValueError("a bug")
        if turn.startswith("be away"):
            raise GeneratorUnavailable("The server does not answer.")
        if turn.startswith("be empty once") and not is_first:
            return Reply("Here I am.")
        texts = {"be empty": " ", "be bytes": "a\ufffd", "be controls": "a\x07"}
        for command, text in texts.items():
            if turn.startswith(command):
                return Reply(text)
        if turn.startswith("be unstorable"):
            return Reply("So sad.", label="half \ud800", turns_cut=2**70)
        if turn.startswith("be endless"):
            return Reply("", failure="endless")
        text = f"You {self._settings['word']} {turn} ({seed})"
        return Reply(text, label="acknowledging", score=-0.5, turns_cut=max(0, len(context.turns) - 3))
