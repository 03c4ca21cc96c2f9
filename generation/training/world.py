"""Join the processes that train together: a single one, or those that torchrun has started; choose devices."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from generation.errors import TrainingRefused


@dataclass(frozen=True)
class World:
    rank: int
    size: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """Return whether this is the one process that writes files and reports."""
        return self.rank == 0

    def wrap(self, network: nn.Module, has_idle_parameters: bool = False) -> nn.Module:
        if self.size == 1:
            return network
        ids = [self.device] if self.device.type == "cuda" else None
        return DistributedDataParallel(network, device_ids=ids, find_unused_parameters=has_idle_parameters)

    def sum(self, values: Sequence[float]) -> list[float]:
        """Add the values over all processes, in double precision. All processes get the same sums."""
        if self.size == 1:
            return list(values)
        summed = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(summed)
        return summed.tolist()

    def wait(self) -> None:
        if self.size > 1:
            dist.barrier()


@contextmanager
def join_world(device_name: str) -> Iterator[World]:
    size, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    device = _choose_device(device_name, int(os.environ.get("LOCAL_RANK", 0)) if size > 1 else None)
    if size == 1:
        yield World(0, 1, device)
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield World(rank, size, device)
    finally:
        dist.destroy_process_group()


def _choose_device(name: str, local_rank: int | None) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise TrainingRefused(f"There is no device {name!r}; name auto, cpu, cuda or cuda:1.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise TrainingRefused("This machine has no GPU that torch can use; leave --device out to train on the CPU.")
    if device.type == "cuda" and local_rank is not None:
        if local_rank >= torch.cuda.device_count():
            raise TrainingRefused(f"Process {local_rank} has no GPU: this machine has {torch.cuda.device_count()}.")
        device = torch.device("cuda", local_rank)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    return device
