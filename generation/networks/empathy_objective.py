"""Say what TRS, Multi-TR, MoEL, MIME and EmpDG minimise, and at which learning rate.

    loss of an example = sum over its words of KL(smoothed target || prediction)  +  weight * -log P(emotion)

The papers add both for each example. Their published code takes the mean of the second over the batch, and so gives it
a sixteenth of its weight; we follow the papers. A step's gradient is that of the mean over the examples of its batch.
What is reported, in training as in validation, is the plain -log P of the words.
"""

import math
from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.networks.empathy_words import PAD
from generation.training.objective import ADAM, IGNORED, MAIN, Objective, Scored, Update, rank_labels
from generation.training.options import TrainingSettings

SMOOTHING = 0.1


class EmpathyObjective(Objective):
    """Trains at the rate of Vaswani et al. 2017. For width 300 and 8,000 steps of warm-up,

        rate(n) = 300^-.5 * min(n^-.5, n * 8000^-1.5),  n = 1, 2, ...

    rises to 6.4550e-4 in step 8,000 and then falls; `learning_rate` is that highest rate.
    """

    def optimisers(self, settings: TrainingSettings) -> Mapping[str, torch.optim.Optimizer]:
        return {MAIN: self.adam(self.network, settings)}

    def adam(self, network: nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
        options = ADAM | {"eps": 1e-9}
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        return torch.optim.Adam(trained, lr=settings.learning_rate, **options)  # type: ignore[arg-type]

    def plan_step(self, step: int, settings: TrainingSettings) -> Sequence[Update]:
        rate = warm_rate(step, settings)
        return [Update(self.training_score or self.score, MAIN, rate, is_mean_over_examples=True)]


def warm_rate(step: int, settings: TrainingSettings) -> float:
    """Return the rate of step number `step`, from 0.

    >>> pace = TrainingSettings(learning_rate=(300 * 8000) ** -0.5, warmup_steps=8000)
    >>> [f"{warm_rate(n - 1, pace):.4e}" for n in (1, 4000, 8000, 32000)]
    ['8.0687e-08', '3.2275e-04', '6.4550e-04', '3.2275e-04']
    """
    count, warmup = step + 1, max(1, settings.warmup_steps)
    return settings.learning_rate * min(math.sqrt(warmup / count), count / warmup)


def score_reply(
    log_probabilities: Tensor, targets: Tensor, emotion_logits: Tensor | None = None, emotions: Tensor | None = None,
    emotion_weight: float = 1.0,
) -> Scored:  # fmt: skip
    """Score words [B, T, V] against targets [B, T] and, if given, emotions [B, 32] against [B]."""
    losses = word_losses(log_probabilities, targets)
    minimised = smoothed_losses(log_probabilities, targets)
    ranks = None
    if emotion_logits is not None and emotions is not None:
        missed = F.cross_entropy(emotion_logits.float(), emotions, ignore_index=IGNORED, reduction="none")
        minimised = minimised + emotion_weight * missed
        ranks = rank_labels(emotion_logits, emotions)
    return Scored(losses, ranks=ranks, minimised=minimised)


def word_losses(log_probabilities: Tensor, targets: Tensor) -> Tensor:
    """Return -log P of each example's words: [B, T, V] and [B, T] -> [B]."""
    flat = F.nll_loss(log_probabilities.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none")
    return flat.view_as(targets).sum(dim=1)


def smoothed_losses(log_probabilities: Tensor, targets: Tensor) -> Tensor:
    """Return each example's KL divergence from smoothed targets, summed over its words: [B, T, V] and [B, T] -> [B].

    A target t is .9 for its word and .1 / (V - 2) for every other word but PAD, and KL = sum of t (log t - log P).

    >>> smoothed_losses(torch.full((1, 1, 10), .1).log(), torch.tensor([[4]]))
    tensor([1.7696])
    """
    rest = SMOOTHING / (log_probabilities.shape[2] - 2)
    entropy = (1 - SMOOTHING) * torch.tensor(1 - SMOOTHING).log() + SMOOTHING * torch.tensor(rest).log()
    is_word = targets != IGNORED
    right = log_probabilities.gather(2, targets.clamp_min(0)[:, :, None])[:, :, 0]
    others = log_probabilities.sum(dim=2) - right - log_probabilities[:, :, PAD]
    divergences = entropy.to(right) - (1 - SMOOTHING) * right - rest * others
    return (divergences * is_word).sum(dim=1)
