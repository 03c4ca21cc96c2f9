"""The words of replies, which Distinct and BLEU count.

Everything is counted on lower-cased words with punctuation apart, made from what a worker reads: published models write
"i do n't know ." and people "I don't know.", which must not differ. The words are those of sacrebleu's tokeniser 13a,
which BLEU uses as well.
"""

from functools import cache
from typing import Any


def words_of(text: str) -> list[str]:
    """
    >>> words_of("I don't know, Helen.")
    ['i', "don't", 'know', ',', 'helen', '.']
    """
    words: list[str] = _tokeniser()(text.lower()).split()
    return words


@cache
def _tokeniser() -> Any:
    from sacrebleu.tokenizers import tokenizer_13a

    return tokenizer_13a.Tokenizer13a()


def version() -> str:
    import sacrebleu

    return f"13a, lower case, sacrebleu {sacrebleu.__version__}"
