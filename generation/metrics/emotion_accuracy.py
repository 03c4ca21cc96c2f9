"""Emotion accuracy: how often a generator recognises the dialog's emotion in its first, first two or first five
guesses."""

from collections.abc import Sequence

from django.db.models import QuerySet

from generation.emotions import EMOTIONS
from generation.metrics.metric import PREDICTED_LABELS, Asked, Column, Found, Metric, Replies, Scores
from generation.models import Candidate

TOP = (1, 2, 5)
RANK = "emotion_rank"


class EmotionAccuracyMetric(Metric):
    table = PREDICTED_LABELS
    columns = (
        Column("emotion_top_1", "Emotion, top 1", ".4f", "how often the dialog's emotion is the likeliest of the 32"),
        Column("emotion_top_2", "top 2", ".4f", "how often it is among the two likeliest"),
        Column("emotion_top_5", "top 5", ".4f", "how often it is among the five likeliest"),
    )
    reply_scores = (RANK,)
    asks = "rank_emotions"

    def replies_of(self, candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
        return candidates.exclude(dialog__emotion="")

    def score_replies(self, candidates: Sequence[Candidate], asked: Asked) -> Sequence[Scores]:
        ranked = asked.rank_emotions([one.dialog for one in candidates])
        return [_rank(labels, one.dialog.emotion) for labels, one in zip(ranked, candidates, strict=True)]

    def summarise(self, replies: Replies) -> Found:
        """Use the generator's ranking of the emotions or, if it was imported without one, its one guess."""
        if ranks := [int(rank) for rank in replies.scores(RANK, self.version())]:
            return {f"emotion_top_{most}": share_within(ranks, most) for most in TOP}, len(ranks)
        guesses = [predicted == emotion for predicted, _, emotion in replies.labels if emotion and replies.are_emotions]
        return {"emotion_top_1": sum(guesses) / len(guesses) if guesses else None}, len(guesses)


def _rank(labels: Sequence[str], emotion: str) -> list[float]:
    """Return the rank of the true emotion among the 32, from 1. If it is not among the labels, it comes after all."""
    emotions = [label for label in labels if label in EMOTIONS]
    return [emotions.index(emotion) + 1 if emotion in emotions else len(emotions) + 1]


def share_within(ranks: Sequence[int], most: int) -> float | None:
    """Return the share of true labels that are among the `most` most likely ones. Ranks begin with 1.

    >>> share_within([1, 3, 2, 1], 2)
    0.75
    """
    return sum(rank <= most for rank in ranks) / len(ranks) if ranks else None
