"""Counts how many checkpoints workers passed, of all that stand in confirmed work."""

from dataclasses import dataclass

from django.db.models import Count, OuterRef, Subquery

from hits.models import BonusCheck, Offering, Rating
from hits.protocols import is_won, passes_at_first, protocol_of
from hits.stats import wilson_interval


@dataclass(frozen=True)
class Passed:
    """How many checkpoints were passed. `won` goes by the attempt that the study counts; `won_at_first` by the first
    check, or by the final answer if the worker never checked. A worker who finds the human reply by trial has more
    `won` than `won_at_first`."""

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
        """Wilson's 95 % interval, in percent."""
        if not self.checkpoints:
            return None
        low, high = wilson_interval(self.won / self.checkpoints, self.checkpoints)
        return 100 * low, 100 * high

    @property
    def percent_at_first(self) -> float | None:
        return 100 * self.won_at_first / self.checkpoints if self.checkpoints else None


def passed_by_worker(offering: Offering, worker_id: str | None = None) -> dict[str, Passed]:
    """Count by worker, under the marketplace's own worker ids."""
    worker = "submission__assignment__crowd_worker_id"
    protocol = protocol_of(offering.study.parsed_design)
    human = Rating.objects.confirmed(offering).filter(criterion=protocol.checkpoint_criterion, candidate=None)
    if worker_id is not None:
        human = human.filter(submission__assignment__crowd_worker_id=worker_id)
    of_item = BonusCheck.objects.filter(assignment=OuterRef("submission__assignment"), item=OuterRef("item"))
    # The database only counts how often each case happened; hits.protocols.checkpoints says which case wins.
    first_check = Subquery(of_item.first_attempts().values("is_passed"))
    cases = human.annotate(first=first_check).order_by().values(worker, "value", "first")
    rules = protocol.design.checkpoints
    found: dict[str, Passed] = {}
    for who, value, first, count in cases.annotate(count=Count("pk")).values_list(worker, "value", "first", "count"):
        final = protocol.value_passes(value)
        passed = Passed(count, count * is_won(rules, final, first), count * passes_at_first(final, first))
        found[who] = found.get(who, Passed()) + passed
    return found
