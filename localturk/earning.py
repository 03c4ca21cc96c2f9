"""Sum up what a worker has earned on this marketplace."""

from dataclasses import dataclass

from django.db.models import Count, Sum

from localturk.models import LedgerEntry, TurkAssignment, WorkerAccount

Status = TurkAssignment.Status


@dataclass(frozen=True)
class Earnings:
    reward_cents: int
    bonus_cents: int
    pending_cents: int
    approved_count: int
    rejected_count: int
    submitted_count: int

    @property
    def total_cents(self) -> int:
        return self.reward_cents + self.bonus_cents


def earnings(worker: WorkerAccount) -> Earnings:
    """Return the worker's earnings on this marketplace. Work that the account brought along earned nothing here."""
    paid = dict(LedgerEntry.objects.filter(worker=worker).values_list("kind").annotate(cents=Sum("amount_cents")))
    here = TurkAssignment.objects.filter(worker=worker)
    counts = dict(here.values_list("status").annotate(count=Count("pk")))
    waiting = here.filter(status=Status.SUBMITTED).aggregate(cents=Sum("hit__hit_type__reward_cents"))
    return Earnings(
        reward_cents=paid.get(LedgerEntry.Kind.REWARD, 0),
        bonus_cents=paid.get(LedgerEntry.Kind.BONUS, 0),
        pending_cents=waiting["cents"] or 0,
        approved_count=counts.get(Status.APPROVED, 0),
        rejected_count=counts.get(Status.REJECTED, 0),
        submitted_count=counts.get(Status.SUBMITTED, 0),
    )
