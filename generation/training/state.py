"""Save and load the state of a training run, and refuse to resume it with other options.

Weights, optimisers and position are in one safetensors file, with the numbers as JSON in its header. The file is
written beside the old one and then renamed, so it is complete or absent. It does not hold the state of random
generators, because the loop seeds each step by its number. Nothing is unpickled.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from generation.errors import TrainingRefused

STATE = "state.safetensors"

Optimisers = Mapping[str, torch.optim.Optimizer]


@dataclass
class RunState:
    step: int = 0
    epoch: int = 0
    position: int = 0  # batches done in this epoch
    loss_sum: float = 0.0  # of training examples since the last validation
    loss_count: float = 0.0
    best_value: float | None = None  # of the objective's goal
    best_step: int = 0
    validations_since_best: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    stopped: str = ""  # why the run stopped
    history: list[dict[str, Any]] = field(default_factory=list)  # one entry for each validation


def save_state(
    folder: Path, state: RunState, identity: dict[str, Any], network: nn.Module, optimisers: Optimisers,
    scaler: torch.amp.GradScaler,
) -> None:  # fmt: skip
    metadata = {"state": asdict(state), "identity": identity, "scaler": scaler.state_dict()}
    tensors = dict(_list_tensors(network, optimisers))
    new = folder / f"{STATE}.new"
    save_file(tensors, new, metadata={name: json.dumps(value) for name, value in metadata.items()})
    with new.open("rb") as file:
        os.fsync(file.fileno())
    new.replace(folder / STATE)


def load_state(
    folder: Path, identity: dict[str, Any], network: nn.Module, optimisers: Optimisers,
    scaler: torch.amp.GradScaler,
) -> RunState:  # fmt: skip
    """Restore network, optimisers and scaler, and return the state, or a new one if none was saved."""
    path = folder / STATE
    if not path.exists():
        return RunState()
    try:
        with safe_open(path, framework="pt") as file:
            metadata = {name: json.loads(value) for name, value in file.metadata().items()}
            _check_identity(metadata["identity"], identity, folder)
            _restore_tensors(file, network, optimisers)
        if metadata["scaler"]:
            scaler.load_state_dict(metadata["scaler"])
        return RunState(**metadata["state"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrainingRefused(f"{path} is broken ({error}); delete {folder} to train from the start.") from error


def _check_identity(stored: dict[str, Any], given: dict[str, Any], folder: Path) -> None:
    for name, value in json.loads(json.dumps(given)).items():
        if stored.get(name, value) != value:
            raise TrainingRefused(
                f"The run in {folder} began with {name} {stored[name]!r} and can't be resumed with {value!r}; "
                "train into another folder, or delete that one."
            )


def _list_tensors(network: nn.Module, optimisers: Optimisers) -> Iterator[tuple[str, Tensor]]:
    """Yield all tensors to save, by name. `named_parameters` lists a tensor that is shared only once."""
    for name, buffer in network.named_buffers():
        yield f"network.{name}", buffer.detach().contiguous()
    for name, parameter in network.named_parameters():
        yield f"network.{name}", parameter.detach().contiguous()
        for optimiser_name, optimiser in optimisers.items():
            for key, value in optimiser.state.get(parameter, {}).items():
                yield f"{optimiser_name}.{key}.{name}", value.detach().contiguous()


def _restore_tensors(file: Any, network: nn.Module, optimisers: Optimisers) -> None:
    with torch.no_grad():
        for name, tensor in (*network.named_buffers(), *network.named_parameters()):
            tensor.copy_(file.get_tensor(f"network.{name}"))
    parameters = dict(network.named_parameters())
    for stored in file.keys():  # noqa: SIM118  # `file` is not a dict and can't be iterated
        optimiser_name, key, *rest = stored.split(".", 2)
        if optimiser_name in optimisers:
            parameter = parameters[rest[0]]
            value = file.get_tensor(stored).to(parameter.device)
            optimisers[optimiser_name].state[parameter][key] = value
