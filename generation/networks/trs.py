"""`trs`: the Transformer that MoEL and MIME are compared with, with convolutions as feed-forward.

Its network is also Multi-TR's; TRS does not train the layer that names emotions.
"""

from functools import partial
from typing import TYPE_CHECKING, cast

from torch import Tensor, nn

from generation.networks.empathy_config import EmpathyConfig
from generation.networks.empathy_family import EmpathyFamily
from generation.networks.empathy_layers import DecoderLayers, initialise
from generation.networks.empathy_network import EmpathyNetwork, EmpathyState, Prediction
from generation.networks.empathy_objective import score_reply
from generation.networks.network_config import NetworkConfig
from generation.training.objective import Batch, Objective, Scored

if TYPE_CHECKING:
    from generation.training.plan import Plan, Say
    from generation.training.world import World


class Trs(EmpathyNetwork):
    def __init__(self, config: EmpathyConfig) -> None:
        super().__init__(config)
        self.decoder = DecoderLayers(config, config.layers)
        initialise(self)

    def forward(self, source_ids: Tensor, source_speakers: Tensor, target_ids: Tensor) -> Prediction:
        encoded = self.encode(source_ids, source_speakers)
        states = self.embed_reply(target_ids)
        for layer in self.decoder:
            states, _ = layer(states, layer.remember(*encoded))
        return Prediction(self.say(states), self.name_emotions(encoded))

    def begin_replies(self, source_ids: Tensor, source_speakers: Tensor) -> EmpathyState:
        return EmpathyState.begin(list(self.decoder), self.encode(source_ids, source_speakers))

    def read_tokens(self, tokens: Tensor, state: EmpathyState) -> Tensor:
        state.make_room(tokens.shape[1])
        states = self.embed_reply(tokens, state.position)
        for number, layer in enumerate(self.decoder):
            states, _ = state.read(number, layer, states)
        state.position += 1
        normed: Tensor = self.reply_norm(states)
        return normed


class TrsFamily(EmpathyFamily):
    ranks_emotions = False

    def build(self, config: NetworkConfig) -> nn.Module:
        return Trs(cast(EmpathyConfig, config))

    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> Objective:
        return self.prepare_with(score_words, partial(score_words_and_emotion, emotion_weight=0.0), plan, world, say)


def score_words(network: nn.Module, batch: Batch) -> Scored:
    predicted = network(batch["source_ids"], batch["source_speakers"], batch["target_ids"])
    return score_reply(predicted.log_probabilities, batch["targets"])


def score_words_and_emotion(network: nn.Module, batch: Batch, emotion_weight: float = 1.0) -> Scored:
    predicted = network(batch["source_ids"], batch["source_speakers"], batch["target_ids"])
    return score_reply(
        predicted.log_probabilities, batch["targets"], predicted.emotion_logits, batch["emotions"], emotion_weight
    )
