"""Measure what one sees of a reply without reading it: its length, case, punctuation and spacing.

Each look has words for replies that have more of it than the others, and for those that have less. `kind` says what
would help if a look gives the human reply away: generation/tidying.py evens out "typing", but not "length" and
"manner".
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["typing", "length", "manner"]

_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?…。！？]+")


@dataclass(frozen=True)
class Look:
    more: str
    less: str
    kind: Kind
    measure: Callable[[str], float]
    unit: str  # "%": the share of replies that have it; else what is counted

    def of(self, text: str) -> float:
        """Return the value that the classifier gets. Counts go in as log(1 + count): ten times the length is one
        step."""
        value = self.measure(text)
        return value if self.unit == "%" else math.log1p(value)


def _has(pattern: str) -> Callable[[str], float]:
    compiled = re.compile(pattern)
    return lambda text: float(compiled.search(text) is not None)


def _count(pattern: str) -> Callable[[str], float]:
    compiled = re.compile(pattern)
    return lambda text: float(len(compiled.findall(text)))


def _share(more: str, less: str, kind: Kind, pattern: str) -> Look:
    return Look(more, less, kind, _has(pattern), "%")


def _word_lengths(text: str) -> list[int]:
    return [len(word) for word in _WORDS.findall(text)] or [0]


def _sentence_count(text: str) -> int:
    return max(1, len(_SENTENCE_END.findall(text)))


LOOKS: tuple[Look, ...] = (
    Look("being longer", "being shorter", "length", len, "characters"),
    Look("having more words", "having fewer words", "length", lambda text: len(_word_lengths(text)), "words"),
    Look("having more sentences", "having fewer sentences", "length", _sentence_count, "sentences"),
    Look(
        "having longer sentences",
        "having shorter sentences",
        "length",
        lambda text: len(_word_lengths(text)) / _sentence_count(text),
        "words a sentence",
    ),
    Look("having longer words", "having shorter words", "manner", lambda text: max(_word_lengths(text)), "letters"),
    Look(
        "having more short words",
        "having fewer short words",
        "manner",
        lambda text: sum(length <= 3 for length in _word_lengths(text)),
        "words of three letters or fewer",
    ),
    Look("having more commas", "having fewer commas", "manner", _count(","), "commas"),
    Look("having more exclamation marks", "having fewer exclamation marks", "manner", _count("!"), "exclamation marks"),
    Look("having more question marks", "having fewer question marks", "manner", _count(r"\?"), "question marks"),
    Look("having more contractions", "having fewer contractions", "manner", _count(r"\w['’]\w"), "in a reply"),
    Look("having more capital letters", "having fewer capital letters", "manner", _count(r"[A-Z]"), "capital letters"),
    _share("words in capital letters", "no words in capital letters", "manner", r"\b[A-Z]{2,}\b"),
    _share("no small letters", "small letters", "manner", r"^[^a-zß-ÿ]*[A-Z][^a-zß-ÿ]*$"),
    _share("capitals inside sentences", "no capitals inside sentences", "manner", r"[\w,;]\s+(?!I\b)[A-Z]"),
    _share("digits", "no digits", "manner", r"\d"),
    _share("dots in a row", "no dots in a row", "manner", r"\.\.|…"),
    _share("marks in a row (!!, ?!)", "no marks in a row (!!, ?!)", "manner", r"[!?]{2}"),
    _share("dashes", "no dashes", "manner", r"[-–—]"),
    _share("quotation marks or brackets", "no quotation marks or brackets", "manner", r"[\"“”()\[\]]"),
    _share("smileys", "no smileys", "manner", r"[:;]-?[()dDpP3]|[\u2600-\u27bf\U0001F300-\U0001FAFF]"),
    _share("drawn-out words (sooo)", "no drawn-out words (sooo)", "manner", r"([A-Za-z])\1\1"),
    _share("letters beyond a to z", "no letters beyond a to z", "manner", r"[^\x00-\x7f–—…“”‘’]"),
    _share("ending with a question mark", "not ending with a question mark", "manner", r"\?\W*$"),
    _share("ending with an exclamation mark", "not ending with an exclamation mark", "manner", r"!\W*$"),
    _share("beginning with a small letter", "beginning with a capital letter", "typing", r"^[a-zß-ÿ]"),
    _share("sentences that begin small", "no sentences that begin small", "typing", r"[^\W\d_]{2}[.!?]\s+[a-zß-ÿ]"),
    _share("a small i", "no small i", "typing", r"\bi\b"),
    _share(
        "contractions without an apostrophe",
        "no contractions without an apostrophe",
        "typing",
        r"(?i)\b(?:im|ive|dont|cant|didnt|doesnt|isnt|wasnt|thats|youre|theyre|couldnt|wouldnt|hes|shes)\b",
    ),
    _share("curly apostrophes", "no curly apostrophes", "typing", r"\w[’`´]\w"),
    _share("spaces before punctuation", "no spaces before punctuation", "typing", r"\s[.,!?;:]"),
    _share(
        "punctuation without a space after it",
        "a space after all punctuation",
        "typing",
        r"[^\W\d_]{2}[.,!?;:][^\W\d_]{2}",
    ),
    _share("double spaces or line breaks", "no double spaces or line breaks", "typing", r"\s\s|\n"),
    _share("ending without punctuation", "ending with punctuation", "typing", r"[\w]\s*$"),
)
