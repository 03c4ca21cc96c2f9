"""Multiply by a network's output layer faster on a CPU: its weights are rearranged once. Uses private torch operators.

torch by itself calls MKL, which rearranges the large matrix at every call; with few rows that takes as long as
multiplying. oneDNN, which torch contains as well, can store the rearranged matrix. `benchmarks.decoding` shows the
gain, and docs/decisions/0015 has the numbers. torch.compile replaces linear layers by the same operators. They have no
public name, but torch is pinned, and no other file uses private operators.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class PackedLinear(nn.Module):
    """A linear layer, y = x W^T + b, for answering only: it can be neither trained nor saved."""

    def __init__(self, weight: Tensor, bias: Tensor, multiple_of: int) -> None:
        super().__init__()
        self.out_features = len(weight)
        padding = -len(weight) % multiple_of
        self._weight = torch.ops.mkldnn._reorder_linear_weight(F.pad(weight.detach(), (0, 0, 0, padding)))
        self._bias = F.pad(bias.detach(), (0, padding), value=-torch.inf)

    def forward(self, states: Tensor) -> Tensor:
        """[..., W] -> [..., out_features]"""
        return self.padded(states.flatten(0, -2))[:, : self.out_features].view(*states.shape[:-1], -1)

    def padded(self, rows: Tensor) -> Tensor:
        """[rows, W] -> [rows, out_features rounded up to the next multiple]; the columns of the padding are -inf."""
        columns: Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._weight, self._bias, "none", [], "")
        return columns


def can_pack(layer: nn.Linear) -> bool:
    is_plain = layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32
    return is_plain and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
