"""`retrieval`: choose a reply of the training data by two Transformer encoders (Rashkin et al. 2019).

Context and reply have an encoder each and share one table of words; h is the mean of the last states of the real
tokens, and the score h_x . h_y. Positions are fixed sinusoids. Shapes are as in retriever.py.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
from torch import Tensor, nn

from generation.networks.checkpoint import Checkpoint, load_checkpoint
from generation.networks.labeller import MOST_LABEL_TOKENS
from generation.networks.layers import Encoder, padding_mask
from generation.networks.network_config import NetworkConfig
from generation.networks.retrieval_texts import RetrievalConfig
from generation.networks.retriever import Retriever, RetrieverFamily
from generation.networks.tokenizing import END, SPECIAL_TOKENS, load_tokenizer

if TYPE_CHECKING:
    from generation.training.plan import Plan
    from generation.training.world import World

WORD_DEVIATION = 0.05


class RetrievalTransformer(Retriever):
    positions: Tensor

    def __init__(self, config: RetrievalConfig) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocabulary_size, config.width)
        nn.init.normal_(self.words.weight, std=WORD_DEVIATION)
        self.contexts, self.replies = Encoder(config, F.relu), Encoder(config, F.relu)
        self.register_buffer(
            "positions", sinusoids(config.max_tokens + MOST_LABEL_TOKENS, config.width), persistent=False
        )

    def embed_contexts(self, ids: Tensor) -> Tensor:
        return self._embed(ids, self.contexts)

    def embed_replies(self, ids: Tensor) -> Tensor:
        return self._embed(ids, self.replies)

    def _embed(self, ids: Tensor, encoder: Encoder) -> Tensor:
        states = self.words(ids) + self.positions[: ids.shape[1]]
        states = encoder(states, padding_mask(ids, self.config.pad))
        return mean_of_tokens(states, ids != self.config.pad)


def mean_of_tokens(states: Tensor, is_token: Tensor) -> Tensor:
    """[B, T, W], [B, T] -> [B, W]"""
    mask = is_token[:, :, None].to(states.dtype)
    means: Tensor = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
    return means


def sinusoids(length: int, width: int) -> Tensor:
    """Return fixed positions [length, width]: sines at even places, cosines at odd ones (Vaswani et al. 2017)."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :width]


class RetrievalFamily(RetrieverFamily):
    def build(self, config: NetworkConfig) -> nn.Module:
        assert isinstance(config, RetrievalConfig)
        return RetrievalTransformer(config)

    def train_tokenizer(self, texts: Iterable[str], plan: "Plan") -> Tokenizer:
        return WordTokenizer().train_tokenizer(texts, plan)

    def load_tokenizer(self, path: Path) -> Tokenizer:
        return load_tokenizer(path)

    def begin(self, plan: "Plan", world: "World", labels: Sequence[str]) -> Checkpoint:
        from generation.networks.preparing import config_for, spoken_texts, stored_tokenizer

        start = load_checkpoint(Path(plan.start)) if plan.start else None
        if start:
            tokenizer = start.tokenizer
        else:
            texts = spoken_texts(plan.data.training_records())
            tokenizer = stored_tokenizer(WordTokenizer(labels), plan, world, texts)
        config = config_for(self, plan, start, tokenizer, joint=[END])
        torch.manual_seed(plan.seed)
        return start or Checkpoint(self.build(config), tokenizer)


class WordTokenizer:
    """Takes the most frequent words, in the case in which they were written, with punctuation apart. The labels that
    may stand before a text are words, however rare."""

    def __init__(self, labels: Sequence[str] = ()) -> None:
        self.labels = labels

    def train_tokenizer(self, texts: Iterable[str], plan: "Plan") -> Tokenizer:
        return train_words(texts, plan.vocabulary_size, self.labels)

    def load_tokenizer(self, path: Path) -> Tokenizer:
        return load_tokenizer(path)


def train_words(texts: Iterable[str], vocabulary_size: int, labels: Sequence[str] = ()) -> Tokenizer:
    counting = _word_tokenizer({})
    counting.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=vocabulary_size, show_progress=False))
    found = counting.get_vocab()
    # Number the words ourselves: the trainer leaves gaps where a label or special token is also a word of the texts.
    words = dict.fromkeys([*SPECIAL_TOKENS, *labels, *sorted(found, key=lambda word: found[word])])
    tokenizer = _word_tokenizer({word: number for number, word in enumerate(list(words)[:vocabulary_size])})
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    tokenizer.encode_special_tokens = True
    return tokenizer


def _word_tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=SPECIAL_TOKENS[-1]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(r"\.\.\.|[.,;:!?']"), "isolated"), pre_tokenizers.WhitespaceSplit()]
    )
    return tokenizer
