"""`mime`: mix positive emotions and negative ones, and refine the context by both, mimicking the speaker's polarity.

    m = the mixture of the speaker's polarity, m' = the other one           (mime_emotions.py makes both)
    M = Enc([H ; m]),  M' = Enc([H ; m'])                                   H: states of the context's words
    F = FC(gate * [M ; M']),  gate = sigmoid(FC [M ; M'])                   which the decoder looks at

The network is told the true polarity only while it is trained. Then it chooses that of the likeliest emotion. Shapes
are as in empathy_layers.py.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import torch
from torch import Tensor, nn

from generation.contexts import Context
from generation.decoding.decoding_settings import DecodingSettings
from generation.decoding.noise import noise_of
from generation.emotions import MOEL_EMOTIONS
from generation.networks.checkpoint import Checkpoint
from generation.networks.empathy_config import EmpathyConfig
from generation.networks.empathy_family import EmpathyAnswerer, EmpathyFamily, WordedBatch
from generation.networks.empathy_layers import Encoder, initialise
from generation.networks.empathy_network import EmpathyDecoder, EmpathyState, Encoded, Prediction
from generation.networks.empathy_objective import score_reply, word_losses
from generation.networks.empathy_words import PAD
from generation.networks.mime_emotions import EmotionMixer, is_positive
from generation.networks.trs import Trs
from generation.training.objective import IGNORED, Batch, Objective, Scored

if TYPE_CHECKING:
    from generation.networks.network_config import NetworkConfig
    from generation.training.plan import Plan, Say
    from generation.training.world import World

STOCHASTICITY, MIMICRY, GROUPING = "stochasticity", "mimicry", "mimicry-and-grouping"
ABLATIONS = ("", STOCHASTICITY, MIMICRY, GROUPING)
TRUE_POLARITY = "true_polarity"  # the name of losses that are told it
LATENT_NOISE = 0x4D494D45  # added to seeds, so that the latent variable's noise is not that of the words


@dataclass(frozen=True)
class MimeConfig(EmpathyConfig):
    layers: int = 1  # of both encoders and of the decoder
    without: str = ""  # one of the paper's ablations

    @property
    def mimics(self) -> bool:
        return self.without not in (MIMICRY, GROUPING)

    def _problems(self) -> list[str]:
        problems = super()._problems()
        if self.without not in ABLATIONS:
            problems.append(f"it can be without {', '.join(ABLATIONS[1:])}, but not without {self.without!r}")
        return problems


class MimePrediction(NamedTuple):
    log_probabilities: Tensor  # [B, T, V]
    emotion_logits: Tensor  # [B, 32]
    latent_losses: Tensor  # [B], of the evidence lower bounds; 0 except in training


class Mime(Trs):
    config: MimeConfig

    def __init__(self, config: MimeConfig) -> None:
        super().__init__(config)
        width = config.width
        self.emotion_projection = nn.Linear(width, width, bias=False)
        self.mixer = EmotionMixer(
            width, is_stochastic=config.without != STOCHASTICITY, is_grouped=config.without != GROUPING
        )
        self.refiner = Encoder(config, 2 * width)
        self.gate = nn.Linear(2 * width, 2 * width)
        self.fusion = nn.Linear(2 * width, width)
        initialise(self)

    def forward(  # type: ignore[override]  # it needs more than its parent
        self,
        source_ids: Tensor,
        source_speakers: Tensor,
        target_ids: Tensor,
        emotions: Tensor | None = None,
        is_training: bool = False,
    ) -> MimePrediction:
        """Return what the network predicts, [B, S] twice and [B, T] -> [B, T, V]. True emotions [B] decide the
        polarity where they are given and known. A context decides the noise of its latent variables, in training
        together with the step."""
        encoded = self.encode(source_ids, source_speakers)
        logits = self.name_emotions(encoded)
        context, rows = encoded.states[:, 0], self.emotions.weight
        seeds = seeds_of_contexts(source_ids)
        if is_training:
            step = torch.initial_seed()  # training seeds each step with its number
            noise = self.noise_for([seed + step for seed in seeds])
            mixtures, latent_losses = self.mixer.mix_for_training(context, noise, rows, logits)
        else:
            mixtures = self.mixer.mix(context, self.noise_for(seeds), rows)
            latent_losses = context.new_zeros(len(context))
        refined = self.refine(encoded, mixtures, _choose_emotions(logits, emotions))
        states = self.embed_reply(target_ids)
        for layer in self.decoder:
            states, _ = layer(states, layer.remember(*refined))
        return MimePrediction(self.say(states), logits, latent_losses)

    def name_emotions(self, encoded: Encoded) -> Tensor:
        logits: Tensor = self.emotions(self.emotion_projection(encoded.states[:, 0]))
        return logits

    def refine(self, encoded: Encoded, mixtures: Tensor, emotions: Tensor) -> Encoded:
        """Return the context as the decoder sees it: all but CLS, [B, S - 1, W]. `mixtures` are [B, G, W]; `emotions`
        [B] decide whose polarity is mimicked."""
        first = (~is_positive(emotions)).long() if self.config.mimics else torch.zeros_like(emotions)
        other = mixtures.shape[1] - 1 - first
        dialog = torch.arange(len(emotions), device=emotions.device)
        both = torch.cat([mixtures[dialog, first], mixtures[dialog, other]])  # [2 B, W]: m, then m'
        states = encoded.states[:, 1:]
        mask = None if encoded.mask is None else encoded.mask[:, :, :, 1:]
        beside = both[:, None].expand(-1, states.shape[1], -1)
        told = torch.cat([states.repeat(2, 1, 1), beside], dim=2)
        twice = self.refiner(told, None if mask is None else mask.repeat(2, 1, 1, 1))
        joined = torch.cat(twice.chunk(2), dim=2)  # [B, S - 1, 2 W]
        return Encoded(self.fusion(self.gate(joined).sigmoid() * joined), mask)

    def begin_replies(self, source_ids: Tensor, source_speakers: Tensor, noise: Tensor | None = None) -> EmpathyState:
        encoded = self.encode(source_ids, source_speakers)
        if noise is None:
            noise = self.noise_for(seeds_of_contexts(source_ids))
        mixtures = self.mixer.mix(encoded.states[:, 0], noise, self.emotions.weight)
        refined = self.refine(encoded, mixtures, self.name_emotions(encoded).argmax(dim=1))
        return EmpathyState.begin(list(self.decoder), refined)

    def noise_for(self, seeds: Sequence[int]) -> Tensor:
        """Return a latent variable's noise, [B, G, W], each dialog's by its own seed."""
        shape = (len(self.mixer.groups), self.config.width)
        sources = noise_of([seed + LATENT_NOISE for seed in seeds])
        return torch.stack([torch.randn(shape, generator=source) for source in sources]).to(self.words.weight)


def seeds_of_contexts(source_ids: Tensor) -> list[int]:
    """Return a seed for each context, which its words decide, so that no other context of a batch matters."""
    return [zlib.crc32(row[row != PAD].cpu().numpy().tobytes()) for row in source_ids]


def _choose_emotions(logits: Tensor, emotions: Tensor | None) -> Tensor:
    predicted = logits.argmax(dim=1)
    return predicted if emotions is None else torch.where(emotions == IGNORED, predicted, emotions)


class MimeAnswerer(EmpathyAnswerer):
    network: Mime

    def begin(self, read: WordedBatch, seeds: Sequence[int]) -> EmpathyDecoder:
        state = self.network.begin_replies(read.ids, read.speakers, self.network.noise_for(seeds))
        return EmpathyDecoder(self.network, self.projection, state)

    @torch.inference_mode()
    def score_gold_told_polarity(self, contexts: Sequence[Context], golds: Sequence[str]) -> list[tuple[float, int]]:
        """Return what score_gold returns, with the polarity of the dialogs' own emotions where they have one."""
        return self.score_by(self._predict_told, contexts, golds)

    def _predict_told(self, contexts: Sequence[Context], said: Tensor) -> Prediction:
        ids = [MOEL_EMOTIONS.index(one.emotion) if one.emotion in MOEL_EMOTIONS else IGNORED for one in contexts]
        emotions = torch.tensor(ids, device=self.network.device)
        predicted: MimePrediction = self.network(*self.stack(self.encode(contexts)), said, emotions)
        return Prediction(predicted.log_probabilities, predicted.emotion_logits)


