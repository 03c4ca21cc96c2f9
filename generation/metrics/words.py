"""Words of replies, and what is counted of them: Distinct and BLEU.

Everything is counted on lower-cased words with punctuation apart, made from what a worker reads: published models write
"i do n't know ." and people "I don't know.", which must not differ. The words are those of sacrebleu's tokeniser 13a,
which BLEU uses as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

ORDERS = 4


def words_of(text: str) -> list[str]:
    """
    >>> words_of("I don't know, Helen.")
    ['i', "don't", 'know', ',', 'helen', '.']
    """
    words: list[str] = _tokeniser()(text.lower()).split()
    return words


def distinct(replies: Iterable[Sequence[str]], n: int) -> float | None:
    """Different n-grams / all n-grams, over all replies together (Li et al. 2016). None if there is no n-gram.

    It falls as replies are added: outputs of different counts can't be compared by it.

    >>> distinct([["so", "sad"], ["so", "very", "sad"]], 1)
    0.6
    """
    seen: set[tuple[str, ...]] = set()
    total = 0
    for words in replies:
        grams = list(zip(*(words[start:] for start in range(n)), strict=False))
        seen.update(grams)
        total += len(grams)
    return len(seen) / total if total else None


@dataclass(frozen=True)
class Bleu:
    """Of a whole output, from 0 to 100. `of_4` is Moses' multi-bleu, on lower-cased words and without smoothing, as
    MoEL and MIME report it; `average` is the mean of BLEU-1 to BLEU-4, as Rashkin et al. do."""

    of_4: float
    average: float


def bleu(replies: Sequence[str], golds: Sequence[str]) -> Bleu:
    """BLEU-n is the brevity penalty times the geometric mean of the precisions of 1-grams to n-grams, counted over all
    replies (Papineni et al. 2002)."""
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
    """Of a single reply, from 0 to 100: smoothed, since most have no 4-gram in common with the gold, and with no longer
    n-grams than the reply has words."""
    score: float = _sentence_bleu().sentence_score(reply, [gold]).score
    return score


@cache
def _tokeniser() -> Any:
    from sacrebleu.tokenizers import tokenizer_13a

    return tokenizer_13a.Tokenizer13a()


@cache
def _corpus_bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=True, tokenize="13a", smooth_method="none", force=True)  # no advice on tokenised text


@cache
def _sentence_bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=True, tokenize="13a", smooth_method="exp", effective_order=True)


def version() -> str:
    import sacrebleu

    return f"13a, lower case, sacrebleu {sacrebleu.__version__}"
