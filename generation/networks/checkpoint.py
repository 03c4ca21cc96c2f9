"""Save a network of ours to a checkpoint folder, and load it again.

In: a network, its tokenizer and other named parts. Out: a checkpoint folder, and the networks again. Guaranteed:
nothing is unpickled; a folder is complete or absent; parts that don't fit together are refused.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from safetensors import safe_open
from tokenizers import Tokenizer
from torch import Tensor, nn

from generation.errors import CheckpointRefused
from generation.networks.checkpoint_files import (
    CONFIG,
    MODEL,
    TOKENIZER,
    check_checkpoint,
)
from generation.networks.checkpoint_parts import read_weights, write_weights
from generation.networks.families import FAMILIES, load_family
from generation.networks.network_config import NetworkConfig
from generation.replaced_folders import read_steadily, replace_folder


@dataclass
class Checkpoint:
    network: Any  # an nn.Module; its class belongs to the family
    tokenizer: Tokenizer
    parts: dict[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> NetworkConfig:
        config: NetworkConfig = self.network.config
        return config


def save_checkpoint(
    folder: Path, network: nn.Module, tokenizer: Tokenizer, parts: Mapping[str, Any] | None = None
) -> None:
    """Write a new folder beside the old one, then rename it. A part of the old one stays unless a new one is given."""
    config = cast(NetworkConfig, network.config)
    with replace_folder(folder) as new:
        described = config.as_json(FAMILIES[config.kind].labels)
        (new / CONFIG).write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
        tokenizer.save(str(new / TOKENIZER))
        write_weights(network, new / MODEL)
        _write_parts(config.kind, parts or {}, folder, new)


def load_checkpoint(folder: Path, device: str = "cpu") -> Checkpoint:
    """Return everything in evaluation mode on the device, or raise CheckpointRefused. A training that saves the
    checkpoint meanwhile does no harm."""
    return read_steadily(folder, lambda: _load(folder, device))


def _load(folder: Path, device: str) -> Checkpoint:
    values = check_checkpoint(folder)
    family = load_family(values["kind"])
    config = family.config_class.from_json(values)
    tokenizer = family.load_tokenizer(folder)
    if tokenizer.get_vocab_size() > config.vocabulary_size:
        raise CheckpointRefused(
            f"The checkpoint {folder} is refused: its tokenizer has {tokenizer.get_vocab_size():,} tokens, its network "
            f"knows {config.vocabulary_size:,}."
        )
    loaded = Checkpoint(read_weights(family.build, config, folder / MODEL, device), tokenizer)
    for name, part in family.parts.items():
        if (folder / part.file).exists():
            loaded.parts[name] = part.read(config, folder / part.file, device)
    return loaded


def read_output_weight(folder: Path) -> Tensor:
    """Read the weight of the output layer. The checkpoint was loaded before, so its files are known to be whole."""
    with safe_open(folder / MODEL, framework="pt") as file:
        weight: Tensor = file.get_tensor("output.weight").float()
        return weight


def _write_parts(kind: str, given: Mapping[str, Any], folder: Path, new: Path) -> None:
    for name, part in load_family(kind).parts.items():
        old = folder / part.file
        if given.get(name) is not None:
            part.write(given[name], new / part.file)
        elif old.is_dir():
            shutil.copytree(old, new / part.file)
        elif old.exists():
            shutil.copyfile(old, new / part.file)
