"""The sizes of a network, as config.json has them. Without torch, so that a page can check a checkpoint."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from generation.generators.base import CheckpointRefused
from generation.networks.labels import LABELS

FORMAT_VERSION = 1
TRANSFORMER = "transformer"
MEED2 = "meed2"
KINDS = (TRANSFORMER, MEED2)


@dataclass(frozen=True)
class NetworkConfig:
    """The defaults are the paper's (appendix B)."""

    kind: str
    vocabulary_size: int
    width: int = 300
    heads: int = 6
    layers: int = 4  # of the encoder, of the decoder, and of the response predictor
    feed_forward: int = 1200
    max_tokens: int = 100  # of a context, and of a reply
    dropout: float = 0.1

    def __post_init__(self) -> None:
        for reason in self._problems():
            raise CheckpointRefused(f"A network cannot have this config: {reason}.")

    @property
    def has_labels(self) -> bool:
        return self.kind == MEED2

    def as_json(self) -> dict[str, Any]:
        return {"format_version": FORMAT_VERSION, **asdict(self), "labels": list(LABELS)}

    @classmethod
    def from_json(cls, values: Any) -> Self:
        if not isinstance(values, dict) or values.get("format_version") != FORMAT_VERSION:
            raise CheckpointRefused(f"config.json is not of format {FORMAT_VERSION}; train or convert the model again.")
        if values.get("labels") != list(LABELS):
            raise CheckpointRefused(
                "config.json has other labels than the 41 that this software knows, in their order."
            )
        names = {field.name for field in fields(cls)}
        if names - values.keys():
            raise CheckpointRefused(f"config.json lacks {', '.join(sorted(names - values.keys()))}.")
        return cls(**{name: values[name] for name in names})

    def _problems(self) -> list[str]:
        problems = [] if self.kind in KINDS else [f"its kind is {self.kind!r}, not one of {', '.join(KINDS)}"]
        for name in ("vocabulary_size", "width", "heads", "layers", "feed_forward", "max_tokens"):
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                problems.append(f"{name} is {size!r}, not a whole number above 0")
        if not problems and self.width % self.heads:
            problems.append(f"width {self.width} is not a multiple of {self.heads} heads")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout!r}, not between 0 and 1")
        return problems
