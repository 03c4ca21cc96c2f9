"""What TRS, Multi-TR, MoEL, MIME and EmpDG share as families: how they are trained, score replies and answer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from tokenizers import Tokenizer
from torch import Tensor

from generation.contexts import Context
from generation.decoding.decoder import Decoder
from generation.decoding.decoding_settings import DecodingSettings
from generation.decoding.projection import Projection, pack_output
from generation.emotions import MOEL_EMOTIONS
from generation.errors import TrainingRefused
from generation.networks.answering import SCORED_AT_ONCE, DecodingAnswerer, ReadContexts, score_in_batches
from generation.networks.batches import stack
from generation.networks.checkpoint import Checkpoint, read_output_weight
from generation.networks.empathy_config import EmpathyConfig
from generation.networks.empathy_network import EmpathyDecoder, EmpathyNetwork, Prediction
from generation.networks.empathy_objective import EmpathyObjective, word_losses
from generation.networks.empathy_words import PAD, WordedContext, encode_turns, encode_words, load_words, train_words
from generation.networks.families import FAMILIES, option_of
from generation.networks.family import Family
from generation.networks.tokenizing import decode_reply
from generation.training.objective import IGNORED, Objective, Score

if TYPE_CHECKING:
    from generation.networks.empathy_examples import EmpathyExamples
    from generation.training.plan import Plan, Say
    from generation.training.world import World


@dataclass(frozen=True)
class WordedBatch(ReadContexts):
    ids: Tensor  # [B, S] each
    speakers: Tensor


class EmpathyAnswerer(DecodingAnswerer[WordedBatch]):
    def __init__(self, checkpoint: Checkpoint, settings: DecodingSettings) -> None:
        super().__init__(settings)
        self.checkpoint = checkpoint
        self.network: EmpathyNetwork = checkpoint.network
        self.projection = Projection(self.network.output)

    def read(self, contexts: Sequence[Context]) -> WordedBatch:
        encoded = self.encode(contexts)
        cut = [one.turns_cut for one in encoded]
        return WordedBatch([""] * len(encoded), cut, *self.stack(encoded))

    def begin(self, read: WordedBatch, seeds: Sequence[int]) -> Decoder:
        return EmpathyDecoder(self.network, self.projection, self.network.begin_replies(read.ids, read.speakers))

    def text_of(self, tokens: Sequence[int]) -> str:
        return decode_reply(self.checkpoint.tokenizer, tokens)

    def encode(self, contexts: Sequence[Context]) -> list[WordedContext]:
        tokenizer, longest = self.checkpoint.tokenizer, self.checkpoint.config.max_tokens
        return [encode_turns(tokenizer, context.turns, longest) for context in contexts]

    def stack(self, encoded: Sequence[WordedContext]) -> tuple[Tensor, Tensor]:
        device = self.network.device
        return stack([one.ids for one in encoded], PAD, device), stack([one.speakers for one in encoded], PAD, device)

    @torch.inference_mode()
    def score_gold(self, contexts: Sequence[Context], golds: Sequence[str]) -> list[tuple[float, int]]:
        """Return each gold's log-probability and number of words, with the end."""
        return self.score_by(self.predict, contexts, golds)

    def predict(self, contexts: Sequence[Context], said: Tensor) -> Prediction:
        """Return what the network predicts after each word of `said` [B, T]."""
        predicted: Prediction = self.network(*self.stack(self.encode(contexts)), said)
        return predicted

    def score_by(
        self, predict: Callable[[Sequence[Context], Tensor], Prediction], contexts: Sequence[Context],
        golds: Sequence[str],
    ) -> list[tuple[float, int]]:  # fmt: skip
        longest = self.checkpoint.config.max_tokens
        replies = [encode_words(self.checkpoint.tokenizer, gold, longest) for gold in golds]

        def log_probabilities(indexes: list[int]) -> list[float]:
            said = stack([replies[index][:-1] for index in indexes], PAD, self.network.device)  # [B, T]
            to_say = stack([replies[index][1:] for index in indexes], IGNORED, self.network.device)
            predicted = predict([contexts[index] for index in indexes], said)
            return [-loss for loss in word_losses(predicted.log_probabilities, to_say).tolist()]

        return score_in_batches(replies, log_probabilities)

    @torch.inference_mode()
    def rank_emotions(self, contexts: Sequence[Context]) -> list[list[str]]:
        """Return the 32 emotions of each dialog, the most likely first."""
        ranked = []
        for start in range(0, len(contexts), SCORED_AT_ONCE):
            source = self.stack(self.encode(contexts[start : start + SCORED_AT_ONCE]))
            order = self.network.predict_emotions(*source).argsort(dim=1, descending=True, stable=True).tolist()
            ranked += [[MOEL_EMOTIONS[number] for number in row] for row in order]
        return ranked


