"""Draw tokens so that a reply depends on its own seed alone, never on the other dialogs of the batch.

    drawn token = argmax over tokens of (log P(token) + g),  g = -log(-log u),  u uniform in (0, 1)

To add such noise and take the largest sum is the same as to draw from P (Gumbel 1954). For example, with P = (.9, .1)
the second token wins in a tenth of all draws. Every token has its own noise, so the last bits of scores, which differ
from batch to batch, matter only if two sums are almost equal. (The usual way, to draw one number and find its place
among the tokens in order of probability, would depend on which of two equally likely tokens comes first.)
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def noise_of(seeds: Sequence[int]) -> list[torch.Generator]:
    """Return one source of noise for each row. It is on the CPU, so that replies on a GPU get the same noise."""
    return [torch.Generator().manual_seed(seed % 2**63) for seed in seeds]


def with_noise(scores: Tensor, noise: Sequence[torch.Generator]) -> Tensor:
    """Add Gumbel noise to log-probabilities: [B, vocabulary] -> [B, vocabulary]. The place of a row's largest sum is
    then a draw from the row's probabilities."""
    uniform = torch.stack([torch.rand(scores.shape[1], generator=source, dtype=torch.float64) for source in noise])
    return scores - (-uniform.clamp_min(1e-300).log()).log().to(scores.device)


def only_top_k(scores: Tensor, k: int) -> Tensor:
    """Exclude all but the k most probable tokens of each row (Fan et al. 2018).

    >>> only_top_k(torch.tensor([[.2, .5, .3]]), 2)
    tensor([[  -inf, 0.5000, 0.3000]])
    """
    least = scores.topk(min(k, scores.shape[1]), dim=1).values[:, -1:]
    return scores.masked_fill(scores < least, -torch.inf)


def only_nucleus(scores: Tensor, top_p: float) -> Tensor:
    """Exclude all but the nucleus: the fewest most probable tokens with a sum of P >= `top_p` (Holtzman et al. 2020).

    >>> only_nucleus(torch.tensor([[.2, .5, .3]]).log(), .7).exp()
    tensor([[0.0000, 0.5000, 0.3000]])
    """
    ordered, tokens = scores.sort(dim=1, descending=True)
    shares = ordered.double().softmax(dim=1)
    is_outside = shares.cumsum(dim=1) - shares >= top_p  # the tokens before it reach top_p already
    return scores.masked_fill(is_outside.scatter(1, tokens, is_outside), -torch.inf)
