"""Start a network's words from the vectors of a file in word2vec's form (text or binary) or GloVe's."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import nn

from generation.errors import TrainingRefused

Vector = npt.NDArray[np.float32]
_LONGEST_WORD_BYTES = 1000


def fill_words(words: nn.Embedding, tokenizer: Tokenizer, path: Path, say: Callable[[str], None]) -> str:
    """Copy the file's vectors into the table of words; other words keep what they have. Return a hash of what was
    copied."""
    digest, found = hashlib.sha256(), 0
    with torch.no_grad():
        for word, vector in _read_vectors(path):
            number = tokenizer.token_to_id(word)
            if number is None:
                continue
            if len(vector) != words.embedding_dim:
                raise TrainingRefused(
                    f"{path} has vectors of {len(vector)} numbers; this network's words have {words.embedding_dim}."
                )
            if not np.isfinite(vector).all():
                raise TrainingRefused(f"{path} is broken: the vector of {word!r} holds numbers that are not finite.")
            words.weight[number] = torch.from_numpy(vector.copy())
            digest.update(word.encode() + vector.tobytes())
            found += 1
    if not found:
        raise TrainingRefused(f"{path} has a vector for none of the {tokenizer.get_vocab_size():,} words.")
    say(f"{found:,} of {tokenizer.get_vocab_size():,} words start from {path.name}.")
    return digest.hexdigest()[:16]


def _read_vectors(path: Path) -> Iterator[tuple[str, Vector]]:
    try:
        with path.open("rb") as file:
            first = file.readline(_LONGEST_WORD_BYTES * 100)
            head = first.split()
            if len(head) == 2 and all(number.isdigit() for number in head):  # word2vec's first line: how many, how long
                count, length = map(int, head)
                yield from _read_lines(file, path) if _is_text(file, length) else _read_binary(file, count, length)
            else:
                file.seek(0)
                yield from _read_lines(file, path)
    except OSError as error:
        raise TrainingRefused(f"{path} can't be read: {error.strerror}.") from error
    except ValueError as error:
        raise TrainingRefused(f"{path} does not hold word vectors: {error}.") from error


def _is_text(file: BinaryIO, length: int) -> bool:
    """Return whether the next line is a word and so many numbers in digits."""
    place = file.tell()
    parts = file.readline().split()
    file.seek(place)
    try:
        return len([float(part) for part in parts[-length:]]) == length < len(parts)
    except ValueError:
        return False


def _read_lines(file: BinaryIO, path: Path) -> Iterator[tuple[str, Vector]]:
    length = 0
    for number, line in enumerate(file, 1):
        word, _, rest = line.rstrip().partition(b" ")
        vector = np.array(rest.split(), dtype=np.float32)
        length = length or len(vector)
        if not length:
            raise ValueError(f"its line {number} is not a word and its numbers")
        if len(vector) != length:
            raise ValueError(f"its line {number} has {len(vector)} numbers, earlier ones {length}")
        yield word.decode("utf-8", "replace"), vector


def _read_binary(file: BinaryIO, count: int, length: int) -> Iterator[tuple[str, Vector]]:
    for _ in range(count):
        word = bytearray()
        while (letter := file.read(1)) != b" ":
            if not letter or len(word) > _LONGEST_WORD_BYTES:
                raise ValueError("it ends early, or is not what its first line says")
            if letter != b"\n":
                word += letter
        stored = file.read(4 * length)
        if len(stored) < 4 * length:
            raise ValueError("it ends early")
        yield word.decode("utf-8", "replace"), np.frombuffer(stored, dtype="<f4")
