"""Compute the version of a checkpoint folder (which files and settings count), and check that its files are complete.

Nothing here loads weights: the header of a safetensors file says what it holds. Weights are never unpickled anywhere,
because a pickle can run any code.
"""

import hashlib
import json
import re
import struct
from pathlib import Path
from typing import Any

from evalplatform.file_hashes import hash_of_file
from generation.errors import CheckpointRefused
from generation.replaced_folders import read_steadily

# Files that no generator reads, so that they don't belong to its version: texts and pictures for people, code, logs,
# and weights in other formats, which may be as large as everything else together.
INERT_NAME = re.compile(r"(licen[cs]e|notice|events\.out\.tfevents|thumbs\.db)", re.IGNORECASE)
INERT_SUFFIXES = set(
    ".md .py .pyc .log .png .jpg .svg .pdf .bin .pt .pth .h5 .msgpack .onnx .onnx_data .gguf .ot .tflite".split()
)
# These change how quickly a reply comes, never the reply itself, so changing one does not make another generator.
SETTINGS_ABOUT_SPEED = {"batch_size", "requests_per_minute", "timeout_seconds", "attempts", "key_variable"}
MOST_HEADER_BYTES = 100_000_000  # the format's own limit


def version_of(kind: str, checkpoint: str, settings: dict[str, Any]) -> str:
    """Return the SHA-256 of everything that decides a reply, except seed and context.

    A folder counts by the content of its files, so that it may be moved. A model on a hub or a server counts by its
    name.
    """
    folder = Path(checkpoint)
    content: Any = read_steadily(folder, lambda: _hash_files(folder)) if checkpoint and folder.is_dir() else checkpoint
    deciding = {name: value for name, value in settings.items() if name not in SETTINGS_ABOUT_SPEED}
    described = json.dumps({"kind": kind, "settings": deciding, "checkpoint": content}, sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_bytes())
    except OSError:
        raise CheckpointRefused(f"{folder} is not a checkpoint: it has no config.json.") from None
    except (ValueError, RecursionError):  # RecursionError comes from brackets that are nested too deep
        raise CheckpointRefused(f"{path} is broken: it is not JSON.") from None
    if not isinstance(config, dict):
        raise CheckpointRefused(f"{path} is broken: it is not an object.")
    return config


def check_weights(folder: Path) -> None:
    """Refuse a folder that has no safetensors, has one that is cut off, or lacks one that its index names."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        has_pickles = any(folder.glob("*.bin")) or any(folder.glob("*.pt"))
        advice = " Its weights are pickled: save them as safetensors." if has_pickles else ""
        raise CheckpointRefused(f"{folder} has no weights in safetensors files.{advice}")
    for index in folder.glob("*.safetensors.index.json"):
        if missing := _list_named_files(index) - {file.name for file in files}:
            raise CheckpointRefused(f"{folder} is not complete: {min(missing)} is missing.")
    for file in files:
        check_safetensors(file)


def check_safetensors(path: Path) -> None:
    """Check that the file is as long as its header says: eight bytes with the header's length, the header,
    the numbers."""
    try:
        with path.open("rb") as file:
            (header_bytes,) = struct.unpack("<Q", file.read(8))
            if header_bytes > MOST_HEADER_BYTES:
                raise CheckpointRefused(f"{path} is broken: it is not a safetensors file.")
            tensors = json.loads(file.read(header_bytes))
            found = path.stat().st_size
        tensors.pop("__metadata__", None)
        expected = 8 + header_bytes + max((tensor["data_offsets"][1] for tensor in tensors.values()), default=0)
    except OSError as error:
        raise CheckpointRefused(f"{path} can't be read: {error.strerror}.") from None
    except (struct.error, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        raise CheckpointRefused(f"{path} is broken: its header can't be read.") from None
    if found != expected:
        raise CheckpointRefused(f"{path} is broken: it has {found:,} bytes instead of {expected:,}; copy it again.")


def _list_named_files(index: Path) -> set[str]:
    try:
        return set(json.loads(index.read_bytes())["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CheckpointRefused(f"{index} is broken.") from None


def _hash_files(folder: Path) -> dict[str, str]:
    files = {file.relative_to(folder): file for file in sorted(folder.rglob("*")) if file.is_file()}
    return {name.as_posix(): hash_of_file(file) for name, file in files.items() if not _is_inert(name)}


def _is_inert(name: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in name.parts)
    return is_hidden or bool(INERT_NAME.match(name.name)) or name.suffix in INERT_SUFFIXES
