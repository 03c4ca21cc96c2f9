"""Measure how well a network predicts the validation data: loss, perplexities and accuracy.

    perplexity = exp(mean of -log P(token))

The papers take the mean over each reply's tokens and then over replies (macro); others take it over all tokens at once
(token-weighted). Both are reported, each by its name.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from generation.training.objective import Objective
from generation.training.options import TrainingSettings
from generation.training.ordering import validation_batches
from generation.training.world import World


@dataclass(frozen=True)
class Validation:
    loss: float  # mean -log P over all tokens; training minimises it, and it decides which checkpoint is best
    macro_loss: float  # mean over examples of each example's mean -log P
    accuracy: float | None  # of labels; None if the network predicts none

    def as_json(self) -> dict[str, Any]:
        values = {
            "validation_loss": self.loss,
            "perplexity_macro": _exp(self.macro_loss),
            "perplexity_token_weighted": _exp(self.loss),
        }
        return values if self.accuracy is None else {**values, "accuracy": self.accuracy}


def validate(
    objective: Objective, network: nn.Module, world: World, settings: TrainingSettings, autocast: Callable[[], Any]
) -> Validation:
    examples = objective.validation
    batches = validation_batches(examples.sort_keys, max(1, settings.batch_size // settings.accumulate // world.size))
    loss_sum = target_count = macro_sum = example_count = correct = 0.0
    has_labels = False
    plain: nn.Module = getattr(network, "module", network)  # without DistributedDataParallel: no gradients to exchange
    plain.eval()
    with torch.inference_mode(), autocast():
        for batch in batches[world.rank :: world.size]:
            scored = objective.score(plain, examples.batch(batch, world.device))
            losses = scored.losses.double().cpu()
            counts = torch.from_numpy(examples.target_counts[batch]).double()
            loss_sum += float(losses.sum())
            target_count += float(counts.sum())
            macro_sum += float((losses / counts).sum())
            example_count += len(batch)
            if scored.correct is not None:
                has_labels = True
                correct += float(scored.correct.sum())
    sums = world.sum([loss_sum, target_count, macro_sum, example_count, correct, has_labels])
    loss_sum, target_count, macro_sum, example_count, correct, labelled = sums
    accuracy = correct / example_count if labelled else None
    return Validation(loss_sum / target_count, macro_sum / example_count, accuracy)


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf
