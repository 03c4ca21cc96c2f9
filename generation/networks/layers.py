"""The layers of our Transformers: embedder, attention, feed-forward, encoder and decoder (Vaswani et al. 2017).

    attention(Q, K, V) = softmax(Q K^T / sqrt(D)) V        layer(x) = norm(x + dropout(f(x)))

Layer norms come after the residual, as in the original paper.
Shapes in comments: B dialogs, T tokens, S source tokens, H heads, D width of a head, W width of the network (H * D).
"""

from collections.abc import Callable, Iterator
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.networks.network_config import NetworkConfig
from generation.networks.reply_state import KeysAndValues

Activation = Callable[[Tensor], Tensor]


class Embedder(nn.Module):
    """Adds the vectors of word, position, segment (and label), then applies layer norm and dropout. Encoder and decoder
    share it."""

    def __init__(self, config: NetworkConfig, label_count: int = 0) -> None:
        super().__init__()
        self.words = nn.Embedding(config.vocabulary_size, config.width)
        self.positions = nn.Embedding(config.max_tokens, config.width)
        self.segments = nn.Embedding(2, config.width)
        self.labels = nn.Embedding(label_count, config.width) if label_count else None
        self.norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, segments: Tensor, labels: Tensor | None, position: int | None = None) -> Tensor:
        """[B, T] each -> [B, T, W]. If a position is given, all tokens have it: they are beams of one reply."""
        places = slice(ids.shape[1]) if position is None else position
        summed = self.words(ids) + self.positions.weight[places] + self.segments(segments)
        if self.labels is not None and labels is not None:
            summed = summed + self.labels(labels)
        embedded: Tensor = self.dropout(self.norm(summed))
        return embedded


class SelfAttention(nn.Module):
    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query_key_value = nn.Linear(config.width, 3 * config.width)
        self.output = nn.Linear(config.width, config.width)

    def project(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[B, T, W] -> queries, keys, values, each [B, H, T, D]."""
        queries, keys, values = self.query_key_value(states).chunk(3, dim=-1)
        return _split_heads(queries, self.heads), _split_heads(keys, self.heads), _split_heads(values, self.heads)

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Return [B, T, W]. `mask` [B or 1, 1, T or 1, S] is True where a token may look."""
        seen = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        attended: Tensor = self.output(_join_heads(seen))
        return attended

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        return self.attend(*self.project(states), mask)


class CrossAttention(nn.Module):
    """Lets the reply look at the context. Keys and values of the context are projected once for each reply, and shared
    by all its beams."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.width, config.width)
        self.key_value = nn.Linear(config.width, 2 * config.width)
        self.output = nn.Linear(config.width, config.width)

    def project(self, memory: Tensor) -> KeysAndValues:
        keys, values = self.key_value(memory).chunk(2, dim=-1)
        return _split_heads(keys, self.heads), _split_heads(values, self.heads)

    def forward(self, states: Tensor, memory: KeysAndValues, mask: Tensor | None) -> Tensor:
        queries = _split_heads(self.query(states), self.heads)
        attended: Tensor = self.output(_join_heads(F.scaled_dot_product_attention(queries, *memory, attn_mask=mask)))
        return attended


class FeedForward(nn.Module):
    def __init__(self, config: NetworkConfig, activation: Activation = F.gelu) -> None:
        super().__init__()
        self.activation = activation
        self.inner = nn.Linear(config.width, config.feed_forward)
        self.outer = nn.Linear(config.feed_forward, config.width)

    def forward(self, states: Tensor) -> Tensor:
        result: Tensor = self.outer(self.activation(self.inner(states)))
        return result


class EncoderLayer(nn.Module):
    def __init__(self, config: NetworkConfig, activation: Activation = F.gelu) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.attention_norm = nn.LayerNorm(config.width)
        self.feed_forward = FeedForward(config, activation)
        self.feed_forward_norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        states = self.attention_norm(states + self.dropout(self.attention(states, mask)))
        result: Tensor = self.feed_forward_norm(states + self.dropout(self.feed_forward(states)))
        return result


class DecoderLayer(nn.Module):
    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.attention_norm = nn.LayerNorm(config.width)
        self.cross_attention = CrossAttention(config)
        self.cross_attention_norm = nn.LayerNorm(config.width)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Tensor, mask: Tensor | None, memory: KeysAndValues, memory_mask: Tensor | None) -> Tensor:
        """Process a whole reply at once, as in training."""
        return self.after_attention(states, self.attention(states, mask), memory, memory_mask)

    def after_attention(
        self, states: Tensor, attended: Tensor, memory: KeysAndValues, memory_mask: Tensor | None
    ) -> Tensor:
        states = self.attention_norm(states + self.dropout(attended))
        crossed = self.cross_attention(states, memory, memory_mask)
        states = self.cross_attention_norm(states + self.dropout(crossed))
        result: Tensor = self.feed_forward_norm(states + self.dropout(self.feed_forward(states)))
        return result


class Encoder(nn.ModuleList):
    def __init__(self, config: NetworkConfig, activation: Activation = F.gelu) -> None:
        super().__init__(EncoderLayer(config, activation) for _ in range(config.layers))

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        for layer in self:
            states = layer(states, mask)
        return states


class Decoder(nn.ModuleList):
    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(DecoderLayer(config) for _ in range(config.layers))

    def __iter__(self) -> Iterator[DecoderLayer]:
        return cast(Iterator[DecoderLayer], super().__iter__())


def initialise(module: nn.Module) -> None:
    """Draw weights from a normal distribution with deviation .02, as BERT and RoBERTa do. Biases are 0."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


def padding_mask(ids: Tensor, pad: int) -> Tensor | None:
    """[B, S] -> [B, 1, 1, S], True where there is a token; None where there is no padding at all."""
    is_token = ids != pad
    return None if bool(is_token.all()) else is_token[:, None, None, :]


def causal_mask(length: int, device: torch.device) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def _split_heads(states: Tensor, heads: int) -> Tensor:
    """[B, T, W] -> [B, H, T, D]"""
    return states.view(*states.shape[:-1], heads, -1).transpose(1, 2)


def _join_heads(states: Tensor) -> Tensor:
    """[B, H, T, D] -> [B, T, W]"""
    return states.transpose(1, 2).flatten(-2)
