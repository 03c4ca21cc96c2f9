"""The full Transformer of the papers: an encoder of the context, a decoder of the reply, one embedder for both.
Shapes as in layers.py."""

import torch
from torch import Tensor, nn

from generation.networks.config import NetworkConfig
from generation.networks.layers import Decoder, Embedder, Encoder, causal_mask, initialise, padding_mask
from generation.networks.reply_state import ReplyState
from generation.networks.tokenizing import PAD


class Transformer(nn.Module):
    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.embedder = Embedder(config)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.output = nn.Linear(config.width, config.vocabulary_size)
        self.apply(initialise)

    @property
    def device(self) -> torch.device:
        return self.embedder.words.weight.device

    def forward(
        self, source_ids: Tensor, source_segments: Tensor, target_ids: Tensor, target_segments: Tensor
    ) -> Tensor:
        """[B, S] twice and [B, T] twice -> logits [B, T, vocabulary] of the tokens after each target token."""
        return self._score(source_ids, source_segments, None, target_ids, target_segments, None)

    def _score(
        self,
        source_ids: Tensor,
        source_segments: Tensor,
        source_labels: Tensor | None,
        target_ids: Tensor,
        target_segments: Tensor,
        target_labels: Tensor | None,
    ) -> Tensor:
        mask = padding_mask(source_ids, PAD)
        memory = self.encoder(self.embedder(source_ids, source_segments, source_labels), mask)
        states = self.embedder(target_ids, target_segments, target_labels)
        backwards = causal_mask(target_ids.shape[1], target_ids.device)
        for layer in self.decoder:
            states = layer(states, backwards, layer.cross_attention.project(memory), mask)
        logits: Tensor = self.output(states)
        return logits

    def begin_replies(
        self,
        source_ids: Tensor,
        source_segments: Tensor,
        reply_segments: Tensor,
        source_labels: Tensor | None = None,
        reply_labels: Tensor | None = None,
    ) -> ReplyState:
        """Reads the contexts ([B, S]); who replies, and in which emotion or intent, is one number a dialog ([B])."""
        mask = padding_mask(source_ids, PAD)
        memory = self.encoder(self.embedder(source_ids, source_segments, source_labels), mask)
        return ReplyState(
            memory=[layer.cross_attention.project(memory) for layer in self.decoder],
            memory_mask=mask,
            segments=reply_segments[:, None],
            labels=None if reply_labels is None else reply_labels[:, None],
            visible=torch.ones(len(source_ids), 1, 0, dtype=torch.bool, device=source_ids.device),
        )

    def read_tokens(self, tokens: Tensor, state: ReplyState) -> Tensor:
        """One more token of each beam: [B, beams] -> the decoder's last states [B, beams, W]. `output` scores them."""
        state.make_room(tokens.shape[1])
        states: Tensor = self.embedder(tokens, state.segments, state.labels, state.position)
        mask = state.visible[:, None]  # [B, 1, beams, nodes]
        for number, layer in enumerate(self.decoder):
            queries, keys, values = layer.attention.project(states)
            attended = layer.attention.attend(queries, *state.remember(number, keys, values), mask)
            states = layer.after_attention(states, attended, state.memory[number], state.memory_mask)
        state.position += 1
        return states
