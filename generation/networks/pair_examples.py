"""Hold training examples (a context and its reply) as token ids, and turn some of them into a batch of tensors.

All ids are in a few flat arrays, which take much less memory than a list for each example.
"""

import hashlib
from array import array
from collections.abc import Iterable
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from generation.corpora.import_records import DialogRecord
from generation.emotions import LABEL_IDS, NEUTRAL
from generation.errors import DataRefused
from generation.networks.labeller import Labeller, label_ids
from generation.networks.tokenizing import PAD, encode_context, encode_reply
from generation.training.context_pairs import Pair, pairs_of
from generation.training.objective import IGNORED, Batch
from generation.training.ordering import Indices


class PairExamples:
    about_unlabelled = "without a label taken as neutral"
    about_no_labels = "has no labels, which {kind} needs; label_dialogs adds them"

    def __init__(
        self, pairs: Iterable[Pair], tokenizer: Tokenizer, max_tokens: int, labeller: Labeller | None = None
    ) -> None:
        source_ids, segments, labels, target_ids = array("i"), array("b"), array("b"), array("i")
        source_ends, target_ends = array("q", [0]), array("q", [0])
        reply_segments, reply_labels = array("b"), array("b")
        self.unlabelled = 0
        self.contexts_cut = 0
        for pair in pairs:
            labels_of_turns = [_check_label(label) for label in pair.labels]
            before = label_ids(tokenizer, labeller, pair.turns)
            context = encode_context(tokenizer, pair.turns, labels_of_turns, max_tokens, before)
            source_ids.extend(context.ids)
            segments.extend(context.segments)
            labels.extend(context.labels)
            source_ends.append(len(source_ids))
            target_ids.extend(encode_reply(tokenizer, pair.reply, max_tokens))
            target_ends.append(len(target_ids))
            reply_segments.append(context.reply_segment)
            reply_labels.append(LABEL_IDS[_check_label(pair.label)])
            self.unlabelled += not pair.label
            self.contexts_cut += context.turns_cut > 0
        if not reply_labels:
            raise DataRefused("no conversation in it has two turns.")
        self._source_ids, self._target_ids = np.asarray(source_ids), np.asarray(target_ids)
        self._segments, self._labels = np.asarray(segments), np.asarray(labels)
        self._source_ends, self._target_ends = np.asarray(source_ends), np.asarray(target_ends)
        self._reply_segments = np.asarray(reply_segments, dtype=np.int64)
        self.reply_labels = np.asarray(reply_labels, dtype=np.int64)
        # Each reply is scored on all its tokens but `<s>`.
        self.target_counts: npt.NDArray[np.int64] = np.diff(self._target_ends) - 1
        # Sort by the reply's length first: its tokens cost most, since each is scored against the whole vocabulary.
        self.sort_keys: npt.NDArray[np.int64] = self.target_counts * 1_000_000 + np.diff(self._source_ends)

    @classmethod
    def from_records(cls, records: Iterable[DialogRecord], tokenizer: Tokenizer, max_tokens: int) -> Self:
        return cls(pairs_of(records), tokenizer, max_tokens)

    def __len__(self) -> int:
        return len(self.reply_labels)

    def batch(self, indices: Indices, device: torch.device) -> Batch:
        """Return tensors [B, S] of the contexts and [B, T] of the replies. The decoder reads `target_ids` and has to
        predict `targets`, which are one token ahead."""
        ids = pad_rows(self._source_ids, self._source_ends, indices, PAD)
        replies = pad_rows(self._target_ids, self._target_ends, indices, PAD)
        targets = pad_rows(self._target_ids, self._target_ends, indices, IGNORED)[:, 1:]
        tensors = {
            "source_ids": ids,
            "source_segments": pad_rows(self._segments, self._source_ends, indices, 0),
            "source_labels": pad_rows(self._labels, self._source_ends, indices, 0),
            "target_ids": replies[:, :-1],
            "target_segments": np.broadcast_to(self._reply_segments[indices, None], targets.shape),
            "targets": targets,
            "response_labels": self.reply_labels[indices],
        }
        return {name: torch.from_numpy(np.array(values, np.int64)).to(device) for name, values in tensors.items()}

    def fingerprint(self) -> str:
        """Return a hash of the data and its order, so that a run is not resumed with other data."""
        digest = hashlib.sha256()
        for values in (self._source_ids, self._source_ends, self._labels, self._target_ids, self.reply_labels):
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()


class LabelExamples(PairExamples):
    """Examples with the same contexts, of which only the reply's label is to be predicted."""

    def __init__(
        self, pairs: Iterable[Pair], tokenizer: Tokenizer, max_tokens: int, labeller: Labeller | None = None
    ) -> None:
        super().__init__(pairs, tokenizer, max_tokens, labeller)
        self.target_counts = np.ones(len(self), dtype=np.int64)
        self.sort_keys = np.diff(self._source_ends)


def _check_label(label: str) -> str:
    if label and label not in LABEL_IDS:
        raise DataRefused(f"The data has a label {label!r}, which is not one of the 41 emotions and intents.")
    return label or NEUTRAL


def pad_rows(
    values: npt.NDArray[np.integer], ends: npt.NDArray[np.int64], indices: Indices, padding: int
) -> npt.NDArray[np.int64]:
    starts, lengths = ends[indices], ends[indices + 1] - ends[indices]
    columns = np.arange(lengths.max())
    is_inside = columns < lengths[:, None]
    indexes = np.where(is_inside, starts[:, None] + columns, 0)
    return np.where(is_inside, values[indexes], padding).astype(np.int64)
