"""What TRS, Multi-TR, MoEL, MIME and EmpDG share as networks: words, the encoder of contexts, how replies are read.

A network of these has `forward(source_ids, source_speakers, target_ids)`, and for decoding `begin_replies` and
`read_tokens`. Shapes are as in empathy_layers.py; V is the size of the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from generation.decoding.decoder import Continuations, NextTokens
from generation.decoding.repeating import Pairs
from generation.emotions import MOEL_EMOTIONS
from generation.networks.empathy_config import EmpathyConfig
from generation.networks.empathy_layers import DecoderLayer, Embedding, Encoder, Memory, SampleNorm, Tail, sinusoids
from generation.networks.empathy_words import BEGIN, END, PAD, SPECIAL_WORDS
from generation.networks.layers import padding_mask
from generation.networks.reply_state import CachedDecoder, ReplyState

NEVER_SAID = [number for number in range(len(SPECIAL_WORDS)) if number != END]


class Prediction(NamedTuple):
    log_probabilities: Tensor  # [B, T, V] of the words after each word of the reply
    emotion_logits: Tensor  # [B, 32]


class Encoded(NamedTuple):
    states: Tensor  # [B, S, W]; the first is that of CLS
    mask: Tensor | None  # [B, 1, 1, S], True where there is a word; None if there is no padding


class EmpathyNetwork(nn.Module):
    """Subclasses add their decoder, call `initialise(self)` last, and define the three methods named above."""

    positions: Tensor

    def __init__(self, config: EmpathyConfig) -> None:
        super().__init__()
        self.config = config
        self.words = Embedding(config.vocabulary_size, config.width, padding_idx=PAD)
        self.encoder = Encoder(config)
        self.reply_projection = nn.Linear(config.width, config.width, bias=False)
        self.reply_norm = SampleNorm(config.width)
        self.output = nn.Linear(config.width, config.vocabulary_size)
        self.emotions = nn.Linear(config.width, len(MOEL_EMOTIONS), bias=False)
        self.register_buffer("positions", sinusoids(config.max_tokens, config.width), persistent=False)

    @property
    def device(self) -> torch.device:
        return self.words.weight.device

    def encode(self, source_ids: Tensor, source_speakers: Tensor) -> Encoded:
        """[B, S] twice -> [B, S, W]"""
        mask = padding_mask(source_ids, PAD)
        return Encoded(self.encoder(self.words(source_ids) + self.words(source_speakers), mask), mask)

    def embed_reply(self, ids: Tensor, position: int | None = None) -> Tensor:
        """[B, T] -> [B, T, W]. If a position is given, all words have it: they are beams of one reply."""
        places = slice(ids.shape[1]) if position is None else position
        embedded: Tensor = self.reply_projection(self.words(ids)) + self.positions[places]
        return embedded

    def say(self, states: Tensor) -> Tensor:
        """[B, T, W] after the last layer -> log-probabilities [B, T, V]"""
        log_probabilities: Tensor = self.output(self.reply_norm(states)).float().log_softmax(dim=-1)
        return log_probabilities

    def name_emotions(self, encoded: Encoded) -> Tensor:
        """Return logits of the 32 emotions, [B, 32], from the state of CLS."""
        logits: Tensor = self.emotions(encoded.states[:, 0])
        return logits

    def predict_emotions(self, source_ids: Tensor, source_speakers: Tensor) -> Tensor:
        """Return logits of the 32 emotions, [B, 32], of contexts [B, S]."""
        return self.name_emotions(self.encode(source_ids, source_speakers))

    def begin_replies(self, source_ids: Tensor, source_speakers: Tensor) -> "EmpathyState":
        raise NotImplementedError

    def read_tokens(self, tokens: Tensor, state: "EmpathyState") -> Tensor:
        """Read one more word of each beam: [B, beams] -> last states [B, beams, W], which `output` scores."""
        raise NotImplementedError


@dataclass(kw_only=True)
class EmpathyState(ReplyState):
    """Adds the tails of the convolutions to keys and values. `memory` and `tails` have an entry for each decoder
    layer."""

    tails: list[Tail]
    of_dialogs: dict[str, Tensor] = field(default_factory=dict)  # what else a network remembers, a row for each dialog

    @classmethod
    def begin(cls, layers: Sequence[DecoderLayer], encoded: Encoded, **own: Any) -> Self:
        """Begin the replies of a batch. `own` are further fields: `of_dialogs`, and those of a subclass."""
        states = encoded.states
        dialogs = len(states)
        return cls(
            memory=[layer.cross_attention.project(states) for layer in layers],
            memory_mask=encoded.mask,
            visible=torch.ones(dialogs, 1, 0, dtype=torch.bool, device=states.device),
            tails=[_empty_tail(layer, dialogs, states) for layer in layers],
            **own,
        )

    def read(self, number: int, layer: DecoderLayer, states: Tensor) -> tuple[Tensor, Tensor]:
        """Let a layer read one more word of each beam: [B, beams, W] -> [B, beams, W], and the cross attention's
        logits [B, H, beams, S]. `make_room` was called before."""
        normed = layer.attention_norm(states)
        past = self.remember(number, *layer.attention.project(normed))
        attended, _ = layer.attention(normed, past, self.visible[:, None])
        states, logits = layer.look_at(Memory(self.memory[number], self.memory_mask), states + attended)
        fed, self.tails[number] = layer.feed_forward.step(layer.feed_forward_norm(states), self.tails[number])
        return states + fed, logits

    def choose_beams(self, parents: Tensor) -> None:
        super().choose_beams(parents)
        dialog = torch.arange(len(parents), device=parents.device)[:, None]
        self.tails = [Tail(*(past[dialog, parents] for past in tail)) for tail in self.tails]

    def keep_dialogs(self, kept: Tensor) -> None:
        super().keep_dialogs(kept)
        self.tails = [Tail(*(past[kept] for past in tail)) for tail in self.tails]
        self.of_dialogs = {name: rows[kept] for name, rows in self.of_dialogs.items()}


def _empty_tail(layer: DecoderLayer, dialogs: int, like: Tensor) -> Tail:
    inner, width = layer.feed_forward.inner.weight.shape[-3:-1]
    return Tail(like.new_zeros(dialogs, 1, 2, width), like.new_zeros(dialogs, 1, 2, inner))


class EmpathyDecoder(CachedDecoder):
    first_token, end_token = BEGIN, END

    def step(self, tokens: Tensor) -> NextTokens:
        return OnlyWords(super().step(tokens), NEVER_SAID)


class OnlyWords:
    """Never continues a reply with a token that stands for no word, such as <unk>. Scores stay as they are."""

    def __init__(self, next_tokens: NextTokens, never_said: Sequence[int]) -> None:
        self._next_tokens, self._never_said = next_tokens, never_said

    def log_probabilities(self) -> Tensor:
        scores = self._next_tokens.log_probabilities()
        return scores.index_fill(1, torch.tensor(self._never_said, device=scores.device), -torch.inf)

    def best(self, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float) -> Continuations:
        never = torch.tensor(self._never_said, device=scores.device)
        rows = torch.arange(scores.numel(), device=scores.device).repeat_interleave(len(never))
        tokens = never.repeat(scores.numel())
        both = (rows, tokens) if banned is None else (torch.cat([banned[0], rows]), torch.cat([banned[1], tokens]))
        return self._next_tokens.best(scores, both, count, groups, diversity)
