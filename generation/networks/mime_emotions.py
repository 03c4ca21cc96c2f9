"""The emotions that MIME answers with: a mixture of the positive ones and a mixture of the negative ones.

    P = softmax(E W c)                      how likely each of the 32 emotions is, from the context's vector c
    z = mean + deviation * r                for each group g; r is noise, mean and deviation depend on c
    d = softmax(FC z),  e = d E_g           e is the group's emotion, a mixture of the rows of E that belong to it

In training, z comes from a posterior, which is also told the mixture that P makes of the group. The loss of a group is
the evidence lower bound's (equation 16 of the MIME paper),

    KL(posterior || prior) - sum over the group's emotions of P(emotion | group) log d(emotion)

The paper leaves open what its second term, log P(e | z, C), is; the cross entropy is our reading. P is taken as given
in both places, so that only the emotions of the data teach it. Shapes: B dialogs, G groups, N emotions of a group, W
width.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.emotions import MOEL_EMOTIONS

POSITIVE = frozenset(
    """confident joyful grateful impressed proud excited trusting hopeful faithful prepared content surprised
    caring""".split()
)


@dataclass(frozen=True)
class Normal:
    """Independent normal distributions, [B, W] of them."""

    mean: Tensor
    log_variance: Tensor

    def draw(self, noise: Tensor) -> Tensor:
        return self.mean + noise * (0.5 * self.log_variance).exp()

    def divergence_from(self, other: "Normal") -> Tensor:
        """Return KL(self || other), summed over W: [B].

        >>> one, zero = torch.ones(1, 300), torch.zeros(1, 300)
        >>> Normal(one, zero).divergence_from(Normal(zero, zero))
        tensor([150.])
        """
        distance = (self.mean - other.mean).square() / other.log_variance.exp()
        log_ratio = self.log_variance - other.log_variance
        return 0.5 * (log_ratio.exp() + distance - 1 - log_ratio).sum(dim=1)


class LatentNormal(nn.Module):
    """A normal distribution of which mean and log-variance are computed from a hidden vector."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mean = nn.Linear(width, width)
        self.log_variance = nn.Linear(width, width)

    def forward(self, hidden: Tensor) -> Normal:
        return Normal(self.mean(hidden), self.log_variance(hidden))


class EmotionGroup(nn.Module):
    """A group of emotions, and how its mixture is drawn. Without stochasticity it is computed from the prior's mean."""

    members: Tensor  # [N]

    def __init__(self, width: int, members: list[int], is_stochastic: bool) -> None:
        super().__init__()
        self.register_buffer("members", torch.tensor(members), persistent=False)
        self.choice = nn.Linear(width, len(members))
        if is_stochastic:
            self.prior: nn.Module = LatentNormal(width)
            self.posterior_hidden = nn.Linear(2 * width, width)
            self.posterior = LatentNormal(width)
        else:
            self.prior = nn.Linear(width, width)
        self.is_stochastic = is_stochastic

    def mix(self, hidden: Tensor, noise: Tensor, emotions: Tensor) -> Tensor:
        """Return the mixture [B, W] of a draw from the prior. `hidden` and `noise` are [B, W], `emotions` [32, W]."""
        prior = self.prior(hidden)
        drawn = prior.draw(noise) if self.is_stochastic else prior
        return self._weights(drawn).exp() @ emotions[self.members]

    def mix_for_training(
        self, hidden: Tensor, noise: Tensor, emotions: Tensor, context: Tensor, logits: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the mixture [B, W] of a draw from the posterior, and the loss of the evidence lower bound [B]."""
        if not self.is_stochastic:
            return self.mix(hidden, noise, emotions), hidden.new_zeros(len(hidden))
        known = logits[:, self.members].detach().softmax(dim=1)  # P(emotion | group), [B, N]
        told = torch.cat([context, known @ emotions[self.members]], dim=1)
        posterior: Normal = self.posterior(F.relu(self.posterior_hidden(told)))
        weights = self._weights(posterior.draw(noise))
        loss = posterior.divergence_from(self.prior(hidden)) - (known * weights).sum(dim=1)
        return weights.exp() @ emotions[self.members], loss

    def _weights(self, drawn: Tensor) -> Tensor:
        """Return log d, [B, N]."""
        weights: Tensor = self.choice(drawn).log_softmax(dim=1)
        return weights


class EmotionGroups(nn.ModuleList):
    def __iter__(self) -> Iterator[EmotionGroup]:
        return cast(Iterator[EmotionGroup], super().__iter__())


class EmotionMixer(nn.Module):
    """Mixes the emotions of each group. Without grouping, all 32 are one group."""

    def __init__(self, width: int, *, is_stochastic: bool, is_grouped: bool) -> None:
        super().__init__()
        numbers = range(len(MOEL_EMOTIONS))
        positive = [number for number in numbers if MOEL_EMOTIONS[number] in POSITIVE]
        negative = [number for number in numbers if number not in positive]
        groups = [positive, negative] if is_grouped else [list(numbers)]
        self.hidden = nn.Linear(width, width)
        self.groups = EmotionGroups(EmotionGroup(width, members, is_stochastic) for members in groups)

    def mix(self, context: Tensor, noise: Tensor, emotions: Tensor) -> Tensor:
        """Draw the groups' mixtures from their priors: [B, W], [B, G, W] and the emotions [32, W] -> [B, G, W]."""
        hidden = F.relu(self.hidden(context))
        mixed = [group.mix(hidden, noise[:, number], emotions) for number, group in enumerate(self.groups)]
        return torch.stack(mixed, dim=1)

    def mix_for_training(
        self, context: Tensor, noise: Tensor, emotions: Tensor, logits: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Draw from the posteriors. Return the mixtures [B, G, W] and the sum of the groups' losses [B]."""
        hidden = F.relu(self.hidden(context))
        found = [
            group.mix_for_training(hidden, noise[:, number], emotions, context, logits)
            for number, group in enumerate(self.groups)
        ]
        return torch.stack([mixed for mixed, _ in found], dim=1), torch.stack([loss for _, loss in found]).sum(dim=0)


def is_positive(emotions: Tensor) -> Tensor:
    """Return whether each emotion, by its number, is a positive one: [B] -> [B]."""
    signs = torch.tensor([name in POSITIVE for name in MOEL_EMOTIONS], device=emotions.device)
    return signs[emotions]
