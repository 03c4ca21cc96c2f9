"""Write a network's weights into a checkpoint and read them again. Broken or misfitting weights are refused."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from generation.errors import CheckpointRefused
from generation.networks.network_config import NetworkConfig
from generation.networks.unfilled import build_unfilled

Network = TypeVar("Network", bound=nn.Module)


@dataclass(frozen=True)
class WeightsPart:
    """A part of a checkpoint that is another network with the same config."""

    file: str
    build: Callable[[NetworkConfig], nn.Module]

    def write(self, part: nn.Module, path: Path) -> None:
        write_weights(part, path)

    def read(self, config: NetworkConfig, path: Path, device: str) -> nn.Module:
        return read_weights(self.build, config, path, device)


def write_weights(network: nn.Module, path: Path) -> None:
    weights = {name: tensor.detach().contiguous().cpu() for name, tensor in network.state_dict().items()}
    save_file(weights, path, metadata={"format": "pt"})
    path.chmod(0o644)  # safetensors lets only this user read the file; background processes may run as another


def read_weights(build: Callable[[NetworkConfig], Network], config: NetworkConfig, path: Path, device: str) -> Network:
    try:
        weights = load_file(path)
    except (SafetensorError, OSError) as error:
        raise CheckpointRefused(f"{path} cannot be read: {error}") from error
    network = build_unfilled(lambda: build(config))
    _check_fits(network, weights, path)
    _check_are_finite(load_file(path), path)  # a second reading is freed at once, which takes less memory in the end
    weights = {name: tensor.float() for name, tensor in weights.items()}  # whatever precision they were saved in
    network.load_state_dict(weights, assign=True)
    return network.to(device).eval()


def _check_fits(network: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    if wrong:
        name = wrong[0]
        raise CheckpointRefused(
            f"{path} does not fit its config.json: {name} has shape {found.get(name, 'nothing')}, the config wants "
            f"{expected.get(name, 'nothing')} ({len(wrong)} such)."
        )
    for name, tensor in weights.items():
        if not tensor.is_floating_point():
            kind = str(tensor.dtype).removeprefix("torch.")
            raise CheckpointRefused(f"{path} does not hold a network: {name} is {kind}, where fractions belong.")


def _check_are_finite(weights: dict[str, Tensor], path: Path) -> None:
    for name, tensor in weights.items():
        if not bool(tensor.float().isfinite().all()):
            raise CheckpointRefused(f"{path} is broken: {name} holds numbers that are not finite.")
