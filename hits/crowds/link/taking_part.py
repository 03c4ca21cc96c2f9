"""Says how far a worker is in an offering by link: what they have begun, what they have done, what is left for them.

It only reads, and takes no place: `hits.serving` gives out places, once somebody has agreed.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F

from hits.models import Assignment, HitPlaces, Offering, Publication, Standing


@dataclass(frozen=True)
class Part:
    """A worker's part in a study."""

    done: int  # assignments that they have handed in
    is_begun: bool  # they have one in hand, to which they can return
    is_open: bool  # the study is on offer
    is_blocked: bool
    has_more: bool  # as far as can be told without taking a place, there is one for them

    @property
    def is_new(self) -> bool:
        return not self.done and not self.is_begun


def part_of(offering: Offering, worker_id: str, now: datetime) -> Part:
    ours = Assignment.objects.filter(offering=offering, crowd_worker_id=worker_id)
    done = ours.filter(submitted_at__isnull=False).count()
    is_begun = ours.filter(submitted_at=None, taken_over_at=None).exists()
    on_offer = Publication.objects.filter(offering=offering).open()
    standings = Standing.objects.filter(offering=offering, crowd_worker_id=worker_id, lifted_at=None)
    is_blocked = standings.exclude(kind=Standing.Kind.CAP).exists()
    is_open = on_offer.exists()
    may = is_open and not is_blocked and done < offering.study.parsed_design.crowd.max_hits_per_worker
    return Part(done, is_begun, is_open, is_blocked, may and _has_place(offering, worker_id, now))


def _has_place(offering: Offering, worker_id: str, now: datetime) -> bool:
    """Return whether some HIT with dialogs that the worker has not seen still has a place."""
    limit = timedelta(minutes=offering.study.parsed_design.crowd.time_limit_minutes)
    ours = Assignment.objects.filter(offering=offering)
    seen = ours.filter(crowd_worker_id=worker_id).values("hit__block")
    unseen = HitPlaces.objects.filter(offering=offering, is_on_offer=True).exclude(block__in=seen)
    # A place whose time is over is only freed when somebody comes, or at a sync.
    is_over = ours.filter(place=Assignment.Place.HELD, held_at__lte=now - limit)
    return unseen.filter(taken__lt=F("places")).exists() or (unseen.exists() and is_over.exists())
