"""Define the options of a training run, with their defaults and checks.

Defaults are the MEED2 paper's, where it names them (appendix B).
"""

from dataclasses import asdict, dataclass, fields
from typing import Any

from generation.errors import TrainingRefused

PRECISIONS = ("auto", "fp32", "bf16", "fp16")


@dataclass(frozen=True)
class TrainingSettings:
    learning_rate: float = 5e-5
    warmup_steps: int = 0  # the learning rate rises over so many steps and then stays
    batch_size: int = 512  # examples in a step, over all processes
    accumulate: int = 1  # how many parts a batch is computed in, if memory is short
    clip: float = 0.0  # the largest norm that a gradient may have; 0: any
    precision: str = "auto"
    seed: int = 0
    # The other options decide when a run stops, validates and saves. They may change when a run is resumed.
    max_epochs: int = 100
    max_steps: int = 0  # 0: no limit
    max_minutes: float = 0.0
    max_cpu_minutes: float = 0.0  # of this process, validations included
    validate_every: int = 0  # steps; 0: at the end of each epoch
    save_every: int = 500  # steps; a run that is killed loses so many at most
    patience: int = 3  # validations without a lower loss before stopping early; 0: never

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name not in ("precision", "seed", "learning_rate") and getattr(self, field.name) < 0:
                raise TrainingRefused(f"{_option_name(field.name)} can't be below 0.")
        for name in ("learning_rate", "batch_size", "accumulate", "max_epochs", "save_every"):
            if getattr(self, name) <= 0:
                raise TrainingRefused(f"{_option_name(name)} must be above 0.")
        if self.precision not in PRECISIONS:
            raise TrainingRefused(f"--precision is one of {', '.join(PRECISIONS)}.")

    def is_time_up(self, seconds: float, cpu_seconds: float) -> bool:
        """Return whether a limit of time has passed."""
        return 0 < self.max_minutes * 60 < seconds or 0 < self.max_cpu_minutes * 60 < cpu_seconds

    def identity(self) -> dict[str, Any]:
        """Return the options that must not change when a run is resumed, because they change its numbers."""
        names = ("learning_rate", "warmup_steps", "batch_size", "accumulate", "clip", "seed")
        return {name: value for name, value in asdict(self).items() if name in names}


def _option_name(name: str) -> str:
    return f"--{name.replace('_', '-')}"
