"""What the metrics say of all of a generator's replies to a dataset: rows of GeneratorScore, not saved yet."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from generation.emotions import EMOTIONS
from generation.metrics import similarity, words
from generation.metrics.label_accuracy import TOP, share_within, weighted
from generation.metrics.likelihood import perplexity
from generation.metrics.naming import EMOTION_RANK, GOLD_LOG_LIKELIHOOD, GOLD_TOKENS, LIKELIHOOD_VERSION, SIMILARITY
from generation.models import Candidate, CandidateScore, Dataset, Generator, GeneratorScore

Found = tuple[Mapping[str, float | None], int]  # values by name, and how many replies they are of


@dataclass(frozen=True)
class _Group:
    """Figures that are computed together."""

    names: tuple[str, ...]
    version: Callable[[], str]
    compute: Callable[["_Replies"], Found]


def new_figures(dataset: Dataset, generator: Generator) -> Iterator[GeneratorScore]:
    replies = _Replies(dataset, generator)
    for group in GROUPS:
        key = {"version": group.version(), "candidate_count": replies.count}
        known = GeneratorScore.objects.filter(dataset=dataset, generator=generator, metric__in=group.names, **key)
        if known.exists():
            continue
        values, scored = group.compute(replies)
        for name, value in values.items():
            if value is not None:
                yield GeneratorScore(
                    dataset=dataset, generator=generator, metric=name, value=value, scored_count=scored, **key
                )


class _Replies:
    """All of a generator's replies to a dataset, each column read when it is first asked for."""

    def __init__(self, dataset: Dataset, generator: Generator) -> None:
        self.generator = generator
        self.candidates: QuerySet[Candidate] = Candidate.objects.filter(dialog__dataset=dataset, generator=generator)
        self.count = self.candidates.count()

    @cached_property
    def texts(self) -> list[str]:
        return list(self.candidates.order_by("pk").values_list("display_text", flat=True))

    @cached_property
    def beside_gold(self) -> list[tuple[str, str]]:
        found = self.candidates.exclude(dialog__gold="").select_related("dialog").order_by("pk")
        return [(one.display_text, one.dialog.display_gold) for one in found]

    @cached_property
    def labels(self) -> list[tuple[str, str, str]]:
        """(predicted, the gold's, the dialog's emotion) of replies that came with a predicted one."""
        found = self.candidates.exclude(predicted_label="").order_by("pk")
        return list(found.values_list("predicted_label", "dialog__gold_label", "dialog__emotion"))

    @cached_property
    def are_emotions(self) -> bool:
        """Whether predictions are guesses at the dialog's emotion, as MoEL and MIME make them, and not at the reply's
        own label. That is what generators that answer here predict; of imported ones the labels tell: among many there
        would be an intent."""
        others = self.generator.candidates.exclude(predicted_label__in=["", *EMOTIONS])
        return not self.generator.can_answer and not others.exists()

    def scores(self, metric: str, version: str) -> list[float]:
        found = CandidateScore.objects.filter(candidate__in=self.candidates, metric=metric, version=version)
        return list(found.order_by("candidate").values_list("value", flat=True))


def _distinct(replies: _Replies) -> Found:
    texts = [words.words_of(text) for text in replies.texts]
    return {f"distinct_{n}": words.distinct(texts, n) for n in (1, 2)}, len(texts)


def _bleu(replies: _Replies) -> Found:
    if not replies.beside_gold:
        return {}, 0
    texts, golds = zip(*replies.beside_gold, strict=True)
    found = words.bleu(texts, golds)
    return {"bleu_4": found.of_4, "bleu_average": found.average}, len(texts)


def _similarity(replies: _Replies) -> Found:
    """Like perplexity only if every reply was scored: a run that stopped, or left it out, gives no figure of a part."""
    values = replies.scores(SIMILARITY, similarity.version())
    is_complete = values and len(values) == len(replies.beside_gold)
    return {"similarity": sum(values) / len(values) if is_complete else None}, len(values)


def _perplexity(replies: _Replies) -> Found:
    likelihoods, tokens = (replies.scores(name, LIKELIHOOD_VERSION) for name in (GOLD_LOG_LIKELIHOOD, GOLD_TOKENS))
    golds = list(zip(likelihoods, map(int, tokens), strict=True))
    found = perplexity(golds) if len(golds) == len(replies.beside_gold) else None
    if found is None:
        return {}, 0
    return {"perplexity": found.macro, "perplexity_by_token": found.by_token}, len(golds)


def _labels(replies: _Replies) -> Found:
    pairs = [(gold, predicted) for predicted, gold, _ in replies.labels if gold and not replies.are_emotions]
    found = weighted([gold for gold, _ in pairs], [predicted for _, predicted in pairs])
    if found is None:
        return {}, 0
    return {"label_precision": found.precision, "label_recall": found.recall, "label_f1": found.f1}, len(pairs)


def _emotions(replies: _Replies) -> Found:
    """From the generator's ranking of the emotions or, imported without one, from its one guess."""
    if ranks := [int(rank) for rank in replies.scores(EMOTION_RANK, "1")]:
        return {f"emotion_top_{most}": share_within(ranks, most) for most in TOP}, len(ranks)
    guesses = [predicted == emotion for predicted, _, emotion in replies.labels if emotion and replies.are_emotions]
    return {"emotion_top_1": sum(guesses) / len(guesses) if guesses else None}, len(guesses)


GROUPS: Sequence[_Group] = (
    _Group(("perplexity", "perplexity_by_token"), lambda: LIKELIHOOD_VERSION, _perplexity),
    _Group(("distinct_1", "distinct_2"), words.version, _distinct),
    _Group(("similarity",), similarity.version, _similarity),
    _Group(("bleu_4", "bleu_average"), words.version, _bleu),
    _Group(("label_precision", "label_recall", "label_f1"), lambda: "1", _labels),
    _Group(("emotion_top_1", "emotion_top_2", "emotion_top_5"), lambda: "1", _emotions),
)
