"""Label accuracy: how well a generator predicts the emotion or intent of the human reply (precision, recall, F-1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from generation.metrics.metric import PREDICTED_LABELS, Column, Found, Metric, Replies


class LabelAccuracyMetric(Metric):
    table = PREDICTED_LABELS
    columns = (
        Column("label_precision", "P", ".4f", "weighted precision of the predicted emotion or intent of the reply"),
        Column("label_recall", "R", ".4f", "weighted recall, which is the accuracy"),
        Column("label_f1", "F-1", ".4f", "weighted F-1"),
    )
    packages = ("sklearn",)

    def summarise(self, replies: Replies) -> Found:
        pairs = [(gold, predicted) for predicted, gold, _ in replies.labels if gold and not replies.are_emotions]
        found = weighted([gold for gold, _ in pairs], [predicted for _, predicted in pairs])
        if found is None:
            return {}, 0
        return {"label_precision": found.precision, "label_recall": found.recall, "label_f1": found.f1}, len(pairs)


@dataclass(frozen=True)
class Weighted:
    """Means over the labels, each weighted by how often it is the true one, as in the paper's table 4."""

    precision: float
    recall: float
    f1: float


def weighted(true: Sequence[str], predicted: Sequence[str]) -> Weighted | None:
    """Compute the weighted means with scikit-learn. A label that is never predicted has precision 0."""
    from sklearn.metrics import precision_recall_fscore_support

    if not true:
        return None
    precision, recall, f1, _ = precision_recall_fscore_support(true, predicted, average="weighted", zero_division=0)
    return Weighted(float(precision), float(recall), float(f1))
