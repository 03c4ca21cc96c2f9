"""Puts a publishing plan into words, and counts HITs by their state."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q

from evalplatform.wording import count_of
from hits.designing import describe_hourly_pay, style_warning
from hits.models import Offering, Publication, Study
from hits.models.money import money
from hits.models.publication import IS_BEGUN, IS_OPEN, IS_REFUSED, IS_STOPPED
from hits.publishing.publishing_plan import PublishingPlan


@dataclass(frozen=True)
class MarketCounts:
    """How many HITs of a study are in which state on one marketplace."""

    on_offer: int
    stopped: int
    begun: int
    refused: int
    unpublished: int
    gone: int  # deleted by somebody on the marketplace

    @property
    def to_publish(self) -> int:
        return self.begun + self.refused + self.unpublished


def count_publications(offering: Offering) -> MarketCounts:
    """Count the study's HITs by their state on this marketplace."""
    ours = Publication.objects.filter(offering=offering).current()
    found = ours.aggregate(
        frozen=Count("pk", filter=Q(hit__added_for=None)),
        on_offer=Count("pk", filter=IS_OPEN),
        stopped=Count("pk", filter=IS_STOPPED),
        begun=Count("pk", filter=IS_BEGUN),
        refused=Count("pk", filter=IS_REFUSED),
        gone=Count("pk", filter=Q(gone_at__isnull=False)),
    )
    return MarketCounts(unpublished=offering.study.hits.frozen().count() - found.pop("frozen"), **found)


def describe_plan(plan: PublishingPlan) -> Iterator[str]:
    """Yield sentences about what the plan publishes and costs, what it pays per hour, and a warning about looks."""
    before = plan.budget.committed_cents
    spent = f", beside at most {money(before, plan.design.pay.currency)} before" if before else ""
    interrupted = " left by an interrupted run" if plan.begun_count == len(plan.hits) > 0 else ""
    hits, assignments = count_of(len(plan.hits), "HIT"), count_of(plan.cost.assignment_count, "assignment")
    yield (
        f"{plan.offering.study} on the {plan.offering.marketplace} marketplace, wave {plan.wave}: {hits}{interrupted}, "
        f"{assignments}, at most {money(plan.cost.total_cents, plan.design.pay.currency)}{spent}."
    )
    yield f"{describe_hourly_pay(plan.design)}."
    yield from style_warning(plan.offering.study.style_report)


def describe_public_orders(study: Study) -> str:
    """Return a warning for anyone who brings more workers to a study whose bundle has revealed its card orders; ""
    if it has not."""
    if study.orders_revealed_at is None:
        return ""
    return (
        f"The card orders of {study} are public: a bundle of {study.orders_revealed_at:%d %b %Y} reveals their secret, "
        "so a worker who has it can tell which card stands where. Copy the study instead: a copy draws a new secret."
    )
