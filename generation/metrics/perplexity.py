"""Perplexity: how much the human reply surprises a generator that can tell how likely a reply is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from generation.metrics.metric import Asked, Column, Found, Metric, Replies, Scores
from generation.models import Candidate, GeneratorScore

TOKENS, LOG_LIKELIHOOD = "gold_tokens", "gold_log_likelihood"


class PerplexityMetric(Metric):
    columns = (
        Column("perplexity", "PPL", ".1f", "perplexity of the human reply: exp of the mean over dialogs", True),
        Column("perplexity_by_token", "PPL by token", ".1f", "the same, every token counted alike", True),
    )
    reply_scores = (TOKENS, LOG_LIKELIHOOD)
    beside_ratings = {LOG_LIKELIHOOD: "log-likelihood of the human reply"}
    asks = "score_gold"
    hides_other_versions = True

    def version(self) -> str:
        return "2"  # since golds of chat models end as their template ends a turn

    def score_replies(self, candidates: Sequence[Candidate], asked: Asked) -> Sequence[Scores]:
        return [[count, total / count] for total, count in asked.score_gold([one.dialog for one in candidates])]

    def summarise(self, replies: Replies) -> Found:
        likelihoods, tokens = (replies.scores(name, self.version()) for name in (LOG_LIKELIHOOD, TOKENS))
        golds = list(zip(likelihoods, map(int, tokens), strict=True))
        found = perplexity(golds) if len(golds) == len(replies.beside_gold) else None
        if found is None:
            return {}, 0
        return {"perplexity": found.macro, "perplexity_by_token": found.by_token}, len(golds)

    def notes(self, rows: Mapping[str, Mapping[str, GeneratorScore]], is_one_dataset: bool) -> list[str]:
        """Say over how many dialogs perplexity is computed. Dialogs without an answer don't count, and they are often
        the hard ones."""
        counts = {name: scores["perplexity"].scored_count for name, scores in rows.items() if "perplexity" in scores}
        if not counts:
            return []
        if len(set(counts.values())) == 1:
            return [f"PPL is over {_count_dialogs(min(counts.values()))} that have a human reply and were answered."]
        each = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        note = f"PPL is over dialogs that have a human reply and were answered: {each}."
        return [f"{note} It can be compared only between models with equal counts." if is_one_dataset else note]


class ToldPerplexityMetric(Metric):
    """The perplexity of a generator that is told the true polarity of the dialog's emotion, as MIME's authors compute
    it."""

    columns = (
        Column("perplexity_true_polarity", "PPL, true polarity", ".1f", "the same if the polarity is told", True),
    )
    reply_scores = ("gold_tokens_true_polarity", "gold_log_likelihood_true_polarity")
    asks = "score_gold_told_polarity"

    def replies_of(self, candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
        return candidates.exclude(dialog__gold="").exclude(dialog__emotion="")

    def score_replies(self, candidates: Sequence[Candidate], asked: Asked) -> Sequence[Scores]:
        dialogs = [one.dialog for one in candidates]
        return [[count, total / count] for total, count in asked.score_gold_told_polarity(dialogs)]

    def summarise(self, replies: Replies) -> Found:
        tokens, likelihoods = (replies.scores(name, self.version()) for name in self.reply_scores)
        golds = list(zip(likelihoods, map(int, tokens), strict=True))
        found = perplexity(golds)
        return ({"perplexity_true_polarity": found.macro}, len(golds)) if found else ({}, 0)


def _count_dialogs(count: int) -> str:
    return f"{count:,} dialog" if count == 1 else f"the {count:,} dialogs"


@dataclass(frozen=True)
class Perplexity:
    """`macro` is what the papers report: exp of the mean over dialogs of each dialog's mean loss. `by_token` weights
    dialogs by their tokens: exp of the mean loss of all tokens."""

    macro: float
    by_token: float


def perplexity(golds: Sequence[tuple[float, int]]) -> Perplexity | None:
    """Compute both perplexities. `golds` has (mean log-likelihood per token, number of tokens) of each gold.

    Return None if there is no gold, or if a number overflows.

    >>> perplexity([(-math.log(2), 1), (-math.log(8), 3)])
    Perplexity(macro=4.0, by_token=5.6568542494...)
    """
    tokens = sum(count for _, count in golds)
    if not tokens:
        return None
    macro = -sum(likelihood for likelihood, _ in golds) / len(golds)
    by_token = -sum(likelihood * count for likelihood, count in golds) / tokens
    try:
        return Perplexity(math.exp(macro), math.exp(by_token))
    except OverflowError:
        return None
