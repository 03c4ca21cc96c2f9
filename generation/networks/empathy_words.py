"""Split text into words as the papers of TRS, Multi-TR, MoEL, MIME and EmpDG do, and make vocabularies of them.

Text is lower-cased, contractions get their long forms, and words are split from punctuation by the rules of NLTK's
word_tokenize: "I didn't know." becomes "i did not know .". Published replies look like this, too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from generation.errors import CheckpointRefused
from generation.networks.tokenizing import configure, read_tokenizer

SPECIAL_WORDS = ("<unk>", "<pad>", "<eos>", "<sos>", "<usr>", "<sys>", "<cls>")
UNKNOWN, PAD, END, BEGIN, FIRST_SPEAKER, SECOND_SPEAKER, CLASSIFY = range(7)

_LONG_FORMS = {
    "it's": "it is", "don't": "do not", "doesn't": "does not", "didn't": "did not", "you'd": "you would",
    "you're": "you are", "you'll": "you will", "i'm": "i am", "they're": "they are", "that's": "that is",
    "what's": "what is", "couldn't": "could not", "i've": "i have", "we've": "we have", "can't": "cannot",
    "i'd": "i would", "aren't": "are not", "isn't": "is not", "wasn't": "was not", "weren't": "were not",
    "won't": "will not", "there's": "there is", "there're": "there are",
}  # fmt: skip

_INSIDE = r"[^\s;@#$%&?!\[\](){}<>\",:.']"  # characters that may stand anywhere in a word
_ENDINGS = r"(?:s|m|d|ll|re|ve)\b"
_WORD = "|".join(
    (
        r"\.{2,}|--",
        r"\b(?:mrs?|ms|dr|vs|e\.g|i\.e|a\.m|p\.m|u\.s)\.",
        r"\b(?:can(?=not\b)|gon(?=na\b)|got(?=ta\b)|wan(?=na\b)|gim(?=me\b)|lem(?=me\b))",
        rf"{_INSIDE}+?(?=n't\b)|n't\b",
        rf"'{_ENDINGS}",
        rf"{_INSIDE}+(?:(?:\.(?={_INSIDE})|[,:](?=\d)|'(?!{_ENDINGS})(?={_INSIDE})){_INSIDE}+)*",
        r"\S",
    )
)


def train_words(
    texts: Iterable[str], vocabulary_size: int, minimum_count: int, more_special_words: Sequence[str] = ()
) -> Tokenizer:
    """Make a vocabulary of the words that occur at least `minimum_count` times, and at most so many of them."""
    tokenizer = Tokenizer(models.WordLevel(unk_token=SPECIAL_WORDS[UNKNOWN]))
    replaced = [normalizers.Replace(short, long) for short, long in {"’": "'", **_LONG_FORMS}.items()]
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *replaced])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_WORD), behavior="removed", invert=True)
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocabulary_size,
        min_frequency=minimum_count,
        special_tokens=[*SPECIAL_WORDS, *more_special_words],
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return configure(tokenizer)


def load_words(path: Path, more_special_words: Sequence[str] = ()) -> Tokenizer:
    """Read a tokenizer.json of ours, from a file or from the folder that has one."""
    tokenizer = read_tokenizer(path)
    expected = (*SPECIAL_WORDS, *more_special_words)
    if not isinstance(tokenizer.model, models.WordLevel) or any(
        tokenizer.token_to_id(word) != number for number, word in enumerate(expected)
    ):
        raise CheckpointRefused(f"{path} must hold a vocabulary of words that begins with {' '.join(expected)}.")
    return configure(tokenizer)


@dataclass(frozen=True)
class WordedContext:
    ids: list[int]  # CLS, then the words of all turns, without separators
    speakers: list[int]  # for each word, the id of its speaker; CLS for CLS
    turns_cut: int  # how many of the oldest turns did not fit, or only in part


def encode_turns(tokenizer: Tokenizer, turns: Sequence[str], max_tokens: int) -> WordedContext:
    """Encode a context. One that is too long loses its oldest turns; a last turn that is too long by itself loses its
    beginning."""
    ids: list[int] = []
    speakers: list[int] = []
    room, first = max_tokens - 1, len(turns)  # CLS takes one place
    for index in reversed(range(len(turns))):
        turn = word_ids(tokenizer, turns[index])
        if ids and len(turn) + len(ids) > room:
            break
        first = index
        ids = turn + ids
        speakers = [SECOND_SPEAKER if index % 2 else FIRST_SPEAKER] * len(turn) + speakers
    turns_cut = first + (len(ids) > room)
    kept = max(0, len(ids) - room)
    return WordedContext([CLASSIFY, *ids[kept:]], [CLASSIFY, *speakers[kept:]], turns_cut)


def encode_words(tokenizer: Tokenizer, text: str, max_tokens: int) -> list[int]:
    """Return SOS, the reply's words, EOS. The decoder reads all but the last and has to predict all but the first, at
    most `max_tokens` each. A reply that is cut has no EOS."""
    return [BEGIN, *word_ids(tokenizer, text), END][: max_tokens + 1]


def word_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids
