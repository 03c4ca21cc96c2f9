"""Check that a checkpoint folder of ours is complete and fits this software. It needs no torch: web pages check, too.

config.json         kind, sizes, labels, format version
tokenizer.json      Hugging Face `tokenizers`
model.safetensors   the network
                    beside them, whatever other parts the family has
"""

import json
from pathlib import Path
from typing import Any

from generation.checkpoint_version import check_safetensors
from generation.errors import CheckpointRefused
from generation.networks.families import FAMILIES, generating_families
from generation.networks.network_config import FORMAT_VERSION, NetworkConfig
from generation.replaced_folders import finish_replacing

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
MODEL = "model.safetensors"


def check_checkpoint(folder: Path) -> dict[str, Any]:
    """Return config.json of a folder whose files are all there and whole, or raise CheckpointRefused. Only the headers
    of weights are read, and sizes that only one family has are not checked."""
    finish_replacing(folder)
    if not folder.is_dir():
        raise CheckpointRefused(f"There is no checkpoint folder {folder}.")
    for name in (CONFIG, TOKENIZER, MODEL):
        if not (folder / name).is_file():
            raise CheckpointRefused(f"The checkpoint {folder} lacks {name}.")
    try:
        values = _check_config(json.loads((folder / CONFIG).read_text(encoding="utf-8")))
    except (ValueError, OSError, RecursionError) as error:  # RecursionError comes from brackets nested too deep
        raise CheckpointRefused(f"{folder / CONFIG} cannot be read: {error}") from error
    except CheckpointRefused as error:
        raise CheckpointRefused(f"The checkpoint {folder} is refused: {error}") from error
    for path in sorted(folder.glob("*.safetensors")):
        check_safetensors(path)
    return values


def _check_config(values: Any) -> dict[str, Any]:
    if not isinstance(values, dict) or values.get("format_version") != FORMAT_VERSION:
        raise CheckpointRefused(f"config.json is not of format {FORMAT_VERSION}; train or convert the model again.")
    kind, kinds = values.get("kind"), generating_families()
    if kind not in kinds:
        raise CheckpointRefused(
            f"A network cannot have this config: its kind is {kind!r}, not one of {', '.join(kinds)}."
        )
    labels = FAMILIES[kind].labels
    if values.get("labels") != list(labels):
        raise CheckpointRefused(
            f"config.json has other labels than the {len(labels)} that this software knows, in their order."
        )
    NetworkConfig.from_json(values)
    return values
