"""`empdg`: read the emotion words of a context beside all of its words, and copy words of both into the reply.

    C_u = Enc(CLS, the words)        C_e = Enc'(LAB, the emotion words)
    logits of the emotions = K [C_e of LAB ; C_u of CLS]
    reply = Dec(FC(those logits), the words so far),  looking at [C_u ; C_e] and copying from there (copying.py)

This is the generator of the EmpDG paper. empdg_training.py trains it against discriminators. Without emotion words, it
is Multi-TR with copying. Shapes are as in empathy_layers.py; E is the number of emotion words, with LAB.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from generation.decoding.decoder import NextTokens, PlainNextTokens
from generation.decoding.decoding_settings import DecodingSettings
from generation.emotions import MOEL_EMOTIONS
from generation.networks.checkpoint import Checkpoint
from generation.networks.checkpoint_parts import WeightsPart
from generation.networks.copying import mix_with_copies
from generation.networks.discriminators import Discriminator
from generation.networks.emotion_words import are_emotion_words, read_lexicon
from generation.networks.empathy_config import EmpathyConfig
from generation.networks.empathy_family import EmpathyAnswerer, EmpathyFamily, WordedBatch
from generation.networks.empathy_layers import DecoderLayers, Encoder, initialise
from generation.networks.empathy_network import (
    NEVER_SAID,
    EmpathyDecoder,
    EmpathyNetwork,
    EmpathyState,
    Encoded,
    OnlyWords,
)
from generation.networks.empathy_words import PAD, SPECIAL_WORDS
from generation.networks.families import option_of
from generation.networks.family import Part
from generation.networks.layers import padding_mask
from generation.networks.network_config import NetworkConfig
from generation.networks.trs import score_words_and_emotion
from generation.training.objective import Objective

if TYPE_CHECKING:
    from generation.training.plan import Plan, Say
    from generation.training.world import World

LABEL = len(SPECIAL_WORDS)  # LAB: it begins the emotion words, and is added to each of them
EMOTION_WORDS = "emotion-words"
DISCRIMINATORS = "discriminators"


@dataclass(frozen=True)
class EmpdgConfig(EmpathyConfig):
    layers: int = 1
    without: str = ""

    @property
    def reads_emotion_words(self) -> bool:
        return self.without != EMOTION_WORDS

    def _problems(self) -> list[str]:
        problems = super()._problems()
        if self.without not in ("", EMOTION_WORDS):
            problems.append(f"it can be without {EMOTION_WORDS}, but not without {self.without!r}")
        return problems


class Read(NamedTuple):
    """A context as the decoder sees it."""

    memory: Encoded  # [B, S + E, W]
    place_ids: Tensor  # [B, S + E]: the words there
    emotion_logits: Tensor  # [B, 32]
    context: Tensor  # [B, W]: the state of CLS
    emotion_context: Tensor | None  # [B, W]: the state of LAB


class EmpdgPrediction(NamedTuple):
    log_probabilities: Tensor  # [B, T, V]
    emotion_logits: Tensor  # [B, 32]
    context: Tensor  # [B, W] each
    emotion_context: Tensor | None


class Empdg(EmpathyNetwork):
    config: EmpdgConfig
    is_emotional: Tensor  # [V]: 1 for each emotion word of the vocabulary, else 0

    def __init__(self, config: EmpdgConfig) -> None:
        super().__init__(config)
        width = config.width
        self.decoder = DecoderLayers(config, config.layers)
        self.copying = nn.Linear(width, 1)
        self.register_buffer("is_emotional", torch.zeros(config.vocabulary_size))
        if config.reads_emotion_words:
            self.emotion_encoder = Encoder(config)
            self.emotions = nn.Linear(2 * width, len(MOEL_EMOTIONS), bias=False)
            self.beginning = nn.Linear(len(MOEL_EMOTIONS), width)
        initialise(self)

    def forward(self, source_ids: Tensor, source_speakers: Tensor, target_ids: Tensor) -> EmpdgPrediction:
        read = self.read(source_ids, source_speakers)
        states = self._embed(self.words(target_ids), read.emotion_logits)
        for layer in self.decoder:
            states, place_logits = layer(states, layer.remember(*read.memory))
        said = self.mix(self.reply_norm(states), place_logits, read.place_ids)
        return EmpdgPrediction(said, read.emotion_logits, read.context, read.emotion_context)

    def read(self, source_ids: Tensor, source_speakers: Tensor) -> Read:
        """Read contexts, [B, S] twice."""
        encoded = self.encode(source_ids, source_speakers)
        context = encoded.states[:, 0]
        if not self.config.reads_emotion_words:
            return Read(encoded, source_ids, self.emotions(context), context, None)
        emotion_ids = self.emotion_words_of(source_ids)
        mask = padding_mask(emotion_ids, PAD)
        label = self.words(torch.tensor(LABEL, device=self.device))
        emotional = self.emotion_encoder(self.words(emotion_ids) + label, mask)
        emotion_context = emotional[:, 0]
        place_ids = torch.cat([source_ids, emotion_ids], dim=1)
        memory = Encoded(torch.cat([encoded.states, emotional], dim=1), padding_mask(place_ids, PAD))
        logits = self.emotions(torch.cat([emotion_context, context], dim=1))
        return Read(memory, place_ids, logits, context, emotion_context)

    def predict_emotions(self, source_ids: Tensor, source_speakers: Tensor) -> Tensor:
        return self.read(source_ids, source_speakers).emotion_logits

    def emotion_words_of(self, source_ids: Tensor) -> Tensor:
        """Return LAB and the emotion words of each context, in their order: [B, S] -> [B, E]."""
        is_chosen = self.is_emotional[source_ids] > 0
        longest = int(is_chosen.sum(dim=1).max())
        order = (~is_chosen).to(torch.uint8).argsort(dim=1, stable=True)[:, :longest]
        chosen = source_ids.masked_fill(~is_chosen, PAD).gather(1, order)
        return torch.cat([torch.full_like(source_ids[:, :1], LABEL), chosen], dim=1)

    def mix(self, normed: Tensor, place_logits: Tensor, place_ids: Tensor) -> Tensor:
        """Return log-probabilities [B, T, V] of saying or copying each word, from states [B, T, W] and the last cross
        attention's logits [B, H, T, S + E]."""
        logits, gate = self.output(normed).float(), self.copying(normed).float()
        return mix_with_copies(logits, gate, place_logits.float().mean(dim=1), place_ids)

    def begin_replies(self, source_ids: Tensor, source_speakers: Tensor) -> EmpathyState:
        read = self.read(source_ids, source_speakers)
        remembered = {"place_ids": read.place_ids, "emotion_logits": read.emotion_logits}
        return EmpathyState.begin(list(self.decoder), read.memory, of_dialogs=remembered)

    def read_places(self, tokens: Tensor, state: EmpathyState) -> tuple[Tensor, Tensor]:
        """Read one more word of each beam, [B, beams]. Return the last states [B, beams, W] and the logits of the
        places to copy from."""
        state.make_room(tokens.shape[1])
        words = self.words(tokens)
        if state.position == 0:
            states = self._embed(words, state.of_dialogs["emotion_logits"])
        else:
            states = self.reply_projection(words) + self.positions[state.position]
        for number, layer in enumerate(self.decoder):
            states, place_logits = state.read(number, layer, states)
        state.position += 1
        return self.reply_norm(states), place_logits

    def _embed(self, words: Tensor, emotion_logits: Tensor) -> Tensor:
        """Embed a reply from its first word on: [B, T, W]. Instead of SOS, the decoder reads the emotions."""
        if self.config.reads_emotion_words:
            words = torch.cat([self.beginning(emotion_logits)[:, None], words[:, 1:]], dim=1)
        embedded: Tensor = self.reply_projection(words) + self.positions[: words.shape[1]]
        return embedded


