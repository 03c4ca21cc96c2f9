"""Measure how well a network predicts the validation data: loss, perplexities and accuracy.

    perplexity = exp(mean of -log P(token))

The papers take the mean over each reply's tokens and then over replies (macro); others take it over all tokens at once
(token-weighted). Both are reported, each by its name.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from generation.training.objective import Objective
from generation.training.options import TrainingSettings
from generation.training.ordering import validation_batches
from generation.training.world import World

TOP = (1, 2, 5)  # the papers report how often the true emotion is among so many of the most likely ones


@dataclass(frozen=True)
class Validation:
    loss: float  # mean -log P over all tokens; training minimises it, and it decides which checkpoint is best
    macro_loss: float  # mean over examples of each example's mean -log P
    others: Mapping[str, tuple[float, float]]  # both losses under other conditions, by their names
    accuracies: Mapping[int, float]  # how often the true label is among the most likely 1, 2, 5; {} without labels

    def as_json(self) -> dict[str, Any]:
        values = {
            "validation_loss": self.loss,
            "perplexity_macro": _exp(self.macro_loss),
            "perplexity_token_weighted": _exp(self.loss),
        }
        for name, (loss, macro_loss) in self.others.items():
            values[f"perplexity_macro_{name}"] = _exp(macro_loss)
            values[f"perplexity_token_weighted_{name}"] = _exp(loss)
        return values | {"accuracy" if top == 1 else f"accuracy_top_{top}": n for top, n in self.accuracies.items()}


def validate(
    objective: Objective, network: nn.Module, world: World, settings: TrainingSettings, autocast: Callable[[], Any]
) -> Validation:
    examples = objective.validation
    batches = validation_batches(examples.sort_keys, max(1, settings.batch_size // settings.accumulate // world.size))
    target_count = example_count = labelled = 0.0
    summed: dict[str, list[float]] = {}  # of losses by their names: the sum, and that of each example's mean
    correct = [0.0] * len(TOP)
    plain: nn.Module = getattr(network, "module", network)  # without DistributedDataParallel: no gradients to exchange
    plain.eval()
    with torch.inference_mode(), autocast():
        for batch in batches[world.rank :: world.size]:
            scored = objective.score(plain, examples.batch(batch, world.device))
            counts = torch.from_numpy(examples.target_counts[batch]).double()
            target_count += float(counts.sum())
            for name, given in ({"": scored.losses} | dict(scored.others)).items():
                losses, sums = given.double().cpu(), summed.setdefault(name, [0.0, 0.0])
                summed[name] = [sums[0] + float(losses.sum()), sums[1] + float((losses / counts).sum())]
            example_count += len(batch)
            if scored.ranks is not None:
                ranks = scored.ranks[scored.ranks > 0]
                labelled += len(ranks)
                correct = [sum_ + float((ranks <= top).sum()) for sum_, top in zip(correct, TOP, strict=True)]
    target_count, example_count, labelled, *correct = world.sum([target_count, example_count, labelled, *correct])
    means: dict[str, tuple[float, float]] = {}
    for name, sums in summed.items():
        loss_sum, macro_sum = world.sum(sums)
        means[name] = loss_sum / target_count, macro_sum / example_count
    accuracies = {top: sum_ / labelled for top, sum_ in zip(TOP, correct, strict=True)} if labelled else {}
    return Validation(*means.pop(""), means, accuracies)


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf
