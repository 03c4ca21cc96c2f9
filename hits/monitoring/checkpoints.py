"""How many checkpoints were passed: of all that stand in confirmed work, tried or not."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from hits.models import BonusCheck, Study, Submission
from hits.stats.intervals import wilson_interval


@dataclass(frozen=True)
class Passed:
    """`won` by the attempt that the study counts, `won_at_first` by the first."""

    checkpoints: int = 0
    won: int = 0
    won_at_first: int = 0

    def __add__(self, other: "Passed") -> "Passed":
        return Passed(
            self.checkpoints + other.checkpoints, self.won + other.won, self.won_at_first + other.won_at_first
        )

    @property
    def percent(self) -> float | None:
        return 100 * self.won / self.checkpoints if self.checkpoints else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """In percent; Wilson's, at 95 %."""
        if not self.checkpoints:
            return None
        low, high = wilson_interval(self.won / self.checkpoints, self.checkpoints)
        return 100 * low, 100 * high

    @property
    def percent_at_first(self) -> float | None:
        return 100 * self.won_at_first / self.checkpoints if self.checkpoints else None


def passed_by_worker(study: Study, environment: str, worker_id: str | None = None) -> dict[str, Passed]:
    """By the marketplace's own ids."""
    worker = "assignment__mturk_worker_id"
    of_study = Q(assignment__hit__study=study, assignment__environment=environment)
    if worker_id is not None:
        of_study &= Q(assignment__mturk_worker_id=worker_id)
    is_checkpoint = Q(assignment__hit__items__is_checkpoint=True)
    there = Submission.objects.filter(of_study, problem="").values(worker)
    counts = there.annotate(count=Count("assignment__hit__items", filter=is_checkpoint)).values_list(worker, "count")
    checks = BonusCheck.objects.filter(of_study, is_won=True, assignment__submission__problem="").order_by()
    first = dict(checks.filter(attempt=1).values(worker).annotate(count=Count("pk")).values_list(worker, "count"))
    if study.design["checkpoints"]["counted_attempt"] == "first":
        counted = first
    else:
        last = checks.filter(~Exists(_later_attempts()))
        counted = dict(last.values(worker).annotate(count=Count("pk")).values_list(worker, "count"))
    return {who: Passed(count, counted.get(who, 0), first.get(who, 0)) for who, count in counts}


def _later_attempts() -> QuerySet[BonusCheck]:
    return BonusCheck.objects.filter(
        assignment=OuterRef("assignment"), item=OuterRef("item"), attempt__gt=OuterRef("attempt")
    )
