"""`moel`: MoEL (Lin et al. 2019), a mixture of 32 listeners, one for each emotion, and a shared one.

    p = softmax(K c), of its 5 largest      V = V_0 + sum of p_i V_i      the meta listener reads V

Each V_i is a decoder layer that reads the same reply and context; c is the encoder's state at CLS. In training, the
true emotion alone mixes the listeners at first, and ever more rarely:

    at step n, with probability .0001 + .9999 exp(-n / 10,000), p is 1 for the true emotion and 0 for the others

Validation, scoring and answering never know the true emotion.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from generation.emotions import MOEL_EMOTIONS
from generation.networks.empathy_config import EmpathyConfig
from generation.networks.empathy_family import EmpathyFamily
from generation.networks.empathy_layers import DecoderLayer, DecoderLayers, choose_rows, initialise, stack_layers
from generation.networks.empathy_network import EmpathyNetwork, EmpathyState, Encoded, Prediction
from generation.networks.empathy_objective import EmpathyObjective, score_reply
from generation.networks.families import option_of
from generation.networks.network_config import NetworkConfig
from generation.training.objective import IGNORED, Batch, Objective, Scored, Update
from generation.training.options import TrainingSettings

if TYPE_CHECKING:
    from generation.training.plan import Plan, Say
    from generation.training.world import World


@dataclass(frozen=True)
class MoelConfig(EmpathyConfig):
    layers: int = 1  # of the encoder; each listener is one layer
    mixed_listeners: int = 5

    def _problems(self) -> list[str]:
        mixed = self.mixed_listeners
        if not isinstance(mixed, int) or isinstance(mixed, bool) or not 1 <= mixed <= len(MOEL_EMOTIONS):
            return [*super()._problems(), f"mixed_listeners is {mixed!r}, not from 1 to {len(MOEL_EMOTIONS)}"]
        return super()._problems()


class Moel(EmpathyNetwork):
    config: MoelConfig

    def __init__(self, config: MoelConfig) -> None:
        super().__init__(config)
        self.listeners = DecoderLayers(config, len(MOEL_EMOTIONS))
        self.shared = DecoderLayer(config)
        self.meta = DecoderLayer(config)
        initialise(self)

    def forward(
        self, source_ids: Tensor, source_speakers: Tensor, target_ids: Tensor, told: Tensor | None = None
    ) -> Prediction:
        """`told` [B] are the emotions that mix the listeners in place of the recognised ones; IGNORED: none."""
        encoded = self.encode(source_ids, source_speakers)
        logits = self.name_emotions(encoded)
        weights = mixture(logits, self.config.mixed_listeners, told)
        return Prediction(self.say(self.listen(self.embed_reply(target_ids), encoded, weights)), logits)

    def listen(self, reply: Tensor, encoded: Encoded, weights: Tensor) -> Tensor:
        """[B, T, W] and weights [B, 32] -> the meta listener's states [B, T, W]. A listener reads only the dialogs in
        which its weight is not 0."""
        mixed, _ = self.shared(reply, self.shared.remember(*encoded))
        rows, numbers = weights.nonzero(as_tuple=True)  # each is a dialog and a listener who reads it
        listener = choose_rows(stack_layers(list(self.listeners)), numbers)
        mask = None if encoded.mask is None else encoded.mask[rows]
        heard, _ = listener(reply[rows], listener.remember(encoded.states[rows], mask))
        mixed = mixed.index_add(0, rows, weights[rows, numbers, None, None].to(mixed.dtype) * heard)
        states, _ = self.meta(mixed, self.meta.remember(*encoded))
        return cast(Tensor, states)

    def begin_replies(self, source_ids: Tensor, source_speakers: Tensor) -> "MoelState":
        encoded = self.encode(source_ids, source_speakers)
        weights = mixture(self.name_emotions(encoded), self.config.mixed_listeners)
        weights, numbers = weights.topk(self.config.mixed_listeners, dim=1)  # [B, mixed]
        listener = choose_rows(stack_layers(list(self.listeners)), numbers.flatten())
        rows = torch.arange(len(weights), device=weights.device).repeat_interleave(weights.shape[1])
        spread = Encoded(encoded.states[rows], None if encoded.mask is None else encoded.mask[rows])
        heard = EmpathyState.begin([listener], spread)
        of_dialogs = {"weights": weights}
        return MoelState.begin([self.shared, self.meta], encoded, listener=listener, heard=heard, of_dialogs=of_dialogs)

    def read_tokens(self, tokens: Tensor, state: "MoelState") -> Tensor:  # type: ignore[override]
        state.make_room(tokens.shape[1])
        reply = self.embed_reply(tokens, state.position)
        mixed, _ = state.read(0, self.shared, reply)
        mixed = mixed + state.listen(reply)
        states, _ = state.read(1, self.meta, mixed)
        state.position += 1
        normed: Tensor = self.reply_norm(states)
        return normed


@dataclass(kw_only=True)
class MoelState(EmpathyState):
    """Each dialog is read by its own listeners. They are rows of one stacked layer, with a state of their own."""

    listener: DecoderLayer
    heard: EmpathyState  # of B * mixed rows

    def listen(self, reply: Tensor) -> Tensor:
        """[B, beams, W] -> [B, beams, W]"""
        weights = self.of_dialogs["weights"].to(reply.dtype)  # [B, mixed]
        self.heard.make_room(reply.shape[1])
        heard, _ = self.heard.read(0, self.listener, reply.repeat_interleave(weights.shape[1], dim=0))
        return (heard.view(*weights.shape, *heard.shape[1:]) * weights[:, :, None, None]).sum(dim=1)

    def choose_beams(self, parents: Tensor) -> None:
        super().choose_beams(parents)
        self.heard.choose_beams(parents.repeat_interleave(self.of_dialogs["weights"].shape[1], dim=0))

    def keep_dialogs(self, kept: Tensor) -> None:
        super().keep_dialogs(kept)
        mixed = self.of_dialogs["weights"].shape[1]
        rows = (kept[:, None] * mixed + torch.arange(mixed, device=kept.device)).flatten()
        self.listener = choose_rows(self.listener, rows)
        self.heard.keep_dialogs(rows)


def mixture(logits: Tensor, mixed: int, told: Tensor | None = None) -> Tensor:
    """Return the weights of the listeners: the softmax of each row's largest logits, or 1 for the emotion that is told.

    >>> mixture(torch.tensor([[1.0, 3.0, 3.0, 2.0]]), 2)
    tensor([[0.0000, 0.5000, 0.5000, 0.0000]])
    """
    largest = logits.float().topk(mixed, dim=1)
    weights = torch.zeros_like(logits, dtype=torch.float32).scatter(1, largest.indices, largest.values.softmax(dim=1))
    if told is None:
        return weights
    alone = nn.functional.one_hot(told.clamp_min(0), logits.shape[1]).to(weights)
    return torch.where(told[:, None] == IGNORED, weights, alone)


class MoelObjective(EmpathyObjective):
    def plan_step(self, step: int, settings: TrainingSettings) -> Sequence[Update]:
        (update,) = super().plan_step(step, settings)
        is_told = np.random.default_rng((settings.seed, step)).random() < oracle_probability(step)
        score: Any = update.score
        return [replace(update, score=partial(score, is_told=is_told))]


def oracle_probability(step: int) -> float:
    """Return how likely the listeners are mixed by the true emotion in step number `step`, from 0.

    >>> [round(oracle_probability(step), 5) for step in (0, 1000, 10_000, 30_000)]
    [1.0, 0.90485, 0.36794, 0.04988]
    """
    return 0.0001 + 0.9999 * math.exp(-step / 10_000)


class MoelFamily(EmpathyFamily):
    config_class: ClassVar[type[EmpathyConfig]] = MoelConfig
    objective = MoelObjective

    def build(self, config: NetworkConfig) -> nn.Module:
        return Moel(cast(MoelConfig, config))

    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> Objective:
        weighted = partial(score_moel, emotion_weight=option_of(plan, "emotion_weight"))
        return self.prepare_with(score_moel, weighted, plan, world, say)


def score_moel(network: nn.Module, batch: Batch, emotion_weight: float = 1.0, is_told: bool = False) -> Scored:
    names = ("source_ids", "source_speakers", "target_ids")
    predicted = network(*(batch[name] for name in names), told=batch["emotions"] if is_told else None)
    return score_reply(
        predicted.log_probabilities, batch["targets"], predicted.emotion_logits, batch["emotions"], emotion_weight
    )
