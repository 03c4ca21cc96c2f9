"""Turn contexts and replies into token ids and back, cutting what is too long; train and load tokenizers.

In: turns and replies as text. Out: the token ids that Transformers read, and text again. Guaranteed: training and
answering build the same input, `<s> u1 </s></s> u2 </s>`, because both do it here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from generation.emotions import LABEL_IDS, NEUTRAL
from generation.errors import CheckpointRefused

SPECIAL_TOKENS = ("<s>", "<pad>", "</s>", "<unk>")  # RoBERTa's first four
BEGIN, PAD, END, UNKNOWN = range(4)


@dataclass(frozen=True)
class EncodedContext:
    ids: list[int]
    segments: list[int]  # 0 where speaker 1 talks, 1 where speaker 2 does
    labels: list[int]  # for each token, the label of its turn
    turns_cut: int  # how many of the oldest turns did not fit, or only in part
    reply_segment: int  # which speaker replies


def encode_context(
    tokenizer: Tokenizer, turns: Sequence[str], labels: Sequence[str], max_tokens: int, before: Sequence[int] = ()
) -> EncodedContext:
    """Encode a context. Turns without labels count as neutral. A context that is too long loses its oldest turns; a
    last turn that is too long by itself loses its beginning. The tokens `before` always stand at the beginning."""
    room = max_tokens - len(before)
    names = labels or [NEUTRAL] * len(turns)
    ids: list[int] = []
    segments: list[int] = []
    label_ids: list[int] = []
    first = len(turns)
    for index in reversed(range(len(turns))):
        turn = [END, *_encode(tokenizer, turns[index]), END]  # the very first token becomes <s> below
        if ids and len(turn) + len(ids) > room:
            break
        first = index
        ids = turn + ids
        segments = [index % 2] * len(turn) + segments
        label_ids = [LABEL_IDS[names[index]]] * len(turn) + label_ids
    is_cut_inside = len(ids) > room
    ids, segments, label_ids = ids[-room:], segments[-room:], label_ids[-room:]
    ids[:1] = [BEGIN, *before]
    segments[:1] = segments[:1] * (1 + len(before))
    label_ids[:1] = label_ids[:1] * (1 + len(before))
    return EncodedContext(ids, segments, label_ids, first + is_cut_inside, len(turns) % 2)


def encode_reply(tokenizer: Tokenizer, text: str, max_tokens: int) -> list[int]:
    """Return `<s> reply </s>`. The decoder reads all but the last token and has to predict all but the first, at most
    `max_tokens` each. A reply that is cut has no `</s>`, because a network must not learn to stop there."""
    return [BEGIN, *_encode(tokenizer, text), END][: max_tokens + 1]


def decode_reply(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    text: str = tokenizer.decode(list(ids), skip_special_tokens=True)
    return text.strip()


def _encode(tokenizer: Tokenizer, text: str) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids


def train_tokenizer(texts: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """Train byte-level BPE as RoBERTa's. It has a token for each of the 256 bytes, so it can encode any text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        min_frequency=2,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return configure(tokenizer)


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a byte-level BPE from a tokenizer.json, ours or RoBERTa's."""
    tokenizer = read_tokenizer(path)
    if any(tokenizer.token_to_id(token) != number for number, token in enumerate(SPECIAL_TOKENS)):
        raise CheckpointRefused(f"{path} must begin with the tokens {' '.join(SPECIAL_TOKENS)}, as RoBERTa's does.")
    return configure(tokenizer)


def read_tokenizer(path: Path) -> Tokenizer:
    """Read any tokenizer.json, from a file or from the folder that has one."""
    file = path / "tokenizer.json" if path.is_dir() else path
    try:
        return Tokenizer.from_str(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointRefused(f"There is no tokenizer.json in {path}.") from None
    except Exception as error:  # the library raises plain Exception
        raise CheckpointRefused(f"{file} is not a tokenizer: {error}") from error


def configure(tokenizer: Tokenizer) -> Tokenizer:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "</s>" typed by someone is text, not the end of a turn
    return tokenizer
