"""How many assignments each HIT has on a marketplace, replacements included, and how many may still be handed in."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Max, Q

from hits.crowds.contract import MarketHit
from hits.models import Event, Offering, Publication, Replacement, Study, Submission
from hits.models.publication import PublicationQuerySet

MAY_BE_THERE = ~Q(crowd_hit_id="") | Q(refusal="")
OPEN_STATUSES = ("Assignable", "Unassignable")  # on offer, or off the market with somebody still at work on it


@dataclass(frozen=True)
class UnfilledPlaces:
    hit_id: int
    assignments: int  # that the HIT was made with
    count: int


def open_places(offering: Offering) -> list[UnfilledPlaces]:
    """Of the HITs of which something may still come, as far as we know. What was only begun counts: it may be there."""
    return unfilled_places(offering, Publication.objects.current().filter(MAY_BE_THERE, closed_at=None))


def revealed_secret(study: Study) -> str:
    """The secret of its card orders, once none of its HITs can bring work any more, on any marketplace; else ""."""
    is_open = Publication.objects.current().filter(MAY_BE_THERE, hit__study=study, closed_at=None).exists()
    return "" if is_open else study.order_secret


def reveal_secret(study: Study, now: datetime) -> str:
    """The same, for a bundle that is about to be written: it is noted that the orders are public from now on."""
    if secret := revealed_secret(study):
        Study.objects.filter(pk=study.pk, orders_revealed_at=None).update(orders_revealed_at=now)
    return secret


def closed_places(offering: Offering) -> list[UnfilledPlaces]:
    """Of the HITs that were stopped and would be filled if they were put back."""
    return unfilled_places(offering, Publication.objects.stopped().exclude(closed_at=None))


def unfilled_places(offering: Offering, publications: PublicationQuerySet) -> list[UnfilledPlaces]:
    more, submitted = replaced_places(offering), submitted_counts(offering)
    rows = publications.filter(offering=offering).values_list("hit", "hit__assignments")
    places = [UnfilledPlaces(hit, made, max(made, more.get(hit, 0)) - submitted.get(hit, 0)) for hit, made in rows]
    return [one for one in places if one.count > 0]


def replaced_places(offering: Offering) -> dict[int, int]:
    """How many assignments the HITs have by now that were given more than they were made with."""
    standing = Replacement.objects.standing().filter(offering=offering)
    return dict(standing.order_by().values("hit").annotate(most=Max("places")).values_list("hit", "most"))


def submitted_counts(offering: Offering) -> dict[int, int]:
    ours = Submission.objects.filter(assignment__offering=offering)
    return dict(ours.values("assignment__hit").annotate(count=Count("pk")).values_list("assignment__hit", "count"))


def former_counts(offering: Offering) -> dict[int, int]:
    """How many of a HIT's assignments were handed in before it was put up again: the HIT there counts from 0 again."""
    retired = Publication.objects.filter(offering=offering).exclude(retired_at=None)
    ids = list(retired.confirmed().values_list("crowd_hit_id", flat=True))
    ours = Submission.objects.filter(assignment__offering=offering, crowd_hit_id__in=ids)
    return dict(ours.values("assignment__hit").annotate(count=Count("pk")).values_list("assignment__hit", "count"))


@transaction.atomic
def note_gone(offering: Offering, gone: Collection[Publication], now: datetime) -> None:
    """That HITs of ours were deleted on the marketplace. What workers had handed in stays, here and in the ledger."""
    ours = Publication.objects.filter(pk__in=[one.pk for one in gone], gone_at=None)
    count = ours.update(gone_at=now, closed_at=now)
    if count:
        text = (
            f"found that {count:,} HIT{'s were' if count > 1 else ' was'} deleted on the {offering.environment} market"
        )
        Event.objects.create(study=offering.study, at=now, actor=None, text=text)


@transaction.atomic
def note_places(
    offering: Offering, listed: Iterable[MarketHit], publications: Mapping[str, Publication], now: datetime
) -> None:
    """What the marketplace says of our HITs: which are closed, and which have more assignments than we know of.

    The latter were asked for by a run that was killed before it noted so, or before our database was restored.
    """
    hits = [(publications[hit.crowd_hit_id], hit) for hit in listed]
    ours = Publication.objects.filter(pk__in=[one.pk for one, _ in hits])
    closed = {one.pk for one, hit in hits if hit.status not in OPEN_STATUSES}
    ours.filter(pk__in=closed, closed_at=None).update(closed_at=now)
    ours.exclude(pk__in=closed).exclude(closed_at=None).update(closed_at=None)
    ours.exclude(gone_at=None).update(gone_at=None)  # there after all: mostly, we had asked in another account
    known, former = confirmed_places(offering), former_counts(offering)
    for publication, hit in hits:
        places = hit.max_assignments + former.get(publication.hit_id, 0)
        if publication.retired_at is None and places > known.get(publication.hit_id, places):
            _note_replacement(publication, places, known[publication.hit_id], now)


def confirmed_places(offering: Offering) -> dict[int, int]:
    made = dict(offering.study.hits.values_list("pk", "assignments"))
    confirmed = Replacement.objects.filter(offering=offering).exclude(confirmed_at=None)
    return made | dict(confirmed.order_by().values("hit").annotate(most=Max("places")).values_list("hit", "most"))


def _note_replacement(publication: Publication, places: int, before: int, now: datetime) -> None:
    asked = Replacement.objects.filter(hit=publication.hit_id, offering=publication.offering_id, added__gt=0)
    if not asked.filter(places=places).update(confirmed_at=now, refusal=""):
        Replacement.objects.bulk_create(
            [
                Replacement(
                    hit_id=publication.hit_id,
                    offering_id=publication.offering_id,
                    places=places,
                    added=places - before,
                    reopened=0,
                    intended_at=now,
                    confirmed_at=now,
                )
            ],
            ignore_conflicts=True,
        )