class MimeFamily(EmpathyFamily):
    config_class: ClassVar[type[EmpathyConfig]] = MimeConfig
    is_told_polarity = True

    def build(self, config: "NetworkConfig") -> nn.Module:
        return Mime(cast(MimeConfig, config))

    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> Objective:
        return self.prepare_with(score_mime, score_mime_training, plan, world, say)

    def answerer(self, checkpoint: Checkpoint, settings: dict[str, Any]) -> MimeAnswerer:
        return MimeAnswerer(checkpoint, DecodingSettings(**settings))


def score_mime_training(network: nn.Module, batch: Batch) -> Scored:
    """Compute the loss with the true polarity and draws from the posteriors; every part has weight 1."""
    emotions = batch["emotions"]
    predicted = network(batch["source_ids"], batch["source_speakers"], batch["target_ids"], emotions, is_training=True)
    scored = score_reply(predicted.log_probabilities, batch["targets"], predicted.emotion_logits, emotions)
    return replace(scored, minimised=scored.minimised + predicted.latent_losses)


def score_mime(network: nn.Module, batch: Batch) -> Scored:
    """Score with the predicted polarity, and once more with the true one, which the published figures are told."""
    source = batch["source_ids"], batch["source_speakers"], batch["target_ids"]
    predicted = network(*source)
    told = network(*source, batch["emotions"])
    scored = score_reply(predicted.log_probabilities, batch["targets"], predicted.emotion_logits, batch["emotions"])
    return replace(scored, others={TRUE_POLARITY: word_losses(told.log_probabilities, batch["targets"])})
