"""Split a reply into the words that Distinct and BLEU count.

Words are in lower case, and punctuation marks are words of their own. They come from the text that a worker reads:
published models write "i do n't know ." and people "I don't know.", which must count the same. The tokeniser is
sacrebleu's 13a, which BLEU uses as well.
"""

from functools import cache
from typing import Any


def words_of(text: str) -> list[str]:
    """Return the words and punctuation marks of a text.

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
