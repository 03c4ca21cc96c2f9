"""Choose where generators run: on the GPU that this process may use, or on the CPU with the right number of threads."""

import os
import platform
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from evalplatform import __version__

if TYPE_CHECKING:
    import torch

NAMED = ("torch", "transformers", "tokenizers")


def choose_device(wanted: str, threads: int) -> str:
    """Return the name of the device, and set the number of threads if it is the CPU.

    `wanted` is "auto" or torch's name of a device. With 0 `threads`, torch takes all cores that we may use.
    """
    import torch

    device = ("cuda" if torch.cuda.is_available() else "cpu") if wanted == "auto" else wanted
    if device == "cpu":
        torch.set_num_threads(threads or len(os.sched_getaffinity(0)))
    return device


def best_dtype(device: str) -> "torch.dtype":
    """Return bfloat16 if the GPU computes with it, else float32. A CPU is slower with bfloat16 than without."""
    import torch

    return torch.bfloat16 if device.startswith("cuda") and gpu_has_bfloat16() else torch.float32


def gpu_has_bfloat16() -> bool:
    """Return whether the GPU computes with bfloat16. Older ones emulate it, which is slower than float32."""
    import torch

    return bool(torch.cuda.is_bf16_supported(including_emulation=False))


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out. torch has its own error for a GPU, and no class of its own for a CPU."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def free_memory() -> None:
    """Give the GPU back the memory that torch holds in reserve."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def describe_software(device: str) -> dict[str, Any]:
    """Return the versions of the programs that made a candidate, as far as they are loaded."""
    versions = {name: version(name) for name in NAMED if name in sys.modules}
    name = device
    if device.startswith("cuda"):
        name = sys.modules["torch"].cuda.get_device_name(device)
    return {"evalplatform": __version__, "python": platform.python_version(), **versions, "device": name}
