"""Name an emotion or topic of a text by fastText's classifier (Joulin et al. 2017), from a file of our own form.

    h = mean of the vectors of the text's words and word n-grams,   label = argmax of softmax(W h)

EmoPrepend and TopicPrepend (Rashkin et al. 2019) put the label of the context before it. The file is a safetensors file
with the words and labels in its header, so that a checkpoint never holds a file that only fastText's own code can read.
fastText trains the classifier, or reads a model file that the user names; this file needs neither fastText nor torch.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from generation.errors import CheckpointRefused, first_line

LABELLER = "labeller"
MOST_LABEL_TOKENS = 8
_END = "</s>"  # fastText's word at the end of a line
_TOKEN = re.compile(r"\.\.\.|\w+|[^\w\s]")
_FIRST_HASH, _HASH_PRIME, _NGRAM_PRIME = 2166136261, 16777619, 116049371
_32_BITS, _64_BITS = (1 << 32) - 1, (1 << 64) - 1

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Labeller:
    words: dict[str, int]
    labels: list[str]
    vectors: Matrix  # of the words, then of the buckets that n-grams are hashed into
    output: Matrix  # [labels, dimensions]
    longest_ngram: int

    def label(self, text: str) -> str:
        return self.labels[int(self.scores(text).argmax())]

    def scores(self, text: str) -> Matrix:
        """Return the logits of the labels. fastText's own `predict` gives their softmax."""
        rows = self._rows_of(text)
        hidden = self.vectors[rows].mean(axis=0) if rows else np.zeros(self.vectors.shape[1], dtype=np.float32)
        found: Matrix = self.output @ hidden
        return found

    def _rows_of(self, text: str) -> list[int]:
        tokens = [*tokens_of(text), _END]
        rows = [self.words[token] for token in tokens if token in self.words]
        buckets = len(self.vectors) - len(self.words)
        hashes = [_signed(_hash(token)) for token in tokens]
        for start, first in enumerate(hashes):
            key = first
            for later in hashes[start + 1 : start + self.longest_ngram] if buckets else ():
                key = (key * _NGRAM_PRIME + later) & _64_BITS
                rows.append(len(self.words) + key % buckets)
        return rows

    def digest(self) -> str:
        told = json.dumps([self.labels, list(self.words), self.longest_ngram])
        return hashlib.sha256(told.encode() + self.vectors.tobytes() + self.output.tobytes()).hexdigest()


def tokens_of(text: str) -> list[str]:
    """Split into lower-case words and punctuation marks.

    >>> tokens_of("I'm so PROUD...")
    ['i', "'", 'm', 'so', 'proud', '...']
    """
    return _TOKEN.findall(text.lower())


def label_ids(tokenizer: Any, labeller: Labeller | None, texts: Iterable[str]) -> list[int]:
    """Return the tokens of the label of these texts together, which stand before them; none without a labeller."""
    if labeller is None:
        return []
    # The published code joins turns by " </s> ", where fastText stops reading, so that it labels the oldest turn only.
    ids: list[int] = tokenizer.encode(labeller.label(" ".join(texts)), add_special_tokens=False).ids
    return ids[:MOST_LABEL_TOKENS]


class LabellerPart:
    """The labeller in a checkpoint."""

    file = f"{LABELLER}.safetensors"

    def write(self, part: Labeller, path: Path) -> None:
        save_labeller(part, path)

    def read(self, config: Any, path: Path, device: str) -> Labeller:
        return read_labeller(path)


def save_labeller(labeller: Labeller, path: Path) -> None:
    told = {"words": list(labeller.words), "labels": labeller.labels, "longest_ngram": labeller.longest_ngram}
    tensors = {"vectors": labeller.vectors, "output": labeller.output}
    save_file(tensors, path, metadata={name: json.dumps(value) for name, value in told.items()})
    path.chmod(0o644)


def read_labeller(path: Path) -> Labeller:
    try:
        with safe_open(path, framework="numpy") as file:
            told = {name: json.loads(value) for name, value in file.metadata().items()}
            vectors, output = file.get_tensor("vectors"), file.get_tensor("output")
        words, labels, longest = told["words"], told["labels"], told["longest_ngram"]
        if not (_are_texts(words) and _are_texts(labels) and labels and type(longest) is int):
            raise ValueError("its words or labels are no texts")
        labeller = Labeller({word: number for number, word in enumerate(words)}, labels, vectors, output, longest)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointRefused(f"{path} is no labeller that train_labeller wrote: {first_line(error)}") from error
    has_shapes = vectors.ndim == 2 and output.shape == (len(labels), vectors.shape[1])
    if not has_shapes or len(words) > len(vectors) or not (np.isfinite(vectors).all() and np.isfinite(output).all()):
        raise CheckpointRefused(f"{path} is broken: its numbers don't fit its words and labels.")
    return labeller


def _are_texts(values: Any) -> bool:
    """Return whether this is a list of texts. Raises UnicodeEncodeError for half a character."""
    return isinstance(values, list) and all(isinstance(one, str) and one.encode() for one in values)


def _hash(token: str) -> int:
    """Return fastText's hash of a word: FNV-1a, with bytes taken as signed."""
    found = _FIRST_HASH
    for byte in token.encode():
        found = ((found ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * _HASH_PRIME) & _32_BITS
    return found


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
