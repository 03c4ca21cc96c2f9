"""Compute the scores that are missing, chunk by chunk, and store them. The next run continues one that was killed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from django.db.models import Exists, OuterRef, QuerySet

from evalplatform.errors import EvalPlatformError
from generation.errors import CheckpointRefused
from generation.metrics.all_metrics import METRICS
from generation.metrics.metric import Asked, Metric, Replies, can_answer
from generation.models import Candidate, CandidateScore, Dataset, Generator, GeneratorScore

CHUNK = 512

OnStep = Callable[[str, int, int], None]  # called with the score's name, how many replies are done, and how many in all


@dataclass(frozen=True)
class ScoringCounts:
    reply_scores: int
    generator_scores: int
    problems: list[str]  # sentences that say what could not be computed, and why


def generators_in(dataset: Dataset, names: Sequence[str] = ()) -> list[Generator]:
    """Return the generators that have answered some of the dataset's dialogs: all, or the named ones."""
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
    with_slow: bool = True,
) -> ScoringCounts:
    """Compute and store all missing scores. Without a GPU, leaving out the slow ones saves most of the time."""
    _refuse_without_packages()
    candidates = Candidate.objects.filter(dialog__dataset=dataset, generator__in=generators)
    problems: list[str] = []
    rows: list[GeneratorScore] = []
    scored = 0
    for metric in METRICS:
        if metric.reply_scores and not metric.asks and (with_slow or not metric.is_slow):
            scored += _score_missing(metric, metric.replies_of(candidates), Asked(device), on_step)
    for generator in generators:
        asked = Asked(device, generator)
        try:
            for metric in METRICS:
                if metric.asks and can_answer(generator, metric.asks):
                    own = metric.replies_of(candidates.filter(generator=generator))
                    scored += _score_missing(metric, own, asked, on_step)
        except CheckpointRefused as refused:
            problems.append(f"{generator} can't be loaded, so its perplexity stays unknown. {refused}")
        rows += _missing_generator_scores(Replies(dataset, generator, asked), problems)
    GeneratorScore.objects.bulk_create(rows, ignore_conflicts=True)
    return ScoringCounts(scored, len(rows), problems)


def _missing_generator_scores(replies: Replies, problems: list[str]) -> Iterator[GeneratorScore]:
    """Yield the missing rows. The caller saves them."""
    of = {"dataset": replies.dataset, "generator": replies.generator}
    for metric in METRICS:
        key = {"version": metric.version(), "candidate_count": replies.count}
        names = [column.name for column in metric.columns]
        if not names or GeneratorScore.objects.filter(metric__in=names, **of, **key).exists():
            continue
        try:
            values, scored = metric.summarise(replies)
        except CheckpointRefused as refused:
            problems.append(f"{replies.generator} can't be loaded, so its {names[0]} stays unknown. {refused}")
            continue
        for name, value in values.items():
            if value is not None:
                yield GeneratorScore(metric=name, value=value, scored_count=scored, **of, **key)


def _score_missing(metric: Metric, candidates: QuerySet[Candidate], asked: Asked, on_step: OnStep) -> int:
    """Score the replies that are not scored yet, and return how many they are."""
    # It is enough to look for one name, because scores that are computed together are stored together.
    name, version = metric.reply_scores[-1], metric.version()
    scored = CandidateScore.objects.filter(candidate=OuterRef("pk"), metric=name, version=version)
    ids = list(candidates.exclude(Exists(scored)).order_by("dialog", "pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        on_step(name, start, len(ids))
        chunk = Candidate.objects.filter(pk__in=ids[start : start + CHUNK]).select_related("dialog")
        _score_chunk(metric, list(chunk.order_by("dialog", "pk")), asked)
    on_step(name, len(ids), len(ids))
    return len(ids)


def _score_chunk(metric: Metric, chunk: Sequence[Candidate], asked: Asked) -> None:
    version = metric.version()
    rows = [
        CandidateScore(candidate=candidate, metric=name, version=version, value=value)
        for candidate, values in zip(chunk, metric.score_replies(chunk, asked), strict=True)
        for name, value in zip(metric.reply_scores, values, strict=True)
    ]
    CandidateScore.objects.bulk_create(rows, ignore_conflicts=True)


def _refuse_without_packages() -> None:
    """Refuse to score where a package is missing: a web server's installation has none of them."""
    for package in (package for metric in METRICS for package in metric.packages):
        if find_spec(package) is None:
            raise EvalPlatformError(
                f"{package} is not installed here: scoring needs what requirements.txt names, and not only "
                "requirements-web.txt. Run: pip install -r requirements.txt"
            )
