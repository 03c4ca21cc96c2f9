"""What must be true of a checkpoint folder before torch looks at it:

config.json             kind, sizes, labels, format version
tokenizer.json          Hugging Face `tokenizers`, byte-level BPE
model.safetensors       the network
predictor.safetensors   MEED2's response predictor, once it is trained
classifier/             an emotion classifier in Hugging Face form, if turns come without labels
"""

import json
from pathlib import Path

from generation.generators.base import CheckpointRefused
from generation.networks.config import NetworkConfig

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
MODEL = "model.safetensors"
PREDICTOR = "predictor.safetensors"
CLASSIFIER = "classifier"
_LONGEST_HEADER_BYTES = 10_000_000


def check_checkpoint(folder: Path) -> NetworkConfig:
    """The config of a folder whose files are all there and whole, or CheckpointRefused. Reads headers only."""
    finish_replacing(folder)
    if not folder.is_dir():
        raise CheckpointRefused(f"There is no checkpoint folder {folder}.")
    for name in (CONFIG, TOKENIZER, MODEL):
        if not (folder / name).is_file():
            raise CheckpointRefused(f"The checkpoint {folder} lacks {name}.")
    try:
        config = NetworkConfig.from_json(json.loads((folder / CONFIG).read_text(encoding="utf-8")))
    except (ValueError, OSError) as error:
        raise CheckpointRefused(f"{folder / CONFIG} cannot be read: {error}") from error
    except CheckpointRefused as error:
        raise CheckpointRefused(f"The checkpoint {folder} is refused: {error}") from error
    for name in (MODEL, PREDICTOR):
        if (folder / name).exists():
            _check_is_whole(folder / name)
    return config


def finish_replacing(folder: Path) -> None:
    """A process that died between the two renames of a save left the former checkpoint beside."""
    former = former_folder(folder)
    if former.is_dir() and not folder.exists():
        former.rename(folder)


def former_folder(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.former")


def _check_is_whole(path: Path) -> None:
    """A safetensors file says how long its header is, and the header how long the rest."""
    with path.open("rb") as file:
        header_bytes = int.from_bytes(file.read(8), "little")
        header = file.read(min(header_bytes, _LONGEST_HEADER_BYTES))
    try:
        tensors = {name: entry for name, entry in json.loads(header).items() if name != "__metadata__"}
        end = max(entry["data_offsets"][1] for entry in tensors.values())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointRefused(f"{path} is not a whole safetensors file; copy or train it again.") from error
    expected = 8 + header_bytes + end
    if path.stat().st_size != expected:
        raise CheckpointRefused(
            f"{path} has {path.stat().st_size:,} bytes where its header promises {expected:,}; copy or train it again."
        )
