"""Layers of width 4 with weights by a formula, for which results are known from a computation of others."""

from typing import TypeVar

import torch
from torch import Tensor

from generation.networks.empathy_config import EmpathyConfig
from generation.networks.empathy_layers import Attention, DecoderLayer, EncoderLayer, FeedForward

Layer = TypeVar("Layer", EncoderLayer, DecoderLayer)
TINY = EmpathyConfig("trs", 10, width=4, heads=2, layers=1, feed_forward=3, max_tokens=16, attention_width=4)


def fill(parameter: Tensor, start: int) -> None:
    """.3 sin(i + start) for i = 0, 1, .. row by row."""
    with torch.no_grad():
        parameter.copy_((0.3 * torch.sin(torch.arange(parameter.numel()) + float(start))).view_as(parameter))


def fill_attention(attention: Attention, start: int) -> None:
    for number, part in enumerate((attention.query, attention.key, attention.value, attention.output)):
        fill(part.weight, start + number)


def fill_feed_forward(feed_forward: FeedForward, start: int) -> None:
    for number, part in enumerate((feed_forward.inner, feed_forward.outer)):
        fill(part.weight, start + 2 * number)
        assert part.bias is not None
        fill(part.bias, start + 2 * number + 1)


def filled(layer: Layer, more: int = 0) -> Layer:
    """Norms stay 1 and 0."""
    fill_attention(layer.attention, 1 + more)
    fill_feed_forward(layer.feed_forward, 5 + more)
    if isinstance(layer, DecoderLayer):
        fill_attention(layer.cross_attention, 11 + more)
    return layer


def waves(length: int, function: str) -> Tensor:
    """[1, length, 4]: cos or sin of 0, 1, 2, .."""
    numbers: Tensor = getattr(torch, function)(torch.arange(4.0 * length))
    return numbers.view(1, length, 4)
