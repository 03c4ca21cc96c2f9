"""A kind of generator without a network. A gold's words are likely by 1/4 each, and its end by 1/2."""

import math
from collections.abc import Sequence
from typing import Any, Self

from generation.contexts import Context, Reply
from generation.errors import CheckpointRefused


class ToyGenerator:
    NEEDS_DEVICE = False

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        return settings

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        if checkpoint == "gone":
            raise CheckpointRefused("There is no folder gone.")
        return cls()

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        return [Reply("Oh.", label="sad") for _ in contexts]

    def score_gold(self, contexts: Sequence[Context], golds: Sequence[str]) -> list[tuple[float, int]]:
        counts = [len(gold.split()) for gold in golds]
        return [(count * math.log(1 / 4) + math.log(1 / 2), count + 1) for count in counts]

    @classmethod
    def can_rank_emotions(cls, checkpoint: str) -> bool:
        return True

    def rank_emotions(self, contexts: Sequence[Context]) -> list[list[str]]:
        return [["neutral", "sad", "proud", "lonely", "questioning", "joyful"] for _ in contexts]
