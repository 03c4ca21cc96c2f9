"""How each metric of a single reply is computed: by itself, or by asking the generator that wrote it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from generation.contexts import Context
from generation.emotions import EMOTIONS, LABELS
from generation.loading import Loader
from generation.metrics import similarity, words
from generation.metrics.naming import (
    EMOTION_RANK,
    GOLD_LOG_LIKELIHOOD,
    GOLD_TOKENS,
    LIKELIHOOD_VERSION,
    SENTENCE_BLEU,
    SIMILARITY,
)
from generation.models import Candidate, Dialog, Generator
from generation.registry import load_kind

Scores = Sequence[float]


@dataclass(frozen=True)
class ReplyMetric:
    """`names` are computed together: `compute` gives a number for each of them, for each candidate, or nothing where
    there is nothing to say."""

    names: tuple[str, ...]
    version: str
    compute: Callable[[Sequence[Candidate]], Sequence[Scores]]


def sentence_bleu_metric() -> ReplyMetric:
    return ReplyMetric((SENTENCE_BLEU,), words.version(), _sentence_bleu)


def similarity_metric(device: str) -> ReplyMetric:
    return ReplyMetric((SIMILARITY,), similarity.version(), lambda candidates: _similarity(candidates, device))


def metrics_of_generator(generator: Generator, device: str) -> Iterator[ReplyMetric]:
    """What only the generator itself can say, where its kind can. It is loaded when the first reply is scored."""
    loaded = _Loaded(generator, device)
    kind = load_kind(generator.kind)
    if hasattr(kind, "score_gold"):
        yield ReplyMetric((GOLD_TOKENS, GOLD_LOG_LIKELIHOOD), LIKELIHOOD_VERSION, loaded.likelihoods)
    can_rank = getattr(kind, "can_rank_emotions", None)
    if can_rank is not None and can_rank(generator.checkpoint):
        yield ReplyMetric((EMOTION_RANK,), "1", loaded.emotion_ranks)


def _sentence_bleu(candidates: Sequence[Candidate]) -> list[Scores]:
    return [[words.sentence_bleu(one.display_text, one.dialog.display_gold)] for one in candidates]


def _similarity(candidates: Sequence[Candidate], device: str) -> list[Scores]:
    pairs = [(one.display_text, one.dialog.display_gold) for one in candidates]
    return [[value] for value in similarity.similarities(pairs, device)]


class _Loaded:
    """A generator that is loaded when it is first asked."""

    def __init__(self, generator: Generator, device: str) -> None:
        self._generator = generator
        self._loader = Loader(device)

    def likelihoods(self, candidates: Sequence[Candidate]) -> list[Scores]:
        """With the gold's own label where it is known: that is how generators of labelled replies are trained."""
        contexts = [_context(one.dialog, one.dialog.gold_label) for one in candidates]
        golds = [one.dialog.gold for one in candidates]
        return [[count, total / count] for total, count in self._asked().score_gold(contexts, golds)]

    def emotion_ranks(self, candidates: Sequence[Candidate]) -> list[Scores]:
        ranked = self._asked().rank_emotions([_context(one.dialog) for one in candidates])
        return [_rank(labels, one.dialog.emotion) for labels, one in zip(ranked, candidates, strict=True)]

    def _asked(self) -> Any:
        return self._loader.get(self._generator).kind


def _context(dialog: Dialog, label: str = "") -> Context:
    known = label if label in LABELS else ""
    return Context(tuple(dialog.turns), tuple(dialog.turn_labels), forced_label=known)


def _rank(labels: Sequence[str], emotion: str) -> list[float]:
    """From 1, among the 32 emotions; behind all of them if it is none of the labels."""
    emotions = [label for label in labels if label in EMOTIONS]
    return [emotions.index(emotion) + 1 if emotion in emotions else len(emotions) + 1]
