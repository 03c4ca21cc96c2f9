"""What a network is trained to do: all that the loop knows of it.

An objective of one network with one loss needs no more than the first five fields. One with several optimisers, a
schedule of its own, or phases in which different losses take turns, overrides `optimisers` and `turn`. Both depend on
the settings and the number of the step only, so that a run that was killed resumes with the same numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.training.options import TrainingSettings
from generation.training.ordering import Indices

IGNORED = -100  # a target that no loss counts
ADAM = {"betas": (0.9, 0.98), "eps": 1e-6, "fused": True}  # fused: one pass over weights, gradients and averages
MAIN = "optimizer"  # the name of the only optimiser, in a run's state

Batch = dict[str, Tensor]


class Examples(Protocol):
    """`sort_keys` puts examples of similar length side by side; `target_counts` are the tokens that the loss counts."""

    sort_keys: npt.NDArray[np.int64]
    target_counts: npt.NDArray[np.int64]

    def __len__(self) -> int: ...
    def batch(self, indices: Indices, device: torch.device) -> Batch: ...
    def fingerprint(self) -> str: ...


@dataclass(frozen=True)
class Scored:
    """[B] each: an example's loss, summed over its targets, and whether its label was the first guess."""

    losses: Tensor
    correct: Tensor | None = None


Score = Callable[[nn.Module, Batch], Scored]


@dataclass(frozen=True)
class Turn:
    """What one step minimises, which optimiser moves, and how fast."""

    score: Score
    optimiser: str
    learning_rate: float


@dataclass(frozen=True)
class Objective:
    network: nn.Module
    training: Examples
    validation: Examples
    score: Score
    save: Callable[[], None]  # write the network, as it is now, as a checkpoint
    identity: dict[str, Any] = field(default_factory=dict)  # what must not change when a run is resumed
    finish: Callable[[], None] = lambda: None  # called once when the run has stopped

    def optimisers(self, settings: TrainingSettings) -> Mapping[str, torch.optim.Optimizer]:
        """Return the optimisers by name. Each parameter belongs to one of them at most."""
        rate = settings.learning_rate
        return {MAIN: torch.optim.Adam(self.network.parameters(), lr=rate, **ADAM)}  # type: ignore[arg-type]

    def turn(self, step: int, settings: TrainingSettings) -> Turn:
        """Return what step number `step` (from 0) does: here, one loss at a rate that rises and then stays."""
        warmth = min(1.0, (step + 1) / max(1, settings.warmup_steps))
        return Turn(self.score, MAIN, settings.learning_rate * warmth)


def score_tokens(logits: Tensor, targets: Tensor) -> Scored:
    """The negative log-likelihood of the targets: [B, T, vocabulary] and [B, T]."""
    losses = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none")
    return Scored(losses.view_as(targets).sum(dim=1))


def score_labels(logits: Tensor, labels: Tensor) -> Scored:
    """The negative log-likelihood of the labels: [B, labels] and [B]."""
    losses = F.cross_entropy(logits.float(), labels, reduction="none")
    return Scored(losses, logits.argmax(dim=-1) == labels)
