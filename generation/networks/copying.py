"""A pointer: mix the words that a network would say with words that it copies from the context.

    P = a softmax(logits) + (1 - a) copies,   a = sigmoid(gate)

A word's share of the copies is the sum of the weights of all places where it stands in the context.
Shapes: B dialogs, T tokens (or beams), S places of the context, V words.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

_LEAST = 1e-30  # instead of 0, whose logarithm would be infinite


def mix_with_copies(logits: Tensor, gate: Tensor, place_logits: Tensor, place_ids: Tensor) -> Tensor:
    """Return log P, [B, T, V]. `logits` are [B, T, V], `gate` [B, T, 1], and the places' logits [B, T, S] and words
    [B, S].

    >>> logits, places = torch.tensor([[[1.0, 2, 3, 0]]]), torch.tensor([[[0.0, 1, 0]]])
    >>> gate = torch.tensor([[[3.0]]]).log()  # a = .75
    >>> mix_with_copies(logits, gate, places, torch.tensor([[2, 0, 2]])).exp()
    tensor([[[0.2094, 0.1777, 0.5889, 0.0240]]])
    """
    weights = place_logits.softmax(dim=2)
    words = place_ids[:, None].expand_as(weights)
    copies = torch.zeros_like(logits).scatter_add(2, words, weights.to(logits.dtype))
    said = logits.log_softmax(dim=2) + F.logsigmoid(gate)
    return torch.logaddexp(said, copies.clamp_min(_LEAST).log() + F.logsigmoid(-gate))
