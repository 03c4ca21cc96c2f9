"""Define what a network is trained to do: network, examples, loss, optimisers. The training loop knows nothing else.

An objective of one network with one loss needs no more than the first five fields. One with several optimisers, a
schedule of its own, or alternating losses overrides `optimisers` and `plan_step`. Both may depend on the settings and
the number of the step only, so that a run that was killed resumes with the same numbers. One that is not judged by its
validation loss has another `goal`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.training.options import TrainingSettings
from generation.training.ordering import Indices

if TYPE_CHECKING:
    from generation.training.validating import Validation

IGNORED = -100  # a target that no loss counts
ADAM = {"betas": (0.9, 0.98), "eps": 1e-6, "fused": True}  # fused means one pass over weights, gradients and averages
MAIN = "optimizer"  # the name of the only optimiser, in a run's state

Batch = dict[str, Tensor]


class Examples(Protocol):
    """Training examples. Sorting by `sort_keys` puts examples of similar length side by side; `target_counts` are the
    numbers of tokens that the loss counts."""

    sort_keys: npt.NDArray[np.int64]
    target_counts: npt.NDArray[np.int64]

    def __len__(self) -> int: ...
    def batch(self, indices: Indices, device: torch.device) -> Batch: ...
    def fingerprint(self) -> str: ...


@dataclass(frozen=True)
class Scored:
    """What is known of each example of a batch, [B] each."""

    losses: Tensor  # -log P, summed over the example's targets
    ranks: Tensor | None = None  # of its true label among the predicted ones, from 1; 0 if the true one is unknown
    minimised: Tensor | None = None  # what training minimises, where that is not `losses`
    others: Mapping[str, Tensor] = field(default_factory=dict)  # `losses` under other conditions, by their names


Score = Callable[[nn.Module, Batch], Scored]


@dataclass(frozen=True)
class Update:
    """One update of weights: the loss that it minimises, the optimiser that it uses, and the learning rate."""

    score: Score
    optimiser: str
    learning_rate: float
    is_mean_over_examples: bool = False  # minimise the mean over a batch's examples, not over their targets


@dataclass(frozen=True)
class Goal:
    """What makes a checkpoint the best one: the lowest `value` of its validation. `words` complete "no ..."."""

    words: str
    value: Callable[["Validation"], float]


LOWEST_LOSS = Goal("lower validation loss", lambda found: found.loss)


@dataclass(frozen=True)
class Objective:
    network: nn.Module
    training: Examples
    validation: Examples
    score: Score
    save: Callable[[], None]  # write the network, as it is now, as a checkpoint
    identity: dict[str, Any] = field(default_factory=dict)  # what must not change when a run is resumed
    finish: Callable[[], None] = lambda: None  # called once when the run has stopped
    training_score: Score | None = None  # of the steps, if it is not the one of validation
    goal: Goal = LOWEST_LOSS
    first_validation: int = 0  # before this step, nothing is validated and no checkpoint is saved

    def optimisers(self, settings: TrainingSettings) -> Mapping[str, torch.optim.Optimizer]:
        """Return the optimisers by name. Each parameter belongs to one of them at most."""
        rate = settings.learning_rate
        return {MAIN: torch.optim.Adam(self.network.parameters(), lr=rate, **ADAM)}  # type: ignore[arg-type]

    def plan_step(self, step: int, settings: TrainingSettings) -> Sequence[Update]:
        """Return the updates that step number `step` (from 0) makes with its batch, one after the other. Here it is one
        of always the same loss, at a learning rate that rises over the warm-up steps and then stays."""
        warmth = min(1.0, (step + 1) / max(1, settings.warmup_steps))
        return [Update(self.score, MAIN, settings.learning_rate * warmth)]


def score_tokens(logits: Tensor, targets: Tensor) -> Scored:
    """Return -log P of each example's targets: logits [B, T, vocabulary] and targets [B, T] -> losses [B]."""
    losses = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none")
    return Scored(losses.view_as(targets).sum(dim=1))


def score_labels(logits: Tensor, labels: Tensor) -> Scored:
    """Return -log P of each example's label: logits [B, labels] and labels [B] -> losses [B]."""
    losses = F.cross_entropy(logits.float(), labels, reduction="none")
    return Scored(losses, rank_labels(logits, labels))


def rank_labels(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the rank of each true label, from 1; of equal logits the first comes first. It is 0 where the label is
    IGNORED. [B, labels] and [B] -> [B]

    >>> rank_labels(torch.tensor([[.2, .5, .3], [.4, .4, .4], [0, 0, 0]]), torch.tensor([2, 1, IGNORED]))
    tensor([2, 2, 0])
    """
    true = labels.clamp_min(0)[:, None]
    own = logits.gather(1, true)
    comes_first = torch.arange(logits.shape[1], device=logits.device) < true
    ranks = 1 + (logits > own).sum(dim=1) + ((logits == own) & comes_first).sum(dim=1)
    return ranks * (labels != IGNORED)
