"""BLEU of all replies as two papers compute it, and of single replies (Papineni et al. 2002)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from generation.metrics import words
from generation.metrics.metric import Asked, Column, Found, Metric, Replies, Scores
from generation.models import Candidate

ORDERS = 4


class BleuMetric(Metric):
    columns = (
        Column("bleu_average", "BLEU-1..4", ".2f", "mean of BLEU-1, -2, -3 and -4, as Rashkin et al. have it",
               has_leading_zero=True),
        Column("bleu_4", "BLEU-4", ".2f", "BLEU-4 as Moses' multi-bleu gives it, for MoEL and MIME",
               has_leading_zero=True),
    )  # fmt: skip
    reply_scores = ("sentence_bleu",)
    beside_ratings = {"sentence_bleu": "sentence BLEU"}
    packages = ("sacrebleu",)

    def version(self) -> str:
        return words.version()

    def score_replies(self, candidates: Sequence[Candidate], asked: Asked) -> Sequence[Scores]:
        return [[sentence_bleu(one.display_text, one.dialog.display_gold)] for one in candidates]

    def summarise(self, replies: Replies) -> Found:
        if not replies.beside_gold:
            return {}, 0
        texts, golds = zip(*replies.beside_gold, strict=True)
        found = bleu(texts, golds)
        return {"bleu_4": found.of_4, "bleu_average": found.average}, len(texts)


@dataclass(frozen=True)
class Bleu:
    """BLEU of all replies together, from 0 to 100. `of_4` is Moses' multi-bleu, on lower-cased words and without
    smoothing, as MoEL and MIME report it; `average` is the mean of BLEU-1 to BLEU-4, as Rashkin et al. report it."""

    of_4: float
    average: float


def bleu(replies: Sequence[str], golds: Sequence[str]) -> Bleu:
    """Compute BLEU-n: the brevity penalty times the geometric mean of the precisions of 1-grams to n-grams, counted
    over all replies (Papineni et al. 2002)."""
    from sacrebleu.metrics.bleu import BLEU

    found = _corpus_bleu().corpus_score(replies, [golds])
    by_order = [
        BLEU.compute_bleu(
            *(found.counts[:n], found.totals[:n], found.sys_len, found.ref_len),
            smooth_method="none",
            max_ngram_order=n,
        ).score
        for n in range(1, ORDERS + 1)
    ]
    return Bleu(found.score, sum(by_order) / ORDERS)


def sentence_bleu(reply: str, gold: str) -> float:
    """Compute BLEU of a single reply, from 0 to 100. It is smoothed, since most replies have no 4-gram in common with
    the gold, and uses no longer n-grams than the reply has words."""
    score: float = _sentence_bleu().sentence_score(reply, [gold]).score
    return score


@cache
def _corpus_bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=True, tokenize="13a", smooth_method="none", force=True)  # no warning about tokenised text


@cache
def _sentence_bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=True, tokenize="13a", smooth_method="exp", effective_order=True)