class EmpathyFamily(Family):
    config_class: ClassVar[type[EmpathyConfig]] = EmpathyConfig
    has_likelihood = True
    special_words: ClassVar[Sequence[str]] = ()  # beyond those that all have
    of_new_words: ClassVar[frozenset[str]] = frozenset({"minimum_count", "vectors"})  # options
    ranks_emotions: ClassVar[bool] = True
    objective: ClassVar[type[EmpathyObjective]] = EmpathyObjective

    def train_tokenizer(self, texts: Iterable[str], plan: "Plan") -> Tokenizer:
        return train_words(texts, plan.vocabulary_size, option_of(plan, "minimum_count"), self.special_words)

    def load_tokenizer(self, path: Path) -> Tokenizer:
        return load_words(path, self.special_words)

    def prepare_with(
        self,
        score: Score,
        training_score: Score,
        plan: "Plan",
        world: "World",
        say: "Say",
        examples: "type[EmpathyExamples] | None" = None,
    ) -> Objective:
        """Prepare training with one network and one optimiser. Without a class of examples, every listener turn is
        one."""
        from generation.networks.empathy_examples import EmpathyExamples, texts_of
        from generation.networks.preparing import Recipe, prepare_generator
        from generation.networks.word_vectors import fill_words

        self.check_options(plan)
        vectors = option_of(plan, "vectors")

        def begin(network: EmpathyNetwork, tokenizer: Tokenizer) -> dict[str, Any]:
            found = {"vectors": fill_words(network.words, tokenizer, Path(vectors), say)} if vectors else {}
            return {**found, **self.begin_training(network, tokenizer, plan)}

        recipe = Recipe(
            score=score,
            training_score=training_score,
            examples=examples or EmpathyExamples,
            texts=texts_of,
            needs_labels=self.ranks_emotions,
            objective=self.objective,
            begin=begin,
            identity={
                name: option_of(plan, name) for name, one in FAMILIES[plan.kind].options.items() if not one.is_file
            },
        )
        return prepare_generator(self, recipe, plan, world, say)

    def check_options(self, plan: "Plan") -> None:
        """Refuse options that are about new words, if there is a checkpoint to start from."""
        if plan.start and (given := self.of_new_words & plan.options.keys()):
            option = f"--{min(given).replace('_', '-')}"
            raise TrainingRefused(f"A checkpoint has its own words and their vectors; leave {option} out.")

    def begin_training(self, network: EmpathyNetwork, tokenizer: Tokenizer, plan: "Plan") -> dict[str, Any]:
        """Change a new network before it is trained; return what must not change when the run is resumed."""
        return {}

    def answerer(self, checkpoint: Checkpoint, settings: dict[str, Any]) -> EmpathyAnswerer:
        return EmpathyAnswerer(checkpoint, DecodingSettings(**settings))

    def make_fast(self, checkpoint: Checkpoint, folder: Path) -> None:
        network = checkpoint.network
        network.output = pack_output(network.output, read_output_weight(folder))

    def can_rank_emotions(self, folder: Path) -> bool:
        return self.ranks_emotions
