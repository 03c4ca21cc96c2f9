"""Tidy the typing of every reply that a study shows, so that typing habits don't give the human one away.

People type "im fine" and models write "I'm fine."; after three HITs a worker knows the human reply by that. The changes
are small and the same for all: white space, the apostrophes of contractions, a small i, the first letter of a sentence,
and a full stop at the end. No word is added, removed or changed. The raw text stays stored, a study may switch tidying
off (`task.reply_style`), and the manifest's hash covers the text as shown.
"""

import re

_APOSTROPHE = re.compile(r"(?<=\w)[’`´](?=\w)")
# A semicolon is not moved if it may begin a wink, such as ";)" or ";D".
_SPACE_BEFORE = re.compile(r"(?<=\w) ([,!?](?=\W|[^\W\d_]|$)|;(?= |$|[^\W\d_]{2}|[IiAa]\b)|[.:](?= |$))")
# A space is added only after words of two letters or more, and after a full stop only before a capital: not in "e.g.",
# "3,5" or "b.com". Nor is one added where an apostrophe is meant ("it;s"), or where someone winks (";p").
_NO_SPACE_AFTER = re.compile(
    r"(?<=[^\W\d_A-Z]{2})(?:[,;!?](?=[^\W\d_])(?!(?i:[tsmdpob]|re|ve|ll)\b)|\.(?=[A-Z](?:[a-z]|\s|')))"
)
_SENTENCE_START = re.compile(r"(?:^|(?<=[^\W\d_]{2}[.!?] ))([\"“(']*)([^\W\d_])")

# English contractions, except for those that are other words without their apostrophe (its, were, well, lets, ill, id).
_CONTRACTIONS = {
    word.replace("'", ""): word
    for word in """
        ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't shouldn't wasn't weren't wouldn't
        you're you've you'll they're they've they'll we've that's what's there's here's he's she's i'm i've
    """.split()
}
_SLIPPED = "|".join(_CONTRACTIONS.values()).replace("'", "[;,]?")
# Also with a semicolon or comma where a finger slipped. Small letters right after a full stop may end an address, as in
# "example.im".
_CONTRACTION = re.compile(rf"\b(?:(?<!\w\.)|(?-i:(?=[A-Z])))(?:{_SLIPPED})\b", re.IGNORECASE | re.ASCII)
_SMALL_I = re.compile(r"(?<![\w.'’-])i(?=$|[\s,!?;:)\"]|\.(?:\s|$|\.)|'(?:m|ve|ll|d|s)\b)")
_ADDRESS = re.compile(r"(?<!\S)\S*(?:://|www\.|@)\S*|\0")  # or \0, which replaces an address while the rest is tidied
_FACE = re.compile(r"(?<!\S)(?:[:;=xX]['-]?[DPpOo3]|<3)$")


def tidy_reply(text: str, language: str = "en") -> str:
    """Return the reply as a study shows it.

    >>> tidy_reply("im so sorry ,i dont know what to say")
    "I'm so sorry, I don't know what to say."
    >>> tidy_reply("I'm fine. Really!")
    "I'm fine. Really!"
    """
    text = " ".join(text.split())
    addresses = iter(_ADDRESS.findall(text))  # nothing inside of them is touched
    text = _ADDRESS.sub("\0", text)
    text = _APOSTROPHE.sub("'", text)
    is_english = language.partition("-")[0].lower() == "en"
    if is_english:  # before spaces are corrected, because some of those rules look for an apostrophe
        text = _CONTRACTION.sub(lambda word: _restore_apostrophe(word[0]), text)
    text = _SPACE_BEFORE.sub(r"\1", text)
    text = _NO_SPACE_AFTER.sub(lambda found: f"{found[0]} ", text)
    if is_english:
        text = _SMALL_I.sub("I", text)
    text = _SENTENCE_START.sub(lambda start: start[1] + _capitalise(start[2]), text)
    if text and _needs_full_stop(text[-1]) and not _FACE.search(text):
        text += "."
    return re.sub("\0", lambda _: next(addresses), text)


def _restore_apostrophe(word: str) -> str:
    word = re.sub("[;,]", "", word)
    contracted = _CONTRACTIONS[word.lower()]
    if word.isupper():
        return contracted.upper()
    return contracted[0].upper() + contracted[1:] if word[0].isupper() else contracted


def _capitalise(letter: str) -> str:
    """Capitalise a letter, but not "ß" and the dotless i: their capitals have another small letter."""
    capital = letter.upper()
    return capital if capital.lower() == letter else letter


def _needs_full_stop(last: str) -> bool:
    """Return whether a text with this last character needs a full stop: it is a digit, or a letter of a script that has
    capitals, since those scripts end sentences with full stops."""
    return last.isdecimal() or last.lower() != last.upper()
