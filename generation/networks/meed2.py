"""`meed2`: tell a Transformer the emotion or intent of every turn, and choose the one of the reply that it writes.

Beside the network, its checkpoint holds the response predictor, which chooses the reply's label, and perhaps an emotion
classifier, which labels turns that come without labels.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.contexts import Context
from generation.decoding.decoding_settings import DecodingSettings
from generation.emotions import LABEL_IDS, LABELS, NEUTRAL
from generation.errors import CheckpointRefused, SettingsRefused, TrainingRefused
from generation.networks.batches import SourceBatch, stack_contexts
from generation.networks.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from generation.networks.checkpoint_parts import WeightsPart
from generation.networks.family import Part
from generation.networks.layers import Embedder, Encoder, initialise, padding_mask
from generation.networks.network_config import NetworkConfig
from generation.networks.tokenizing import PAD, EncodedContext
from generation.networks.transformer import (
    EncodedBatch,
    Transformer,
    TransformerAnswerer,
    TransformerDecoder,
    TransformerFamily,
)
from generation.training.objective import Batch, Objective, Scored, score_labels, score_tokens

if TYPE_CHECKING:
    from generation.training.plan import Plan, Say
    from generation.training.world import World

PREDICTOR, CLASSIFIER = "predictor", "classifier"
CLASSIFIED_AT_ONCE = 64


class Meed2(Transformer):
    """Writes a reply with a given label. It is trained with the true label of each reply."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config, len(LABELS))

    def forward(  # type: ignore[override]  # it needs more than its parent
        self,
        source_ids: Tensor,
        source_segments: Tensor,
        target_ids: Tensor,
        target_segments: Tensor,
        source_labels: Tensor,
        response_labels: Tensor,
    ) -> Tensor:
        """Return logits as Transformer does, with [B, S] labels of the turns and [B] labels of the replies."""
        target_labels = response_labels[:, None].expand_as(target_ids)
        return self._score(source_ids, source_segments, source_labels, target_ids, target_segments, target_labels)


class ResponsePredictor(nn.Module):
    """Chooses the emotion or intent of the reply (the paper's equations 1 and 2).

        alpha = softmax(v . r_i),   r = sum of alpha_i r_i,   logits = W2 gelu(W1 r + b1) + b2

    The r_i are the states of an encoder of its own, which reads the context; v is a trained vector.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.embedder = Embedder(config, len(LABELS))
        self.encoder = Encoder(config)
        self.pooling = nn.Linear(config.width, 1, bias=False)  # v
        self.hidden = nn.Linear(config.width, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.width, len(LABELS))
        self.apply(initialise)

    def forward(self, source_ids: Tensor, source_segments: Tensor, source_labels: Tensor) -> Tensor:
        """[B, S] each -> logits [B, 41]"""
        mask = padding_mask(source_ids, PAD)
        states = self.encoder(self.embedder(source_ids, source_segments, source_labels), mask)  # r_i
        weights = self.pooling(states).squeeze(-1)  # [B, S]
        weights = weights.masked_fill(source_ids == PAD, -torch.inf).softmax(dim=-1)  # alpha_i
        pooled = (weights[:, None, :] @ states).squeeze(1)  # r
        logits: Tensor = self.output(self.dropout(F.gelu(self.hidden(pooled))))
        return logits


class ClassifierPart:
    """Stores an emotion classifier as a folder in Hugging Face's format."""

    file = CLASSIFIER

    def write(self, part: Any, path: Path) -> None:
        part.save(path)

    def read(self, config: NetworkConfig, path: Path, device: str) -> Any:
        return _load_classifier(str(path), device)


