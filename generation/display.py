"""Turn what a generator wrote into what a worker reads: join tokens, and restore capitals, where they are missing.

Published models often give lower-case, space-tokenised text ("i do n't know , helen ."). Beside a human reply it would
show at a glance which one is the gold. So such text, and only such text, is joined and capitalised. The raw text stays
stored beside it.
We wrote this ourselves because Moses' detokeniser leaves "do n't" apart, and because no maintained library restores
capitals without a trained model.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_SPACED_PUNCTUATION = re.compile(r"\s[.,!?;:](?:\s|$)|\s(?:n't|'(?:s|m|re|ve|ll|d))\b|\w ' (?:s|m|t|re|ve|ll|d)\b")
_JOINED_PUNCTUATION = re.compile(r"\w[.,!?;:'](?:\s|$|\w)")

_ABBREVIATION = re.compile(r"\b[A-Z]{2,}\b")

_JOINS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"(?<=\w)\s*'\s+(s|m|t|re|ve|ll|d)\b"), r"'\1"),  # it ' s, don ' t
    (re.compile(r"\s+(n't|'(?:s|m|re|ve|ll|d))\b"), r"\1"),  # do n't, it 's
    (re.compile(r"\b(gon|wan) na\b"), r"\1na"),
    (re.compile(r"\b(got) ta\b"), r"\1ta"),
    (re.compile(r"\b(lem|gim) me\b"), r"\1me"),
    (re.compile(r"(?:\.\s+){2,}\.|\.\s+\.(?!\s*\.)"), "..."),
    (re.compile(r"\s+(?![:;]-?[()\[\]/dop3])([.,!?;:%)\]}])"), r"\1"),  # but not :)
    (re.compile(r"(?<![:;])([(\[{$£€#])\s+(?=\S)"), r"\1"),
    (re.compile(r"([\"“])\s*([^\"“”]*?)\s*([\"”])"), r"\1\2\3"),
]

_PRONOUN = re.compile(r"\bi\b(?=$|[\s.,!?;:)\"]|'(?:m|ve|ll|d|s)\b)")
_SENTENCE_START = re.compile(r"(^|[.!?]\s+)([\"“(']*)([a-z])")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")

# Words that English always capitalises; names come from the dialog itself.
_ALWAYS_CAPITALISED = {
    word.lower(): word
    for word in """
        Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July September October
        November December Christmas Easter Thanksgiving Halloween Valentine's God Jesus English French German Spanish
        Italian Chinese Japanese American British Canadian Mexican Indian America Canada Mexico England Britain Europe
        Asia Africa Australia France Germany Italy Spain China Japan India Paris London Florida California Texas Vegas
        Disney Facebook TV USA UK DVD NYC
    """.split()
}

# These are never names, however a chat writes them ("lol My bad").
_FUNCTION_WORDS = set(
    """
    a all also always am an and any anyway are as at be because been but by can did do does for from go good got had
    haha has have he hello her hey hi him his how if im in is it its just let like lol maybe me my no not now of oh ok
    okay on one or our out really right sadly she since so sorry that thats the their them then there these they this
    those to too us very was we well were what when where which who why will with would yeah yes yet you your
    """.split()
)


def display_text(raw: str, context: Iterable[str] = ()) -> str:
    """Return the text as a worker reads it. Names get their capitals from the context.

    >>> display_text("i do n't know , helen . did you ask ?", ["Hi, this is Helen!"])
    "I don't know, Helen. Did you ask?"
    >>> display_text("I don't know...  maybe?")
    "I don't know...  maybe?"
    """
    if not looks_tokenised(raw):
        return raw
    return _truecase(_detokenise(raw), _find_names(tuple(context)))


def looks_tokenised(text: str) -> bool:
    """Return whether the text is in lower case (except for abbreviations) and no punctuation mark touches a word."""
    small = _ABBREVIATION.sub("", text)
    if small != small.lower():
        return False
    if _SPACED_PUNCTUATION.search(text):
        return True
    return bool(re.search(r"[a-z]", text)) and not _JOINED_PUNCTUATION.search(text)


def _detokenise(text: str) -> str:
    text = " ".join(text.split())
    for pattern, replacement in _JOINS:
        text = pattern.sub(replacement, text)
    return text


def _truecase(text: str, names: dict[str, str]) -> str:
    capitalised = _ALWAYS_CAPITALISED | names
    text = _WORD.sub(lambda word: _capitalise(word[0], capitalised), text)
    text = _PRONOUN.sub("I", text)
    return _SENTENCE_START.sub(lambda start: start[1] + start[2] + start[3].upper(), text)


def _capitalise(word: str, capitalised: dict[str, str]) -> str:
    if word in capitalised:
        return capitalised[word]
    stem, apostrophe, ending = word.partition("'")
    return capitalised.get(stem, stem) + apostrophe + ending


@lru_cache(maxsize=64)  # a dialog's candidates come one after the other
def _find_names(context: tuple[str, ...]) -> dict[str, str]:
    """Return the words that the context capitalises inside a sentence and never writes in lower case: most likely
    names."""
    names: dict[str, str] = {}
    small: set[str] = set()
    for turn in context:
        for match in re.finditer(r"[A-Za-z]{2,}", turn):
            word, before = match[0], turn[: match.start()].rstrip()
            if word[0].islower():
                small.add(word)
            elif before and before[-1] not in '.!?"“(-:*' and not word.isupper():
                names[word.lower()] = word
    return {lower: word for lower, word in names.items() if lower not in small | _FUNCTION_WORDS}
