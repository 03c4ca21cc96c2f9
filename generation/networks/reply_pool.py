"""Collect the replies among which a retrieval network chooses, with the place from which each was taken.

A pool is a JSONL file, a line for each distinct reply: its text, its dialog, its turn in it (from 1), and the dataset
or file. `opening` is a hash of the dialog's first turn: a dialog is not answered with a reply that was taken from
itself. This file imports no torch.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from generation.corpora.import_records import DialogRecord, storable
from generation.errors import CheckpointRefused, DataRefused, SettingsRefused

POOL_FILE = "pool.jsonl"
MOST_TOKENS = 20  # of a reply, as in Rashkin et al. (2019)
MOST_REPLIES = 1_000_000

Named = tuple[str, DialogRecord]  # a dialog, and the dataset or file that it is from


@dataclass(frozen=True, slots=True)
class PooledReply:
    text: str
    dialog: str
    turn: int
    dataset: str
    opening: int

    @property
    def source(self) -> dict[str, Any]:
        """Return what a candidate keeps of it, for researchers."""
        return {"dataset": self.dataset, "dialog": self.dialog, "turn": self.turn}


class Pool:
    """Reads replies from the file when they are asked for, so that a million of them take 16 MB. It stays readable if
    the file is replaced."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise CheckpointRefused(f"{path} can't be read: {error.strerror}.") from error
        ends, openings = [0], []
        try:
            for line in self._file:
                ends.append(ends[-1] + len(line))
                openings.append(_parse(line).opening)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CheckpointRefused(f"{path} is broken: line {len(ends) - 1} is no reply of a pool.") from error
        if not openings:
            raise CheckpointRefused(f"{path} has no reply to choose.")
        self._ends = np.array(ends, dtype=np.int64)
        self.openings: npt.NDArray[np.uint64] = np.array(openings, dtype=np.uint64)

    def __len__(self) -> int:
        return len(self.openings)

    def __getitem__(self, number: int) -> PooledReply:
        start, end = self._ends[number : number + 2].tolist()
        self._file.seek(start)
        return _parse(self._file.read(end - start))

    def texts(self, start: int, end: int) -> list[str]:
        return [self[number].text for number in range(start, min(end, len(self)))]

    def own_replies(self, turns: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the numbers of the replies that were taken from a dialog that begins as this one."""
        return np.flatnonzero(self.openings == np.uint64(opening_of(turns[0])))

    def digest(self) -> str:
        self._file.seek(0)
        return hashlib.file_digest(self._file, "sha256").hexdigest()

    def copy_to(self, path: Path) -> None:
        self._file.seek(0)
        with path.open("wb") as file:
            shutil.copyfileobj(self._file, file)


class PoolPart:
    """The pool in a checkpoint."""

    file = POOL_FILE

    def write(self, part: Pool, path: Path) -> None:
        part.copy_to(path)

    def read(self, config: Any, path: Path, device: str) -> Pool:
        return Pool(path)


def make_pool(
    dialogs: Iterator[Named], count_tokens: Callable[[str], int], path: Path, most: int = MOST_REPLIES
) -> Pool:
    """Write the replies of at most 20 tokens, each once. `count_tokens` returns 0 for a text with unknown words.

    All turns but the first are replies, whoever says them. If there are more than `most`, those with the smallest
    hashes of their text stay, which is a sample that does not depend on the order.
    """
    seen: set[int] = set()
    every = path.with_suffix(".all")
    with every.open("w", encoding="utf-8") as file:
        for reply in _replies_of(dialogs):
            key = hash_of_text(reply.text)
            if key not in seen and 0 < count_tokens(reply.text) <= MOST_TOKENS:
                seen.add(key)
                file.write(_write(reply))
    if not seen:
        raise DataRefused(f"No reply in the data has at most {MOST_TOKENS} tokens that the network knows.")
    if len(seen) > most:
        limit = int(np.partition(np.fromiter(seen, np.uint64, len(seen)), most - 1)[most - 1])
        sampled = path.with_suffix(".sample")
        with every.open(encoding="utf-8") as lines, sampled.open("w", encoding="utf-8") as file:
            file.writelines(line for line in lines if hash_of_text(json.loads(line)["text"]) <= limit)
        sampled.replace(every)
    every.replace(path)
    return Pool(path)


def check_no_settings(settings: dict[str, Any], max_tokens: int, vocabulary_size: int) -> dict[str, Any]:
    """Refuse all settings: which reply is the best one leaves nothing to choose."""
    if settings:
        raise SettingsRefused(f"There is no setting {min(settings)!r}: retrieval takes the best reply of its pool.")
    return {}


def opening_of(turn: str) -> int:
    return hash_of_text(" ".join(turn.split()))


def hash_of_text(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _replies_of(dialogs: Iterator[Named]) -> Iterator[PooledReply]:
    for dataset, record in dialogs:
        turns = [*record.turns, *filter(None, [record.gold]), *_following(record)]
        dialog = str(record.source.get("conv_id") or record.external_id)
        for number, text in enumerate(turns[1:], 2):
            yield PooledReply(text, dialog, number, dataset, opening_of(turns[0]))


def _following(record: DialogRecord) -> list[str]:
    following = record.source.get("next_turn") if record.gold else None
    return [str(following)] if following else []


def _write(reply: PooledReply) -> str:
    values = {"text": reply.text, **reply.source, "opening": f"{reply.opening:016x}"}
    return json.dumps(values, ensure_ascii=False) + "\n"


def _parse(line: bytes) -> PooledReply:
    values = json.loads(line)
    kinds = {"text": str, "dialog": str, "turn": int, "dataset": str}
    told = {name: values[name] for name in kinds}
    opening = int(values["opening"], 16)
    if any(type(told[name]) is not kind for name, kind in kinds.items()) or opening >> 64:
        raise ValueError("a value is of another kind")
    texts = "\n".join((told["text"], told["dialog"], told["dataset"]))
    if storable(texts) != texts:
        raise ValueError("it has characters that a database refuses")
    return PooledReply(**told, opening=opening)
