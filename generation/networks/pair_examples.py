"""Pairs of a context and a reply as token ids, in a few flat arrays; and a batch of them as tensors."""

import hashlib
from array import array
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from generation.emotions import LABEL_IDS, NEUTRAL
from generation.errors import DataRefused
from generation.networks.tokenizing import PAD, encode_context, encode_reply
from generation.training.objective import IGNORED, Batch
from generation.training.ordering import Indices
from generation.training.pairs import Pair


class PairExamples:
    def __init__(self, pairs: Iterable[Pair], tokenizer: Tokenizer, max_tokens: int) -> None:
        source_ids, segments, labels, target_ids = array("i"), array("b"), array("b"), array("i")
        source_ends, target_ends = array("q", [0]), array("q", [0])
        reply_segments, reply_labels = array("b"), array("b")
        self.unlabelled = 0
        self.contexts_cut = 0
        for pair in pairs:
            context = encode_context(tokenizer, pair.turns, [_known(label) for label in pair.labels], max_tokens)
            source_ids.extend(context.ids)
            segments.extend(context.segments)
            labels.extend(context.labels)
            source_ends.append(len(source_ids))
            target_ids.extend(encode_reply(tokenizer, pair.reply, max_tokens))
            target_ends.append(len(target_ids))
            reply_segments.append(context.reply_segment)
            reply_labels.append(LABEL_IDS[_known(pair.label)])
            self.unlabelled += not pair.label
            self.contexts_cut += context.turns_cut > 0
        if not reply_labels:
            raise DataRefused("no conversation in it has two turns.")
        self._source_ids, self._target_ids = np.asarray(source_ids), np.asarray(target_ids)
        self._segments, self._labels = np.asarray(segments), np.asarray(labels)
        self._source_ends, self._target_ends = np.asarray(source_ends), np.asarray(target_ends)
        self._reply_segments = np.asarray(reply_segments, dtype=np.int64)
        self.reply_labels = np.asarray(reply_labels, dtype=np.int64)
        # Tokens that each reply is scored on: all but `<s>`.
        self.target_counts: npt.NDArray[np.int64] = np.diff(self._target_ends) - 1
        # By reply first: its tokens cost most, since each is scored against the whole vocabulary.
        self.sort_keys: npt.NDArray[np.int64] = self.target_counts * 1_000_000 + np.diff(self._source_ends)

    def __len__(self) -> int:
        return len(self.reply_labels)

    def batch(self, indices: Indices, device: torch.device) -> Batch:
        """[B, S] of the contexts, [B, T] of the replies; `target_ids` is what is read, `targets` what is to be said."""
        ids = _padded(self._source_ids, self._source_ends, indices, PAD)
        replies = _padded(self._target_ids, self._target_ends, indices, PAD)
        targets = _padded(self._target_ids, self._target_ends, indices, IGNORED)[:, 1:]
        tensors = {
            "source_ids": ids,
            "source_segments": _padded(self._segments, self._source_ends, indices, 0),
            "source_labels": _padded(self._labels, self._source_ends, indices, 0),
            "target_ids": replies[:, :-1],
            "target_segments": np.broadcast_to(self._reply_segments[indices, None], targets.shape),
            "targets": targets,
            "response_labels": self.reply_labels[indices],
        }
        return {name: torch.from_numpy(np.array(values, np.int64)).to(device) for name, values in tensors.items()}

    def fingerprint(self) -> str:
        """Identify the data and its order, so that a run is not resumed with other data."""
        digest = hashlib.sha256()
        for values in (self._source_ids, self._source_ends, self._labels, self._target_ids, self.reply_labels):
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()


class LabelExamples(PairExamples):
    """The same contexts, where only the label of the reply is to be predicted."""

    def __init__(self, pairs: Iterable[Pair], tokenizer: Tokenizer, max_tokens: int) -> None:
        super().__init__(pairs, tokenizer, max_tokens)
        self.target_counts = np.ones(len(self), dtype=np.int64)
        self.sort_keys = np.diff(self._source_ends)


def _known(label: str) -> str:
    if label and label not in LABEL_IDS:
        raise DataRefused(f"The data has a label {label!r}, which is none of the 41 emotions and intents.")
    return label or NEUTRAL


def _padded(
    values: npt.NDArray[np.integer], ends: npt.NDArray[np.int64], indices: Indices, padding: int
) -> npt.NDArray[np.int64]:
    starts, lengths = ends[indices], ends[indices + 1] - ends[indices]
    columns = np.arange(lengths.max())
    is_inside = columns < lengths[:, None]
    places = np.where(is_inside, starts[:, None] + columns, 0)
    return np.where(is_inside, values[places], padding).astype(np.int64)
