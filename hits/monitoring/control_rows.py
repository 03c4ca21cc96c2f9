"""Counts what workers' attention checks and repeats told, in confirmed work."""

from dataclasses import dataclass

from django.db.models import Sum

from hits.collecting import CONTROL_COUNTS
from hits.models import Offering, Submission
from hits.stats import wilson_interval


@dataclass(frozen=True)
class Controls:
    """How many attention checks there were, and were obeyed; and how many answers came twice, and were the same."""

    attention_checks: int = 0
    attention_passed: int = 0
    said_twice: int = 0
    said_alike: int = 0

    def __add__(self, other: "Controls") -> "Controls":
        return Controls(*(getattr(self, name) + getattr(other, name) for name in CONTROL_COUNTS))

    @property
    def percent_passed(self) -> float | None:
        return 100 * self.attention_passed / self.attention_checks if self.attention_checks else None

    @property
    def percent_alike(self) -> float | None:
        return 100 * self.said_alike / self.said_twice if self.said_twice else None

    @property
    def interval_passed(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval, in percent. Of answers that came twice, results have one that knows of dialogs."""
        if not self.attention_checks:
            return None
        low, high = wilson_interval(self.attention_passed / self.attention_checks, self.attention_checks)
        return 100 * low, 100 * high


def controls_by_worker(offering: Offering, worker_id: str | None = None) -> dict[str, Controls]:
    """Sum up by worker, under the marketplace's own worker ids. Empty if the study has no controls."""
    if not offering.study.parsed_design.checkpoints.controls:
        return {}
    found = Submission.objects.filter(assignment__offering=offering).with_answers()
    if worker_id is not None:
        found = found.filter(assignment__crowd_worker_id=worker_id)
    sums = (
        found.order_by()
        .values("assignment__crowd_worker_id")
        .annotate(*(Sum(name, default=0) for name in CONTROL_COUNTS))
    )
    names = [f"{name}__sum" for name in CONTROL_COUNTS]
    return {who: Controls(*counts) for who, *counts in sums.values_list("assignment__crowd_worker_id", *names)}
