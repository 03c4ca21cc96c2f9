"""What a network is trained to do: say the reply's tokens, or name the right label. All the loop knows of a network."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.training.examples import IGNORED, Batch
from generation.training.ordering import Indices


class Examples(Protocol):
    """`sort_keys` puts examples of like length side by side; `target_counts` are the tokens that the loss counts."""

    sort_keys: npt.NDArray[np.int64]
    target_counts: npt.NDArray[np.int64]

    def __len__(self) -> int: ...
    def batch(self, indices: Indices, device: torch.device) -> Batch: ...
    def fingerprint(self) -> str: ...


@dataclass(frozen=True)
class Scored:
    """[B] each: negative log-likelihood summed over an example's targets, and whether its label was the first guess."""

    losses: Tensor
    correct: Tensor | None = None


@dataclass(frozen=True)
class Objective:
    network: nn.Module
    training: Examples
    validation: Examples
    score: Callable[[nn.Module, Batch], Scored]
    save: Callable[[], None]  # the network, as it is now, as a checkpoint


def score_transformer(network: nn.Module, batch: Batch) -> Scored:
    names = ("source_ids", "source_segments", "target_ids", "target_segments")
    return _score_tokens(network(*(batch[name] for name in names)), batch["targets"])


def score_meed2(network: nn.Module, batch: Batch) -> Scored:
    """With the true label of the reply, as the paper trains it."""
    names = ("source_ids", "source_segments", "target_ids", "target_segments", "source_labels", "response_labels")
    return _score_tokens(network(*(batch[name] for name in names)), batch["targets"])


def score_predictor(network: nn.Module, batch: Batch) -> Scored:
    names = ("source_ids", "source_segments", "source_labels")
    return _score_labels(network(*(batch[name] for name in names)), batch["response_labels"])


def score_classifier(network: nn.Module, batch: Batch) -> Scored:
    logits = network(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    return _score_labels(logits, batch["labels"])


def _score_tokens(logits: Tensor, targets: Tensor) -> Scored:
    """[B, T, vocabulary] and [B, T]"""
    losses = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none")
    return Scored(losses.view_as(targets).sum(dim=1))


def _score_labels(logits: Tensor, labels: Tensor) -> Scored:
    """[B, 41] and [B]"""
    losses = F.cross_entropy(logits.float(), labels, reduction="none")
    return Scored(losses, logits.argmax(dim=-1) == labels)
