"""Hold the training examples of TRS, Multi-TR, MoEL, MIME and EmpDG: a context, the listener's reply, an emotion.

One example a listener turn. The emotion is the dialog's, one of the 32; IGNORED where the data has none.
"""

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from generation.corpora.import_records import DialogRecord
from generation.emotions import MOEL_EMOTIONS
from generation.errors import DataRefused
from generation.networks.empathy_words import PAD, encode_turns, encode_words
from generation.networks.pair_examples import pad_rows
from generation.training.context_pairs import Pair, pairs_of
from generation.training.objective import IGNORED, Batch
from generation.training.ordering import Indices

_EMOTION_IDS = {emotion: number for number, emotion in enumerate(MOEL_EMOTIONS)}


class EmpathyExamples:
    about_unlabelled = "without an emotion, which teach words only"
    about_no_labels = "names no emotions of dialogs, which {kind} learns to recognise"

    def __init__(self, pairs: Iterable[Pair], tokenizer: Tokenizer, max_tokens: int) -> None:
        source_ids, speakers, target_ids = array("i"), array("b"), array("i")
        source_ends, target_ends, emotions = array("q", [0]), array("q", [0]), array("b")
        self.unlabelled = 0
        self.contexts_cut = 0
        for pair in pairs:
            context = encode_turns(tokenizer, pair.turns, max_tokens)
            source_ids.extend(context.ids)
            speakers.extend(context.speakers)
            source_ends.append(len(source_ids))
            target_ids.extend(encode_words(tokenizer, pair.reply, max_tokens))
            target_ends.append(len(target_ids))
            emotions.append(_EMOTION_IDS.get(pair.emotion, IGNORED))
            self.unlabelled += pair.emotion not in _EMOTION_IDS
            self.contexts_cut += context.turns_cut > 0
        if not emotions:
            raise DataRefused("no listener replies in it.")
        self._source_ids, self._target_ids = np.asarray(source_ids), np.asarray(target_ids)
        self._source_ends, self._target_ends = np.asarray(source_ends), np.asarray(target_ends)
        self._speakers = np.asarray(speakers)
        self.emotions = np.asarray(emotions, dtype=np.int64)
        self.target_counts: npt.NDArray[np.int64] = np.diff(self._target_ends) - 1  # SOS is not predicted
        self.sort_keys: npt.NDArray[np.int64] = self.target_counts * 1_000_000 + np.diff(self._source_ends)

    @classmethod
    def from_records(cls, records: Iterable[DialogRecord], tokenizer: Tokenizer, max_tokens: int) -> Self:
        return cls(listener_pairs(records), tokenizer, max_tokens)

    def __len__(self) -> int:
        return len(self.emotions)

    def batch(self, indices: Indices, device: torch.device) -> Batch:
        """Return tensors [B, S] of the contexts, [B, T] of the replies and [B] of the emotions. The decoder reads
        `target_ids` and has to predict `targets`, which are one word ahead."""
        return {name: torch.from_numpy(values).to(device) for name, values in self.rows(indices).items()}

    def rows(self, indices: Indices) -> dict[str, npt.NDArray[np.int64]]:
        replies = pad_rows(self._target_ids, self._target_ends, indices, PAD)
        return {
            "source_ids": pad_rows(self._source_ids, self._source_ends, indices, PAD),
            "source_speakers": pad_rows(self._speakers, self._source_ends, indices, PAD),
            "target_ids": replies[:, :-1],
            "targets": pad_rows(self._target_ids, self._target_ends, indices, IGNORED)[:, 1:],
            "emotions": self.emotions[indices],
        }

    def fingerprint(self) -> str:
        """Return a hash of the data and its order, so that a run is not resumed with other data."""
        digest = hashlib.sha256()
        for values in (self._source_ids, self._source_ends, self._target_ids, self.emotions):
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()


def listener_pairs(records: Iterable[DialogRecord]) -> Iterator[Pair]:
    """Yield the replies of the listener, who is speaker 2."""
    return (pair for pair in pairs_of(records) if len(pair.turns) % 2)


def texts_of(records: Iterable[DialogRecord]) -> Iterator[str]:
    """Yield each turn once, and each situation once: what a vocabulary is made of."""
    situations: set[str] = set()

    def noted() -> Iterator[DialogRecord]:
        for record in records:
            situations.add(record.situation)
            yield record

    for pair in pairs_of(noted()):
        yield from pair.turns if len(pair.turns) == 1 else ()
        yield pair.reply
    yield from sorted(situations)
