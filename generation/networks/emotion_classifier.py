"""`emotion-classifier`: tell which of the 41 emotions and intents a turn shows, and train such a classifier.

It is any Hugging Face encoder with a head for these labels. The paper's is RoBERTa; `start_from_scratch` makes a small
one if no pre-trained encoder is at hand. As in section 3.2 of the MEED2 paper, it learns from situations with one of
the 32 emotions, and from turns with one of the eight intents or neutral.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer, processors
from torch import Tensor, nn
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)
from transformers.utils import logging

from generation.corpora.import_records import DialogRecord
from generation.emotions import EMOTIONS, INTENTS, LABEL_IDS, LABELS, NEUTRAL
from generation.errors import CheckpointRefused, DataRefused, TrainingRefused, first_line
from generation.networks.preparing import describe_tokenizer, stored_tokenizer
from generation.networks.tokenizing import BEGIN, END, SPECIAL_TOKENS, load_tokenizer, train_tokenizer
from generation.replaced_folders import replace_folder
from generation.training.objective import Batch, Objective, Scored, score_labels
from generation.training.ordering import Indices
from generation.training.plan import Plan, Say
from generation.training.world import World

logging.disable_progress_bar()  # it would fill the log of a background process

_SPOKEN = {*INTENTS, NEUTRAL}
_SIZES = {"width": 128, "heads": 4, "layers": 2}  # of a classifier from scratch

NAMES: dict[str, Any] = {"id2label": dict(enumerate(LABELS)), "label2id": LABEL_IDS}


class EmotionClassifier:
    """`network` is the Hugging Face model itself, for training."""

    def __init__(self, network: Any, tokenizer: Any, max_tokens: int = 128) -> None:
        self.network: nn.Module = network.eval()
        self.tokenizer = tokenizer
        self.max_tokens = min(max_tokens, tokenizer.model_max_length)

    @classmethod
    def start_from(cls, encoder: str) -> Self:
        """Take a pre-trained encoder, from a folder or the hub, and give it a new head."""
        network = AutoModelForSequenceClassification.from_pretrained(
            encoder, num_labels=len(LABELS), use_safetensors=True, ignore_mismatched_sizes=True, **NAMES
        )
        return cls(network, AutoTokenizer.from_pretrained(encoder))

    @classmethod
    def start_from_scratch(cls, tokenizer: Tokenizer, width: int, heads: int, layers: int) -> Self:
        """Build RoBERTa's architecture in another size, with a tokenizer of ours."""
        config = RobertaConfig(
            vocab_size=tokenizer.get_vocab_size(),
            hidden_size=width,
            num_attention_heads=heads,
            num_hidden_layers=layers,
            intermediate_size=4 * width,
            max_position_embeddings=130,  # for 128 tokens: RoBERTa's positions begin after its pad token's id, 1
            type_vocab_size=1,
            num_labels=len(LABELS),
            **NAMES,
        )
        begin, pad, end, unknown = SPECIAL_TOKENS
        with_ends = Tokenizer.from_str(tokenizer.to_str())
        with_ends.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {end}", special_tokens=[(begin, BEGIN), (end, END)]
        )
        wrapped = PreTrainedTokenizerFast(
            tokenizer_object=with_ends,
            bos_token=begin,
            cls_token=begin,
            pad_token=pad,
            eos_token=end,
            sep_token=end,
            unk_token=unknown,
            model_max_length=128,
        )
        return cls(RobertaForSequenceClassification(config), wrapped)

    @classmethod
    def load(cls, folder: str, device: str = "cpu") -> Self:
        try:
            network, found = AutoModelForSequenceClassification.from_pretrained(
                folder, use_safetensors=True, output_loading_info=True
            )
            tokenizer = AutoTokenizer.from_pretrained(folder)
        except Exception as error:  # the library raises errors of any class
            raise CheckpointRefused(f"The emotion classifier {folder} cannot be loaded: {first_line(error)}") from error
        if missing := sorted(found["missing_keys"]):
            raise CheckpointRefused(f"The emotion classifier {folder} is not complete: its weights lack {missing[0]}.")
        if sorted(network.config.id2label.values()) != sorted(LABELS):
            raise CheckpointRefused(f"The emotion classifier {folder} does not name the 41 labels as its own.")
        return cls(network.to(device), tokenizer)

    def save(self, folder: Path) -> None:
        network: Any = self.network
        network.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)

    def encode(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """Return input_ids and attention_mask, [B, T] each, on the network's device."""
        encoded = self.tokenizer(
            list(texts), padding=True, truncation=True, max_length=self.max_tokens, return_tensors="pt"
        )
        return {name: encoded[name].to(self.device) for name in ("input_ids", "attention_mask")}

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    @torch.inference_mode()
    def probabilities(self, texts: Sequence[str]) -> Tensor:
        """Return probabilities [texts, 41] in the order of LABELS, whatever order the model's own labels have."""
        network: Any = self.network
        logits = network(**self.encode(texts)).logits.float()
        ids = {name: number for number, name in network.config.id2label.items()}
        ordered: Tensor = logits[:, [ids[label] for label in LABELS]].softmax(dim=-1)
        return ordered

    def label(self, texts: Sequence[str], batch_size: int = 64) -> list[str]:
        labels: list[str] = []
        for start in range(0, len(texts), batch_size):
            best = self.probabilities(texts[start : start + batch_size]).argmax(dim=-1)
            labels += [LABELS[int(number)] for number in best]
        return labels


class TextExamples:
    def __init__(self, texts: Iterable[tuple[str, str]], classifier: EmotionClassifier) -> None:
        found = list(texts)
        if not found:
            raise DataRefused("There is no situation with an emotion and no utterance with an intent to learn from.")
        self._labels = np.array([LABEL_IDS[label] for _, label in found], dtype=np.int64)
        encoded = classifier.tokenizer([text for text, _ in found], truncation=True, max_length=classifier.max_tokens)[
            "input_ids"
        ]
        self._ids: list[npt.NDArray[np.int32]] = [np.array(ids, dtype=np.int32) for ids in encoded]
        self._pad = int(classifier.tokenizer.pad_token_id)
        self.sort_keys = np.array([len(ids) for ids in self._ids], dtype=np.int64)
        self.target_counts = np.ones(len(found), dtype=np.int64)

    def __len__(self) -> int:
        return len(self._ids)

    def batch(self, indices: Indices, device: torch.device) -> Batch:
        ids = np.full((len(indices), self.sort_keys[indices].max()), self._pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, index in enumerate(indices):
            ids[row, : len(self._ids[index])] = self._ids[index]
            mask[row, : len(self._ids[index])] = 1
        tensors = {"input_ids": ids, "attention_mask": mask, "labels": self._labels[indices]}
        return {name: torch.from_numpy(values).to(device) for name, values in tensors.items()}

    def fingerprint(self) -> str:
        digest = hashlib.sha256(self._labels.tobytes())
        for ids in self._ids:
            digest.update(ids.tobytes() + b"|")
        return digest.hexdigest()


def labelled_texts(records: Iterable[DialogRecord]) -> Iterator[tuple[str, str]]:
    """Yield (text, label) of each situation and each turn once, though several lines of a conversation repeat them."""
    seen: set[tuple[str, str]] = set()
    for record in records:
        utterances = zip([*record.turns, record.gold], [*record.turn_labels, record.gold_label], strict=False)
        spoken = [(text, label) for text, label in utterances if text and label in _SPOKEN]
        if len(record.turn_labels) != len(record.turns):
            spoken = [(record.gold, record.gold_label)] if record.gold and record.gold_label in _SPOKEN else []
        situation = [(record.situation, record.emotion)] if record.situation and record.emotion in EMOTIONS else []
        for found in (*situation, *spoken):
            if found not in seen:
                seen.add(found)
                yield found


class EmotionClassifierFamily:
    """Trains like a family of networks, but is not a generator. Its checkpoint is a folder as Hugging Face writes
    it."""

    def train_tokenizer(self, texts: Iterable[str], plan: Plan) -> Tokenizer:
        return train_tokenizer(texts, plan.vocabulary_size)

    def load_tokenizer(self, path: Path) -> Tokenizer:
        return load_tokenizer(path)

    def prepare(self, part: str, plan: Plan, world: World, say: Say) -> Objective:
        """Start from any Hugging Face encoder, by folder or name or, without one, from scratch with a small one."""
        torch.manual_seed(plan.seed)
        classifier = self._start_classifier(plan, world)
        training = TextExamples(labelled_texts(plan.data.training_records()), classifier)
        validation = TextExamples(labelled_texts(plan.data.validation_records()), classifier)
        say(f"training: {len(training):,} labelled texts; validation: {len(validation):,}.")
        return Objective(
            classifier.network,
            training,
            validation,
            score_classifier,
            save=lambda: _save(plan.out, classifier),
            identity={} if plan.start else {"tokenizer": describe_tokenizer(self, plan)},
        )

    def _start_classifier(self, plan: Plan, world: World) -> EmotionClassifier:
        if not plan.start:
            texts = (text for text, _ in labelled_texts(plan.data.training_records()))
            sizes = {name: plan.sizes.get(name, size) for name, size in _SIZES.items()}
            return EmotionClassifier.start_from_scratch(stored_tokenizer(self, plan, world, texts), **sizes)
        try:
            return EmotionClassifier.start_from(plan.start)
        except Exception as error:  # the library raises errors of any class
            raise TrainingRefused(f"The encoder {plan.start} can't be started from: {first_line(error)}") from error


def score_classifier(network: nn.Module, batch: Batch) -> Scored:
    logits = network(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    return score_labels(logits, batch["labels"])


def _save(out: Path, classifier: EmotionClassifier) -> None:
    with replace_folder(out) as new:
        classifier.save(new)
