"""Keep the vectors of a pool's replies in a file beside the checkpoint, and find the best reply for a context.

    best(x) = argmax over replies y of h_x . h_y, exactly: every reply is scored

The file is read by memory mapping and multiplied in blocks, so that neither depends on the size of the pool: a million
replies take 1.2 GB on the disk and a few MB in memory. Its name is a hash of what the vectors are computed from.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from generation.replaced_folders import write_beside

BEGIN = ".new."
EMBEDDED_AT_ONCE = 256
SORTED_AT_ONCE = 16 * EMBEDDED_AT_ONCE
SCORES_AT_ONCE = 8_000_000  # contexts x replies in a block: 32 MB

Vectors = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Tensor]


def open_vectors(
    checkpoint: Path, fingerprint: str, texts: Callable[[int, int], list[str]], count: int, width: int, embed: Embed
) -> Vectors:
    """Return the vectors [count, width] from the file, which is written if it is not there. Where nothing can be
    written beside the checkpoint, the file is a temporary one."""
    folder = checkpoint.with_name(f"{checkpoint.name}.vectors")
    path = folder / f"{fingerprint}.npy"
    known = _read_vectors(path, (count, width))
    if known is not None:
        return known
    if not _can_write_in(folder):
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            return _write_vectors(Path(file.name), texts, count, width, embed)
    with write_beside(folder, BEGIN, lambda: _new_file(folder)) as new:
        vectors = _write_vectors(new, texts, count, width, embed)
        new.chmod(0o644)
        new.replace(path)
        _remove_others(folder, path)
        return vectors


def _read_vectors(path: Path, shape: tuple[int, int]) -> Vectors | None:
    """Return what the file holds; None if it is not there, or was cut short or exchanged."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_right = isinstance(found, np.ndarray) and found.shape == shape and found.dtype == np.float32
    return cast(Vectors, found) if is_right else None


def _new_file(folder: Path) -> Path:
    opened, name = tempfile.mkstemp(prefix=BEGIN, suffix=".npy", dir=folder)
    os.close(opened)
    return Path(name)


def _can_write_in(folder: Path) -> bool:
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def best_replies(
    queries: Tensor, vectors: Vectors, left_out: Sequence[npt.NDArray[np.int64]], most_scores: int = SCORES_AT_ONCE
) -> tuple[Any, Any]:
    """Return (scores, numbers) of the best reply to each context, [B] each. `left_out` are the numbers of
    replies that must not answer a context; a score of -inf says that no other is there."""
    best = torch.full((len(queries),), -torch.inf, device=queries.device)
    numbers = torch.zeros(len(queries), dtype=torch.long, device=queries.device)
    rows = max(1, most_scores // max(1, len(queries)))
    for start in range(0, len(vectors), rows):
        block = torch.from_numpy(np.array(vectors[start : start + rows])).to(queries.device)  # [R, W]
        scores = queries @ block.T  # [B, R]
        for row, numbers_out in enumerate(left_out):
            here = numbers_out[(numbers_out >= start) & (numbers_out < start + rows)] - start
            scores[row, torch.from_numpy(here).to(queries.device)] = -torch.inf
        found, places = scores.max(dim=1)
        is_better = found > best
        best = torch.where(is_better, found, best)
        numbers = torch.where(is_better, places + start, numbers)
    return best.cpu().numpy(), numbers.cpu().numpy()


def _write_vectors(path: Path, texts: Callable[[int, int], list[str]], count: int, width: int, embed: Embed) -> Vectors:
    vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(count, width))
    for start in range(0, count, SORTED_AT_ONCE):
        part = texts(start, start + SORTED_AT_ONCE)
        order = sorted(range(len(part)), key=lambda place: len(part[place]))  # little padding
        for first in range(0, len(order), EMBEDDED_AT_ONCE):
            places = order[first : first + EMBEDDED_AT_ONCE]
            found = embed([part[place] for place in places]).float().cpu().numpy()
            vectors[start + np.array(places)] = found
    vectors.flush()
    return cast(Vectors, vectors)


def _remove_others(folder: Path, path: Path) -> None:
    """Remove vectors of former networks. A process that still reads one keeps it until it ends."""
    for other in folder.glob("*.npy"):
        if other != path and not other.name.startswith(BEGIN):
            with suppress(OSError):
                other.unlink()
