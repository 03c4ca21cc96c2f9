"""How well emotions and intents are predicted, by scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass

TOP = (1, 2, 5)


@dataclass(frozen=True)
class Weighted:
    """Means over the labels, each weighted by how often it is the true one: the paper's table 4."""

    precision: float
    recall: float
    f1: float


def weighted(true: Sequence[str], predicted: Sequence[str]) -> Weighted | None:
    """A label that is never predicted has precision 0."""
    from sklearn.metrics import precision_recall_fscore_support

    if not true:
        return None
    precision, recall, f1, _ = precision_recall_fscore_support(true, predicted, average="weighted", zero_division=0)
    return Weighted(float(precision), float(recall), float(f1))


def share_within(ranks: Sequence[int], most: int) -> float | None:
    """How many of the true labels are among the `most` likeliest. Ranks are from 1.

    >>> share_within([1, 3, 2, 1], 2)
    0.75
    """
    return sum(rank <= most for rank in ranks) / len(ranks) if ranks else None
