"""Define and check the sizes of a network, as config.json stores them.

This file imports no torch, so that web pages can check a checkpoint. A family with more sizes has a subclass in its own
file; the sizes here are checked for all families.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from generation.errors import CheckpointRefused

FORMAT_VERSION = 1
WHOLE_SIZES = ("vocabulary_size", "width", "heads", "layers", "feed_forward", "max_tokens")


@dataclass(frozen=True)
class NetworkConfig:
    """The defaults are those of the MEED2 paper (appendix B)."""

    kind: str
    vocabulary_size: int
    width: int = 300
    heads: int = 6
    layers: int = 4  # of the encoder, of the decoder, and of other encoders in the same checkpoint
    feed_forward: int = 1200
    max_tokens: int = 100  # of a context, and also of a reply
    dropout: float = 0.1

    def __post_init__(self) -> None:
        for reason in self._problems():
            raise CheckpointRefused(f"A network cannot have this config: {reason}.")

    def as_json(self, labels: Sequence[str]) -> dict[str, Any]:
        return {"format_version": FORMAT_VERSION, **asdict(self), "labels": list(labels)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        names = {field.name for field in fields(cls)}
        if names - values.keys():
            raise CheckpointRefused(f"config.json lacks {', '.join(sorted(names - values.keys()))}.")
        return cls(**{name: values[name] for name in names})

    def _problems(self) -> list[str]:
        problems = []
        for name in WHOLE_SIZES:
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                problems.append(f"{name} is {size!r}, not a whole number above 0")
        if not problems and self.width % self.heads:
            problems.append(f"width {self.width} is not a multiple of {self.heads} heads")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout!r}, not between 0 and 1")
        return problems
