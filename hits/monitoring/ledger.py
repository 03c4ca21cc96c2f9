"""Shows the ledger to researchers: a line for each reward, bonus and top-up with its outcome, and the sums."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, Sum

from hits.access import pseudonym
from hits.models import Offering, Payment
from hits.models.payment import PaymentQuerySet
from hits.paying import ELSEWHERE, FOUND_ON_MARKET

IS_PAID = Q(paid_at__isnull=False)
DUE_ELSEWHERE = "due elsewhere"  # on the list, where no money goes through the crowd
IS_ELSEWHERE = Q(paid_by=ELSEWHERE)
IS_OWED = Q(paid_at=None, cancelled_at=None)
PAYMENT_STATES = {
    "paid": IS_PAID & ~IS_ELSEWHERE,
    DUE_ELSEWHERE: IS_ELSEWHERE,
    "owed": IS_OWED,
    "ordered": IS_OWED & Q(sending_at__isnull=False, refusal=""),  # asked for, and not seen to be paid yet
    "refused": IS_OWED & ~Q(refusal=""),
    "cancelled": Q(cancelled_at__isnull=False),
    "found": Q(paid_by=FOUND_ON_MARKET),  # some of those that are "paid": we did not pay these ourselves
}
LEDGER_COLUMNS = (
    *("payment", "kind", "worker", "hit", "assignment", "cents", "fee_cents", "currency", "state"),
    *("intended_at", "paid_at", "paid_by", "cancelled_at", "refusal", "reason", "origin"),
)


@dataclass(frozen=True)
class LedgerSum:
    """The sums of one kind of payment, in cents, with fees."""

    kind: str
    count: int
    paid_cents: int
    owed_cents: int
    cancelled_cents: int


def payments_of(offering: Offering, state: str = "") -> PaymentQuerySet:
    """Return the payments in this state, the newest first."""
    of_study = Payment.objects.filter(submission__assignment__offering=offering)
    return of_study.filter(PAYMENT_STATES[state] if state else Q()).order_by("-pk")


def payment_state(payment: Payment) -> str:
    if payment.paid_at:
        return DUE_ELSEWHERE if payment.paid_by == ELSEWHERE else "paid"
    if payment.cancelled_at:
        return "cancelled"
    if payment.refusal:
        return "refused"
    return "ordered" if payment.sending_at else "owed"


def sum_ledger(offering: Offering) -> list[LedgerSum]:
    """Return the sums of each kind of payment, and of all."""
    cents = F("cents") + F("fee_cents")
    rows = (
        payments_of(offering)
        .order_by()
        .values("kind")
        .annotate(
            count=Count("pk"),
            paid=Sum(cents, filter=IS_PAID),
            owed=Sum(cents, filter=IS_OWED),
            cancelled=Sum(cents, filter=PAYMENT_STATES["cancelled"]),
        )
    )
    by_kind = {row["kind"]: row for row in rows}
    sums = [_sum(kind.value, [by_kind[kind]]) for kind in Payment.Kind if kind in by_kind]
    return [*sums, _sum("all", by_kind.values())] if sums else []


def _sum(kind: str, rows: Iterable[Mapping[str, Any]]) -> LedgerSum:
    def total(name: str) -> int:
        return sum(row[name] or 0 for row in rows)

    return LedgerSum(kind, total("count"), total("paid"), total("owed"), total("cancelled"))


def refusals_of(offering: Offering) -> list[tuple[str, int]]:
    """List why payments that we owe could not be made so far, and how often."""
    refused = payments_of(offering, "refused").order_by().values("refusal")
    return list(refused.annotate(count=Count("pk")).values_list("refusal", "count").order_by("-count"))


def ledger_rows(offering: Offering, has_worker_ids: bool = False) -> Iterator[tuple[object, ...]]:
    """Yield the ledger's lines with LEDGER_COLUMNS, the oldest first. HITs have the number that people read, from 1.
    Workers have their pseudonyms, unless whoever asks may know their ids."""
    names: dict[str, str] = {}
    payments = payments_of(offering).order_by("pk").select_related("submission__assignment__hit")
    for payment in payments.defer("submission__answer_xml").iterator(chunk_size=2000):
        assignment = payment.submission.assignment
        who = assignment.crowd_worker_id
        if who not in names:
            names[who] = who if has_worker_ids else pseudonym(offering.study, who)
        yield (
            *(payment.pk, payment.kind, names[who], assignment.hit.shown_number, assignment.pk),
            *(payment.cents, payment.fee_cents, offering.currency, payment_state(payment)),
            *(_time(payment.intended_at), _time(payment.paid_at), payment.paid_by, _time(payment.cancelled_at)),
            *(payment.refusal, payment.reason, payment.submission.origin),
        )


def _time(at: object) -> str:
    return at.isoformat() if hasattr(at, "isoformat") else ""
