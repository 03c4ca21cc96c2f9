"""The layers of TRS, Multi-TR, MoEL, MIME and EmpDG: attention of a small width, convolutions in place of a linear
feed-forward, and layer norms before each part.

    x = x + attention(norm x)      decoder: x = x + cross attention(norm x, memory)      x = x + feed_forward(norm x)

Shapes in comments: B dialogs, T tokens, S source tokens, H heads, D width of a head, W width of the network, F inner
width of the feed-forward. "Windows" are the vectors of three neighbouring tokens side by side, [..., 3 * width].
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.networks.empathy_config import EmpathyConfig

KeysAndValues = tuple[Tensor, Tensor]  # each [B, H, T, D]


class SampleNorm(nn.Module):
    """Divides by the sample's standard deviation (n - 1 in its denominator) plus 1e-6, where torch divides by
    sqrt(variance + eps).

    >>> [round(number, 4) for number in SampleNorm(4)(torch.tensor([1.0, 2, 3, 4])).tolist()]
    [-1.1619, -0.3873, 0.3873, 1.1619]
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, states: Tensor) -> Tensor:
        deviation, mean = torch.std_mean(states, dim=-1, keepdim=True)
        return self.weight * (states - mean) / (deviation + 1e-6) + self.bias


class Attention(nn.Module):
    """Attention without biases. Its logits are returned, too: a network that copies words needs them."""

    def __init__(self, config: EmpathyConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.width, config.attention_width, bias=False)
        self.key = nn.Linear(config.width, config.attention_width, bias=False)
        self.value = nn.Linear(config.width, config.attention_width, bias=False)
        self.output = nn.Linear(config.attention_width, config.width, bias=False)

    def project(self, states: Tensor) -> KeysAndValues:
        """[B, T, W] -> keys and values, [B, H, T, D] each."""
        return self._split_heads(_times(states, self.key)), self._split_heads(_times(states, self.value))

    def forward(self, states: Tensor, memory: KeysAndValues, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return [B, T, W] and logits [B, H, T, S]. `mask` [B or 1, 1, T or 1, S] is True where a token may look."""
        keys, values = memory
        logits = self._split_heads(_times(states, self.query)) @ keys.transpose(2, 3) * keys.shape[3] ** -0.5
        if mask is not None:
            logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min / 2)
        seen = logits.softmax(dim=-1) @ values
        return _times(seen.transpose(1, 2).flatten(2), self.output), logits

    def _split_heads(self, states: Tensor) -> Tensor:
        """[B, T, H * D] -> [B, H, T, D]"""
        return states.view(*states.shape[:-1], self.heads, states.shape[-1] // self.heads).transpose(1, 2)


def _times(states: Tensor, layer: nn.Linear) -> Tensor:
    """Return what the layer gives without a bias. A stacked one has weights for each row of a batch."""
    return states @ layer.weight.transpose(-2, -1)


class Convolution(nn.Module):
    """A convolution over three neighbouring tokens, on windows that are laid out already."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        made = nn.Conv1d(inputs, outputs, 3)
        self.weight, self.bias = made.weight, cast(nn.Parameter, made.bias)  # [outputs, inputs, 3] and [outputs]

    def forward(self, windows: Tensor) -> Tensor:
        """[..., 3 * inputs] -> [..., outputs]"""
        return windows @ self.weight.transpose(-2, -1).flatten(-2).transpose(-2, -1) + self.bias


class FeedForward(nn.Module):
    """Two convolutions, W -> F -> W, with a ReLU after both."""

    def __init__(self, config: EmpathyConfig) -> None:
        super().__init__()
        self.inner = Convolution(config.width, config.feed_forward)
        self.outer = Convolution(config.feed_forward, config.width)

    def forward(self, states: Tensor, before: int, after: int, is_token: Tensor | None = None) -> Tensor:
        """[B, T, W] -> [B, T, W]. A window has so many tokens before and after its own.

        Padding counts as the zeros that stand outside of a text, so that it changes nothing: `is_token` [B, T, 1].
        """
        inner = F.relu(self.inner(_windows(states, before, after, is_token)))
        return F.relu(self.outer(_windows(inner, before, after, is_token)))

    def step(self, states: Tensor, past: "Tail") -> tuple[Tensor, "Tail"]:
        """Process one more token of each beam, [B, beams, W], as a decoder does. Return its result and the new tail."""
        inner_windows = torch.cat([past.states.flatten(2), states], dim=2)
        inner = F.relu(self.inner(inner_windows))
        outer_windows = torch.cat([past.inner.flatten(2), inner], dim=2)
        tail = Tail(
            torch.cat([past.states[:, :, 1:], states[:, :, None]], dim=2),
            torch.cat([past.inner[:, :, 1:], inner[:, :, None]], dim=2),
        )
        return F.relu(self.outer(outer_windows)), tail


class Tail(NamedTuple):
    """What a decoder's convolutions saw of each beam's last two tokens; zeros before a reply's first token."""

    states: Tensor  # [B, beams, 2, W]
    inner: Tensor  # [B, beams, 2, F]


def _windows(states: Tensor, before: int, after: int, is_token: Tensor | None) -> Tensor:
    """[B, T, width] -> [B, T, 3 * width]"""
    if is_token is not None:
        states = states * is_token
    length = states.shape[1]
    padded = F.pad(states, (0, 0, before, after))
    return torch.cat([padded[:, start : start + length] for start in range(3)], dim=2)


class EncoderLayer(nn.Module):
    def __init__(self, config: EmpathyConfig) -> None:
        super().__init__()
        self.attention_norm = SampleNorm(config.width)
        self.attention = Attention(config)
        self.feed_forward_norm = SampleNorm(config.width)
        self.feed_forward = FeedForward(config)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """[B, S, W] -> [B, S, W]. `mask` [B, 1, 1, S] is True where there is a token."""
        normed = self.attention_norm(states)
        attended, _ = self.attention(normed, self.attention.project(normed), mask)
        states = states + attended
        is_token = None if mask is None else mask[:, 0, 0, :, None]
        fed: Tensor = self.feed_forward(self.feed_forward_norm(states), 1, 1, is_token)
        return states + fed


@dataclass(frozen=True)
class Memory:
    """What a decoder layer looks at: keys and values of the context for this layer, and where its tokens are."""

    keys_and_values: KeysAndValues
    mask: Tensor | None  # [B, 1, 1, S], True where there is a token


class DecoderLayer(nn.Module):
    def __init__(self, config: EmpathyConfig) -> None:
        super().__init__()
        self.attention_norm = SampleNorm(config.width)
        self.attention = Attention(config)
        self.cross_attention_norm = SampleNorm(config.width)
        self.cross_attention = Attention(config)
        self.feed_forward_norm = SampleNorm(config.width)
        self.feed_forward = FeedForward(config)

    def remember(self, encoded: Tensor, mask: Tensor | None) -> Memory:
        return Memory(self.cross_attention.project(encoded), mask)

    def forward(self, states: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """Process whole replies, as in training: [B, T, W] -> [B, T, W], and the cross attention's logits [B, H, T,
        S]."""
        normed = self.attention_norm(states)
        attended, _ = self.attention(normed, self.attention.project(normed), causal_mask(states))
        states, logits = self.look_at(memory, states + attended)
        return states + self.feed_forward(self.feed_forward_norm(states), 2, 0), logits

    def look_at(self, memory: Memory, states: Tensor) -> tuple[Tensor, Tensor]:
        normed = self.cross_attention_norm(states)
        crossed, logits = self.cross_attention(normed, memory.keys_and_values, memory.mask)
        return states + crossed, logits


def stack_layers(layers: Sequence[DecoderLayer]) -> DecoderLayer:
    """Return a layer that computes several at once: the first row of its batch is read by the first layer, the second
    row by the second, and so on. Its weights are [rows, ...] and pass gradients on to the layers."""

    def stack(weights: Sequence[Tensor]) -> Tensor:
        stacked = torch.stack(list(weights))
        return stacked[:, None] if stacked.dim() == 2 else stacked  # norms and biases apply to every word of a row

    return cast(DecoderLayer, _with_weights(layers, stack))


def choose_rows(stacked: DecoderLayer, rows: Tensor) -> DecoderLayer:
    """Return a stacked layer whose first row is the given one's `rows[0]`, and so on. Rows may repeat."""
    return cast(DecoderLayer, _with_weights([stacked], lambda weights: weights[0][rows]))


def _with_weights(modules: Sequence[Any], change: Callable[[Sequence[Tensor]], Tensor]) -> Any:
    """Return a module like the first one, with changed weights. It computes with them, but does not own them."""
    first = modules[0]
    made = copy.copy(first)
    # nn.Module looks for weights in these two dictionaries. Its setters would only take new parameters.
    made._parameters = {
        name: None if weight is None else change([module._parameters[name] for module in modules])
        for name, weight in first._parameters.items()
    }
    made._modules = {
        name: _with_weights([module._modules[name] for module in modules], change) for name in first._modules
    }
    return made


class DecoderLayers(nn.ModuleList):
    def __init__(self, config: EmpathyConfig, count: int) -> None:
        super().__init__(DecoderLayer(config) for _ in range(count))

    def __iter__(self) -> Iterator[DecoderLayer]:
        return cast(Iterator[DecoderLayer], super().__iter__())


class Embedding(nn.Embedding):
    """The one table of words, times sqrt(width). Speakers are words of it, too. Padding never learns."""

    def forward(self, ids: Tensor) -> Tensor:
        embedded: Tensor = super().forward(ids) * self.embedding_dim**0.5
        return embedded


class Encoder(nn.Module):
    """Projects its inputs, adds positions, and applies its layers and a norm. An input is wider than the network where
    something stands beside each word."""

    positions: Tensor

    def __init__(self, config: EmpathyConfig, input_width: int = 0) -> None:
        super().__init__()
        self.projection = nn.Linear(input_width or config.width, config.width, bias=False)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.norm = SampleNorm(config.width)
        self.register_buffer("positions", sinusoids(config.max_tokens, config.width), persistent=False)

    def forward(self, embedded: Tensor, mask: Tensor | None) -> Tensor:
        """[B, S, input width] -> [B, S, W]"""
        states = self.projection(embedded) + self.positions[: embedded.shape[1]]
        for layer in self.layers:
            states = layer(states, mask)
        normed: Tensor = self.norm(states)
        return normed


def sinusoids(length: int, width: int) -> Tensor:
    """Return positions [length, width]: sines in the first half, cosines in the second, of frequencies from 1 down to
    1 / 10,000.

    >>> [round(number, 4) for number in sinusoids(2, 4)[1].tolist()]
    [0.8415, 0.0001, 0.5403, 1.0]
    """
    count = width // 2
    frequencies = 10_000.0 ** (-torch.arange(count, dtype=torch.float64) / max(1, count - 1))
    angles = torch.arange(length, dtype=torch.float64)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


def causal_mask(states: Tensor) -> Tensor:
    """[B, T, W] -> [1, 1, T, T]"""
    length = states.shape[1]
    return torch.ones(length, length, dtype=torch.bool, device=states.device).tril()[None, None]


def initialise(network: nn.Module) -> None:
    """Draw words from a normal distribution with deviation .01, and other matrices from Xavier's uniform one."""
    for parameter in network.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    for module in network.modules():
        if isinstance(module, Embedding):
            nn.init.normal_(module.weight, std=0.01)
