"""Find the emotion words of a vocabulary, as EmpDG does: words of a lexicon, and adjectives; but no stop words.

EmpDG's lexicon is the NRC's, which may not be passed on. So none is shipped: a user names a file of their own, with one
word a line. Whether a word is an adjective, Pattern's tagger decides (in the package textblob). It looks at a word
alone: on 2,500 turns of EmpatheticDialogues its adjectives are the same with and without the sentence.
"""

from collections.abc import Sequence
from pathlib import Path

from generation.errors import DataRefused

# English stop words as in NLTK's list, apart from contractions, which our words never are.
STOP_WORDS = frozenset(
    """i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
    it its itself they them their theirs themselves what which who whom this that these those am is are was were be
    been being have has had having do does did doing a an the and but if or because as until while of at by for with
    about against between into through during before after above below to from up down in out on off over under again
    further then once here there when where why how all any both each few more most other some such no nor not only
    own same so than too very s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn
    haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn""".split()
)
_ADJECTIVE = "JJ"  # JJ, JJR and JJS


def read_lexicon(path: Path) -> frozenset[str]:
    """Read the words of a lexicon's file, or raise DataRefused."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataRefused(f"The lexicon {path} can't be read: {error}.") from error
    words = [line.strip().lower() for line in lines]
    for number, word in enumerate(words, 1):
        if len(word.split()) > 1:
            raise DataRefused(f"Line {number} of the lexicon {path} has several words; it must have one word a line.")
    if not any(words):
        raise DataRefused(f"The lexicon {path} has no words.")
    return frozenset(words) - {""}


def are_emotion_words(words: Sequence[str], lexicon: frozenset[str] = frozenset()) -> list[bool]:
    """Say for each word of a vocabulary whether it is one of emotion. Words in <> are not words of a text."""
    from textblob.en import parser  # imported here because only training needs it, and it takes a second

    tags = [parser.find_tags([word])[0][1] for word in words]
    return [
        (word in lexicon or tag.startswith(_ADJECTIVE)) and word not in STOP_WORDS and not word.startswith("<")
        for word, tag in zip(words, tags, strict=True)
    ]