class Meed2Answerer(TransformerAnswerer):
    def begin(self, read: EncodedBatch, seeds: Sequence[int]) -> TransformerDecoder:
        state = self.network.begin_replies(
            read.source["source_ids"],
            read.source["source_segments"],
            self.reply_segments(read.encoded),
            read.source["source_labels"],
            self._label_ids(read.labels),
        )
        return TransformerDecoder(self.network, self._projection, state)

    def label_turns(self, contexts: Sequence[Context]) -> Sequence[Sequence[str]]:
        """Take the dialog's own labels. Without them, take the emotion classifier's or, if the checkpoint has none,
        neutral."""
        classifier = self.checkpoint.parts.get(CLASSIFIER)
        labels: list[Sequence[str]] = []
        for context in contexts:
            are_known = all(label in LABEL_IDS for label in context.turn_labels)
            if are_known and len(context.turn_labels) == len(context.turns):
                labels.append(context.turn_labels)
            elif classifier is not None:
                labels.append(classifier.label(context.turns))
            else:
                labels.append([NEUTRAL] * len(context.turns))
        return labels

    def choose_labels(self, contexts: Sequence[Context], source: SourceBatch) -> list[str]:
        predicted = self.checkpoint.parts[PREDICTOR](**source).argmax(dim=1).tolist()
        return [_forced_label(context) or LABELS[number] for context, number in zip(contexts, predicted, strict=True)]

    def score_replies(self, contexts: Sequence[EncodedContext], labels: Sequence[str], said: Tensor) -> Tensor:
        source = stack_contexts(contexts, self.network.device)
        segments = self.reply_segments(contexts)[:, None].expand_as(said)
        logits: Tensor = self.network(
            **source, target_ids=said, target_segments=segments, response_labels=self._label_ids(labels)
        )
        return logits

    def rank_emotions(self, contexts: Sequence[Context]) -> list[list[str]]:
        """Return all labels of speaker 1's first turn, the most likely first, by the emotion classifier."""
        classifier = self.checkpoint.parts.get(CLASSIFIER)
        if classifier is None:
            raise CheckpointRefused(f"The checkpoint has no {CLASSIFIER}, which ranks emotions.")
        ranked = []
        for start in range(0, len(contexts), CLASSIFIED_AT_ONCE):
            turns = [context.turns[0] for context in contexts[start : start + CLASSIFIED_AT_ONCE]]
            order = classifier.probabilities(turns).argsort(dim=1, descending=True).tolist()
            ranked += [[LABELS[number] for number in row] for row in order]
        return ranked

    def _label_ids(self, labels: Sequence[str]) -> Tensor:
        return torch.tensor([LABEL_IDS[label] for label in labels], device=self.network.device)


class Meed2Family(TransformerFamily):
    parts: ClassVar[dict[str, Part]] = {
        PREDICTOR: WeightsPart("predictor.safetensors", ResponsePredictor),
        CLASSIFIER: ClassifierPart(),
    }

    def build(self, config: NetworkConfig) -> nn.Module:
        return Meed2(config)

    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> Objective:
        from generation.networks.preparing import Recipe, prepare_generator

        if part == PREDICTOR:
            return self._prepare_predictor(plan, say)
        return prepare_generator(self, Recipe(score_meed2, needs_labels=True), plan, world, say)

    def answerer(self, checkpoint: Checkpoint, settings: dict[str, Any]) -> Meed2Answerer:
        return Meed2Answerer(checkpoint, DecodingSettings(**settings))

    def take(self, name: str, place: str) -> Any:
        return _load_classifier(place, "cpu")

    def can_rank_emotions(self, folder: Path) -> bool:
        return (folder / CLASSIFIER).exists()

    def _prepare_predictor(self, plan: "Plan", say: "Say") -> Objective:
        """Prepare the training of a response predictor for a generator that exists. They share a tokenizer."""
        from generation.networks.pair_examples import LabelExamples
        from generation.networks.preparing import config_for, pair_examples, put_parts_in, taken_parts

        owner = load_checkpoint(plan.out)
        if owner.config.kind != plan.kind:
            raise TrainingRefused(f"{plan.out} is a {owner.config.kind}, which has no response predictor.")
        taken = taken_parts(self, plan)
        start = load_checkpoint(Path(plan.start)) if plan.start else None
        if start and (PREDICTOR not in start.parts or start.tokenizer.to_str() != owner.tokenizer.to_str()):
            raise TrainingRefused(f"{plan.start} has no response predictor, or another tokenizer than {plan.out}.")
        config = config_for(self, plan, owner, owner.tokenizer)
        training, validation = pair_examples(plan, owner.tokenizer, config, say, LabelExamples, needs_labels=True)
        torch.manual_seed(plan.seed)
        predictor = start.parts[PREDICTOR] if start else ResponsePredictor(config)

        def save() -> None:
            newest = load_checkpoint(plan.out)  # the generator may have been trained further meanwhile
            save_checkpoint(plan.out, newest.network, newest.tokenizer, {PREDICTOR: predictor, **taken})

        return Objective(
            predictor, training, validation, score_predictor, save, identity={"sizes": asdict(config)},
            finish=lambda: put_parts_in(plan, taken),
        )  # fmt: skip


def score_meed2(network: nn.Module, batch: Batch) -> Scored:
    """Compute the loss with the true label of each reply, as the paper trains it."""
    names = ("source_ids", "source_segments", "target_ids", "target_segments", "source_labels", "response_labels")
    return score_tokens(network(*(batch[name] for name in names)), batch["targets"])


def score_predictor(network: nn.Module, batch: Batch) -> Scored:
    names = ("source_ids", "source_segments", "source_labels")
    return score_labels(network(*(batch[name] for name in names)), batch["response_labels"])


def _forced_label(context: Context) -> str:
    if context.forced_label and context.forced_label not in LABEL_IDS:
        raise SettingsRefused(f"No reply can have the label {context.forced_label!r}; it is not one of the 41 labels.")
    return context.forced_label


def _load_classifier(place: str, device: str) -> Any:
    from generation.networks.emotion_classifier import EmotionClassifier  # imported here because it takes seconds

    return EmotionClassifier.load(place, device)
