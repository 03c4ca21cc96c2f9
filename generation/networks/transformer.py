"""`transformer`: the full Transformer of the papers, and how it is trained, scores and answers.

It has an encoder of the context and a decoder of the reply, and one embedder for both. Shapes are as in layers.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn

from generation.contexts import Context
from generation.decoding.decoding_settings import DecodingSettings
from generation.decoding.projection import Projection, pack_output
from generation.networks.answering import SCORED_AT_ONCE, DecodingAnswerer, ReadContexts, score_in_batches
from generation.networks.batches import SourceBatch, stack, stack_contexts
from generation.networks.checkpoint import Checkpoint, read_output_weight
from generation.networks.family import Family, Part
from generation.networks.labeller import LABELLER, LabellerPart, label_ids
from generation.networks.layers import Decoder, Embedder, Encoder, causal_mask, initialise, padding_mask
from generation.networks.network_config import NetworkConfig
from generation.networks.reply_state import CachedDecoder, ReplyState
from generation.networks.tokenizing import (
    BEGIN,
    END,
    PAD,
    EncodedContext,
    decode_reply,
    encode_context,
    encode_reply,
    load_tokenizer,
    train_tokenizer,
)
from generation.training.objective import Batch, Objective, Scored, score_tokens

if TYPE_CHECKING:
    from generation.training.plan import Plan, Say
    from generation.training.world import World


@dataclass(kw_only=True)
class TransformerState(ReplyState):
    segments: Tensor  # [B, 1]: which speaker replies
    labels: Tensor | None  # [B, 1]: the emotion or intent of the reply

    def keep_dialogs(self, kept: Tensor) -> None:
        super().keep_dialogs(kept)
        self.segments = self.segments[kept]
        self.labels = None if self.labels is None else self.labels[kept]


class Transformer(nn.Module):
    def __init__(self, config: NetworkConfig, label_count: int = 0) -> None:
        super().__init__()
        self.config = config
        self.embedder = Embedder(config, label_count)
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
    ) -> TransformerState:
        """Read the contexts, [B, S]. The speaker of the reply and its label are one number for each dialog, [B]."""
        mask = padding_mask(source_ids, PAD)
        memory = self.encoder(self.embedder(source_ids, source_segments, source_labels), mask)
        return TransformerState(
            memory=[layer.cross_attention.project(memory) for layer in self.decoder],
            memory_mask=mask,
            segments=reply_segments[:, None],
            labels=None if reply_labels is None else reply_labels[:, None],
            visible=torch.ones(len(source_ids), 1, 0, dtype=torch.bool, device=source_ids.device),
        )

    def read_tokens(self, tokens: Tensor, state: TransformerState) -> Tensor:
        """Read one more token of each beam: [B, beams] -> last states [B, beams, W], which `output` scores."""
        state.make_room(tokens.shape[1])
        states: Tensor = self.embedder(tokens, state.segments, state.labels, state.position)
        mask = state.visible[:, None]  # [B, 1, beams, nodes]
        for number, layer in enumerate(self.decoder):
            queries, keys, values = layer.attention.project(states)
            attended = layer.attention.attend(queries, *state.remember(number, keys, values), mask)
            states = layer.after_attention(states, attended, state.memory[number], state.memory_mask)
        state.position += 1
        return states


class TransformerDecoder(CachedDecoder):
    first_token, end_token = BEGIN, END


@dataclass(frozen=True)
class EncodedBatch(ReadContexts):
    encoded: list[EncodedContext]
    source: SourceBatch


class TransformerAnswerer(DecodingAnswerer[EncodedBatch]):
    def __init__(self, checkpoint: Checkpoint, settings: DecodingSettings) -> None:
        super().__init__(settings)
        self.checkpoint = checkpoint
        self.network: Transformer = checkpoint.network
        self._projection = Projection(self.network.output)

    def read(self, contexts: Sequence[Context]) -> EncodedBatch:
        encoded = self.encode(contexts)
        source = stack_contexts(encoded, self.network.device)
        labels = self.choose_labels(contexts, source)
        return EncodedBatch(labels, [context.turns_cut for context in encoded], encoded, source)

    def begin(self, read: EncodedBatch, seeds: Sequence[int]) -> TransformerDecoder:
        state = self.network.begin_replies(
            read.source["source_ids"], read.source["source_segments"], self.reply_segments(read.encoded)
        )
        return TransformerDecoder(self.network, self._projection, state)

    def text_of(self, tokens: Sequence[int]) -> str:
        return decode_reply(self.checkpoint.tokenizer, tokens)

    def encode(self, contexts: Sequence[Context]) -> list[EncodedContext]:
        tokenizer, longest = self.checkpoint.tokenizer, self.checkpoint.config.max_tokens
        labeller = self.checkpoint.parts.get(LABELLER)
        return [
            encode_context(tokenizer, context.turns, labels, longest, label_ids(tokenizer, labeller, context.turns))
            for context, labels in zip(contexts, self.label_turns(contexts), strict=True)
        ]

    def label_turns(self, contexts: Sequence[Context]) -> Sequence[Sequence[str]]:
        return [()] * len(contexts)

    def choose_labels(self, contexts: Sequence[Context], source: SourceBatch) -> list[str]:
        return [""] * len(contexts)

    def reply_segments(self, encoded: Sequence[EncodedContext]) -> Tensor:
        return torch.tensor([context.reply_segment for context in encoded], device=self.network.device)

    @torch.inference_mode()
    def score_gold(self, contexts: Sequence[Context], golds: Sequence[str]) -> list[tuple[float, int]]:
        """Return each gold's log-probability and number of tokens, given the label that is forced or else predicted."""
        encoded = self.encode(contexts)
        labels: list[str] = []
        for start in range(0, len(contexts), SCORED_AT_ONCE):
            part = slice(start, start + SCORED_AT_ONCE)
            labels += self.choose_labels(contexts[part], stack_contexts(encoded[part], self.network.device))
        longest = self.checkpoint.config.max_tokens
        replies = [encode_reply(self.checkpoint.tokenizer, gold, longest) for gold in golds]

        def log_probabilities(indexes: list[int]) -> list[float]:
            chosen = [encoded[index] for index in indexes]
            said = stack([replies[index][:-1] for index in indexes], PAD, self.network.device)  # [B, T]
            to_say = stack([replies[index][1:] for index in indexes], PAD, self.network.device)
            logits = self.score_replies(chosen, [labels[index] for index in indexes], said)
            losses = F.cross_entropy(logits.float().transpose(1, 2), to_say, ignore_index=PAD, reduction="none")
            return [-total for total in losses.sum(dim=1).tolist()]

        return score_in_batches(replies, log_probabilities)

    def score_replies(self, contexts: Sequence[EncodedContext], labels: Sequence[str], said: Tensor) -> Tensor:
        """Return logits [B, T, vocabulary] of the tokens after each of `said` [B, T]."""
        source = stack_contexts(contexts, self.network.device)
        segments = self.reply_segments(contexts)[:, None].expand_as(said)
        logits: Tensor = self.network(source["source_ids"], source["source_segments"], said, segments)
        return logits