class Discriminators(nn.Module):
    """The semantic discriminator, and the emotional one if the generator reads emotion words."""

    def __init__(self, config: EmpdgConfig) -> None:
        super().__init__()
        self.config = config
        self.semantic = Discriminator(config.vocabulary_size, config.width)
        self.emotional = Discriminator(config.vocabulary_size, config.width) if config.reads_emotion_words else None


class EmpdgDecoder(EmpathyDecoder):
    network: Empdg
    state: EmpathyState

    def step(self, tokens: Tensor) -> NextTokens:
        normed, place_logits = self.network.read_places(tokens, self.state)
        mixed = self.network.mix(normed, place_logits, self.state.of_dialogs["place_ids"])
        return OnlyWords(PlainNextTokens(mixed), [*NEVER_SAID, LABEL])


class EmpdgAnswerer(EmpathyAnswerer):
    network: Empdg

    def begin(self, read: WordedBatch, seeds: Sequence[int]) -> EmpdgDecoder:
        return EmpdgDecoder(self.network, self.projection, self.network.begin_replies(read.ids, read.speakers))


def build_discriminators(config: NetworkConfig) -> Discriminators:
    return Discriminators(cast(EmpdgConfig, config))


class EmpdgFamily(EmpathyFamily):
    config_class: ClassVar[type[EmpathyConfig]] = EmpdgConfig
    special_words: ClassVar[Sequence[str]] = ("<lab>",)
    of_new_words: ClassVar[frozenset[str]] = EmpathyFamily.of_new_words | {"lexicon"}
    parts: ClassVar[dict[str, Part]] = {DISCRIMINATORS: WeightsPart("discriminators.safetensors", build_discriminators)}

    def build(self, config: NetworkConfig) -> nn.Module:
        return Empdg(cast(EmpdgConfig, config))

    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> Objective:
        from generation.networks.empdg_training import FeedbackExamples, prepare_discriminators

        if part == DISCRIMINATORS:
            return prepare_discriminators(self, plan, say)
        return self.prepare_with(score_words_and_emotion, score_words_and_emotion, plan, world, say, FeedbackExamples)

    def begin_training(self, network: EmpathyNetwork, tokenizer: Tokenizer, plan: "Plan") -> dict[str, Any]:
        """Mark the emotion words of a new network's vocabulary."""
        lexicon = option_of(plan, "lexicon")
        words = [tokenizer.id_to_token(number) or SPECIAL_WORDS[0] for number in range(network.config.vocabulary_size)]
        marks = are_emotion_words(words, read_lexicon(Path(lexicon)) if lexicon else frozenset())
        cast(Empdg, network).is_emotional.copy_(torch.tensor(marks))
        marked = "\n".join(word for word, is_emotional in zip(words, marks, strict=True) if is_emotional)
        return {"emotion words": f"{sum(marks):,}, {hashlib.sha256(marked.encode()).hexdigest()[:12]}"}

    def answerer(self, checkpoint: Checkpoint, settings: dict[str, Any]) -> EmpdgAnswerer:
        return EmpdgAnswerer(checkpoint, DecodingSettings(**settings))
