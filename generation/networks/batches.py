"""Turn lists of numbers into tensors with padding at the end."""

from collections.abc import Sequence
from typing import TypedDict

import torch
from torch import Tensor

from generation.networks.tokenizing import PAD, EncodedContext


class SourceBatch(TypedDict):
    source_ids: Tensor  # [B, S] each
    source_segments: Tensor
    source_labels: Tensor


def stack(rows: Sequence[Sequence[int]], filler: int, device: str | torch.device = "cpu") -> Tensor:
    longest = max(len(row) for row in rows)
    padded = [[*row, *[filler] * (longest - len(row))] for row in rows]
    return torch.tensor(padded, dtype=torch.long, device=device)


def stack_contexts(contexts: Sequence[EncodedContext], device: str | torch.device = "cpu") -> SourceBatch:
    return SourceBatch(
        source_ids=stack([context.ids for context in contexts], PAD, device),
        source_segments=stack([context.segments for context in contexts], 0, device),
        source_labels=stack([context.labels for context in contexts], 0, device),
    )
