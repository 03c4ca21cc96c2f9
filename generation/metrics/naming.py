"""What the metrics are called. Of a reply: rows of CandidateScore. Of all replies together: rows of GeneratorScore."""

from dataclasses import dataclass

SIMILARITY = "similarity"
SENTENCE_BLEU = "sentence_bleu"
GOLD_LOG_LIKELIHOOD = "gold_log_likelihood"
GOLD_TOKENS = "gold_tokens"
EMOTION_RANK = "emotion_rank"

LIKELIHOOD_VERSION = "2"  # since chat models' golds end as their template ends a turn

# What can stand beside people's ratings of a reply; the others only serve to compute a figure.
BESIDE_RATINGS = {
    SIMILARITY: "similarity to the human reply",
    SENTENCE_BLEU: "sentence BLEU",
    GOLD_LOG_LIKELIHOOD: "log-likelihood of the human reply",
}


@dataclass(frozen=True)
class Figure:
    """A column of the tables. `style` is how its numbers are written; `reads` explains it to a researcher."""

    name: str
    heading: str
    style: str
    reads: str
    is_lower_better: bool = False


REPLIES_TABLE = (
    Figure("perplexity", "PPL", ".1f", "perplexity of the human reply: exp of the mean over dialogs", True),
    Figure("perplexity_by_token", "PPL by token", ".1f", "the same, every token counted alike", True),
    Figure("distinct_1", "D1", ".4f", "Distinct-1, different words / all words of all replies"),
    Figure("distinct_2", "D2", ".4f", "Distinct-2, different pairs of words / all pairs"),
    Figure("similarity", "SES", ".3f", "mean cosine similarity of sentence embeddings with the human reply"),
    Figure("bleu_average", "BLEU-1..4", ".2f", "mean of BLEU-1, -2, -3 and -4, as Rashkin et al. have it"),
    Figure("bleu_4", "BLEU-4", ".2f", "BLEU-4 as Moses' multi-bleu gives it, for MoEL and MIME"),
)
LABELS_TABLE = (
    Figure("label_precision", "P", ".4f", "weighted precision of the predicted emotion or intent of the reply"),
    Figure("label_recall", "R", ".4f", "weighted recall, which is the accuracy"),
    Figure("label_f1", "F-1", ".4f", "weighted F-1"),
    Figure("emotion_top_1", "Emotion, top 1", ".4f", "how often the dialog's emotion is the likeliest of the 32"),
    Figure("emotion_top_2", "top 2", ".4f", "how often it is among the two likeliest"),
    Figure("emotion_top_5", "top 5", ".4f", "how often it is among the five likeliest"),
)


def title_of(metric: str) -> str:
    """In words, for whoever reads it beside ratings."""
    return BESIDE_RATINGS.get(metric, metric)