class TransformerFamily(Family):
    parts: ClassVar[Mapping[str, Part]] = {LABELLER: LabellerPart()}
    has_likelihood = True

    def build(self, config: NetworkConfig) -> nn.Module:
        return Transformer(config)

    def train_tokenizer(self, texts: Iterable[str], plan: "Plan") -> Tokenizer:
        return train_tokenizer(texts, plan.vocabulary_size)

    def load_tokenizer(self, path: Path) -> Tokenizer:
        return load_tokenizer(path)

    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> Objective:
        from generation.networks.preparing import Recipe, prepare_generator

        return prepare_generator(self, Recipe(score_transformer), plan, world, say)

    def take(self, name: str, place: str) -> Any:
        from generation.networks.labeller_training import load_labeller

        return load_labeller(place)

    def answerer(self, checkpoint: Checkpoint, settings: dict[str, Any]) -> TransformerAnswerer:
        return TransformerAnswerer(checkpoint, DecodingSettings(**settings))

    def make_fast(self, checkpoint: Checkpoint, folder: Path) -> None:
        network = checkpoint.network
        network.output = pack_output(network.output, read_output_weight(folder))


def score_transformer(network: nn.Module, batch: Batch) -> Scored:
    names = ("source_ids", "source_segments", "target_ids", "target_segments")
    return score_tokens(network(*(batch[name] for name in names)), batch["targets"])
