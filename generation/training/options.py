"""The options of a training run. The defaults are those of the MEED2 paper, as far as it says (appendix B)."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from generation.errors import TrainingRefused

PRECISIONS = ("auto", "fp32", "bf16", "fp16")


@dataclass(frozen=True)
class TrainingSettings:
    learning_rate: float = 5e-5
    warmup_steps: int = 0  # the rate rises over so many steps and then stays
    batch_size: int = 512  # examples a step, over all processes
    accumulate: int = 1  # parts that a batch is computed in, where memory is short
    clip: float = 0.0  # largest norm of a gradient; 0: any
    precision: str = "auto"
    seed: int = 0
    # The rest decides when a run stops, validates and saves, and may change when the run is resumed.
    max_epochs: int = 100
    max_steps: int = 0  # 0: no limit
    max_minutes: float = 0.0
    validate_every: int = 0  # steps; 0: at the end of each epoch
    save_every: int = 500  # steps; what is lost at most when a run is killed
    patience: int = 3  # validations without a lower loss before stopping early; 0: never

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name not in ("precision", "seed", "learning_rate") and getattr(self, field.name) < 0:
                raise TrainingRefused(f"{_option(field.name)} can't be below 0.")
        for name in ("learning_rate", "batch_size", "accumulate", "max_epochs", "save_every"):
            if getattr(self, name) <= 0:
                raise TrainingRefused(f"{_option(name)} must be above 0.")
        if self.precision not in PRECISIONS:
            raise TrainingRefused(f"--precision is one of {', '.join(PRECISIONS)}.")

    def identity(self) -> dict[str, Any]:
        """What must not change when a run is resumed: its numbers would be another run's."""
        names = ("learning_rate", "warmup_steps", "batch_size", "accumulate", "clip", "seed")
        return {name: value for name, value in asdict(self).items() if name in names}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
