"""Build a network without initial weights, because they will be loaded from a file."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

Network = TypeVar("Network", bound=nn.Module)


def build_unfilled(build: Callable[[], Network]) -> Network:
    """Build the network without filling its weights, which would take time and memory for nothing. (torch's own way for
    this, the meta device, imports 70 MB of other modules.)"""
    with _Unfilled():
        return build()


class _Unfilled(TorchFunctionMode):
    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init" or func in _FILLING:
            return args[0] if args else given["tensor"]
        return func(*args, **given)


_FILLING = (torch.Tensor.normal_, torch.Tensor.uniform_, torch.Tensor.fill_, torch.Tensor.zero_)
