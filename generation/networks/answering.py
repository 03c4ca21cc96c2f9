"""Answer with a network that writes token by token: take the best reply that ends, or say why there is none."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch

from generation.contexts import Context, Reply
from generation.decoding.beam import Hypothesis, beam_search
from generation.decoding.decoder import Decoder
from generation.decoding.decoding_settings import BEAM, DIVERSE_BEAM, DecodingSettings
from generation.decoding.drawn import sample_replies

UNREADABLE = "\ufffd"  # decoding makes this of bytes that are not UTF-8
SCORED_AT_ONCE = 8  # with 50,265 tokens, the scores of 8 replies of 100 tokens take 160 MB


@dataclass(frozen=True)
class ReadContexts:
    """A batch of contexts as a network reads them; families add their tensors. Both lists have one entry a context."""

    labels: list[str]  # the emotion or intent that each reply will have; "" if the network knows none
    turns_cut: list[int]


Read = TypeVar("Read", bound=ReadContexts)


class DecodingAnswerer(ABC, Generic[Read]):
    def __init__(self, settings: DecodingSettings) -> None:
        self.settings = settings

    @abstractmethod
    def read(self, contexts: Sequence[Context]) -> Read: ...

    @abstractmethod
    def begin(self, read: Read, seeds: Sequence[int]) -> Decoder: ...

    @abstractmethod
    def text_of(self, tokens: Sequence[int]) -> str: ...

    @torch.inference_mode()
    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        if not contexts:
            return []
        read = self.read(contexts)
        decoder = self.begin(read, seeds)
        if self.settings.method in (BEAM, DIVERSE_BEAM):
            found = beam_search(decoder, self.settings)
        else:
            found = [[reply] for reply in sample_replies(decoder, self.settings, seeds)]
        return [self._make_reply(*one) for one in zip(found, read.labels, read.turns_cut, strict=True)]

    def _make_reply(self, hypotheses: list[Hypothesis], label: str, turns_cut: int) -> Reply:
        """Take the best reply that comes to an end. One that was cut at the longest length does not count."""
        ended = next((hypothesis for hypothesis in hypotheses if hypothesis.is_ended), None)
        if ended is None:
            return Reply("", label, turns_cut=turns_cut, failure="endless")
        text = self.text_of(ended.tokens)
        failure = "empty" if not text else "not text" if UNREADABLE in text else ""
        return Reply("" if failure else text, label, ended.score, turns_cut, failure)


@torch.inference_mode()
def score_in_batches(
    replies: Sequence[Sequence[int]], log_probabilities: Callable[[list[int]], list[float]]
) -> list[tuple[float, int]]:
    """Return the log-probability of each reply and the number of its tokens, not counting the first, which is given.

    `log_probabilities` is called with the indexes of a few replies of similar length, so that there is little padding.
    """
    order = sorted(range(len(replies)), key=lambda index: len(replies[index]))
    found: dict[int, tuple[float, int]] = {}
    for start in range(0, len(order), SCORED_AT_ONCE):
        indexes = order[start : start + SCORED_AT_ONCE]
        sums = log_probabilities(indexes)
        found |= {index: (total, len(replies[index]) - 1) for index, total in zip(indexes, sums, strict=True)}
    return [found[index] for index in range(len(replies))]
