"""The emotion classifier's lessons, as in section 3.2: situations with one of the 32 emotions, and utterances with one
of the eight intents or neutral."""

import hashlib
import shutil
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import torch

from generation.corpora.records import DialogRecord
from generation.networks.emotion_classifier import EmotionClassifier
from generation.networks.labels import EMOTIONS, INTENTS, LABEL_IDS, NEUTRAL
from generation.training.examples import Batch
from generation.training.objectives import Objective, score_classifier
from generation.training.ordering import Indices
from generation.training.pairs import DataRefused
from generation.training.preparing import Plan, Say, kept_tokenizer
from generation.training.settings import TrainingRefused
from generation.training.world import World

_SPOKEN = {*INTENTS, NEUTRAL}
_SIZES = {"width": 128, "heads": 4, "layers": 2}  # of a classifier from scratch


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
    """Each situation and each utterance once, though several lines of a conversation repeat them."""
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


def prepare_classifier(plan: Plan, world: World, say: Say) -> Objective:
    """From any encoder of Hugging Face, by folder or name; or, without one, a small one from scratch."""
    torch.manual_seed(plan.seed)
    classifier = _start(plan, world)
    training = TextExamples(labelled_texts(plan.data.training_records()), classifier)
    validation = TextExamples(labelled_texts(plan.data.validation_records()), classifier)
    say(f"training: {len(training):,} labelled texts; validation: {len(validation):,}.")
    return Objective(
        classifier.network, training, validation, score_classifier, lambda: _save(plan, classifier)
    )  # fmt: skip


def _start(plan: Plan, world: World) -> EmotionClassifier:
    if not plan.start:
        texts = (text for text, _ in labelled_texts(plan.data.training_records()))
        sizes = {name: plan.sizes.get(name, size) for name, size in _SIZES.items()}
        return EmotionClassifier.start_from_scratch(kept_tokenizer(plan, world, texts), **sizes)
    try:
        return EmotionClassifier.start_from(plan.start)
    except Exception as error:  # the library raises whatever it meets
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TrainingRefused(f"The encoder {plan.start} can't be started from: {reason}") from error


def _save(plan: Plan, classifier: EmotionClassifier) -> None:
    """A folder of its own in Hugging Face form: written beside and renamed."""
    new, former = (plan.out.with_name(f".{plan.out.name}.{word}") for word in ("new", "former"))
    for folder in (new, former):
        shutil.rmtree(folder, ignore_errors=True)
    classifier.save(new)
    if plan.out.exists():
        plan.out.rename(former)
    new.rename(plan.out)
    shutil.rmtree(former, ignore_errors=True)
