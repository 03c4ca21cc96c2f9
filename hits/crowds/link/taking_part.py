"""Says how far workers are in an offering by link: what they have begun, what they have done, what is left for them.

It only reads, and takes no place: `hits.serving` gives out places, once somebody has agreed.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from hits.models import Answer, Assignment, HitPlaces, Offering, Publication, SharedBlock, Standing
from hits.models.assignment import AssignmentQuerySet


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
    is_begun = begun_by(offering, worker_id).exists()
    on_offer = Publication.objects.filter(offering=offering).open()
    is_blocked = _blocks(offering).filter(crowd_worker_id=worker_id).exists()
    is_open = on_offer.exists()
    may = is_open and not is_blocked and done < _limit(offering)
    return Part(done, is_begun, is_open, is_blocked, may and _has_place(offering, worker_id, now))


def is_complete(offering: Offering) -> bool:
    """Return whether nothing will be free any more: every place on offer is filled, and nobody is working."""
    places = HitPlaces.objects.filter(offering=offering, is_on_offer=True, taken__lt=F("places"))
    held = Assignment.objects.filter(offering=offering, place=Assignment.Place.HELD)
    return not places.exists() and not held.exists()


def begun_by(offering: Offering, worker_id: str) -> AssignmentQuerySet:
    """Return a worker's work to which they can return."""
    ours = Assignment.objects.filter(offering=offering, crowd_worker_id=worker_id)
    return ours.filter(can_return_to(offering))


def can_return_to(offering: Offering) -> Q:
    """Return which assignments are still in hand.

    Who has only looked, and whose place somebody else has by now, could do nothing there: they get another HIT instead.
    """
    has_room = HitPlaces.objects.filter(offering=offering, hit=OuterRef("hit"), taken__lt=F("places"))
    has_answers = Answer.objects.filter(assignment=OuterRef("pk"))
    can_go_on = ~Q(place=Assignment.Place.FREED) | Q(Exists(has_answers)) | Q(Exists(has_room))
    return Q(submitted_at=None, taken_over_at=None) & can_go_on


def count_left(offering: Offering, worker_id: str, part: Part, now: datetime) -> int:
    """Return how many more HITs there are for the worker now, beside the one in hand."""
    if not part.has_more:
        return 0
    most = max(0, _limit(offering) - part.done - part.is_begun)
    free = _unseen(offering, worker_id).filter(taken__lt=F("places")).order_by().values("block").distinct()
    return min(most, max(1, free[:most].count()))  # one, if only places are left whose time is over


def left_for_each(offering: Offering, done_or_held: dict[str, int]) -> dict[str, int]:
    """Return the same for many workers at once, by their ids, given how many HITs each has done or has in hand.

    Places whose time is over count once they are free: a sync sees to it.
    """
    limit = _limit(offering)
    seen: dict[str, set[int]] = defaultdict(set)
    blocked = set(_blocks(offering).values_list("crowd_worker_id", flat=True))
    shared: dict[int, set[int]] = defaultdict(set)
    for block, other in SharedBlock.objects.filter(study=offering.study_id).values_list("block", "other"):
        shared[block].add(other)
    for worker_id, block in Assignment.objects.filter(offering=offering).values_list("crowd_worker_id", "hit__block"):
        seen[worker_id] |= {block} | shared[block]
    places = HitPlaces.objects.filter(offering=offering, is_on_offer=True, taken__lt=F("places"))
    free = set(places.values_list("block", flat=True))
    return {
        worker_id: 0 if worker_id in blocked else max(0, min(limit - count, len(free - seen[worker_id])))
        for worker_id, count in done_or_held.items()
    }


def _limit(offering: Offering) -> int:
    return offering.study.parsed_design.crowd.max_hits_per_worker


def _blocks(offering: Offering) -> QuerySet[Standing]:
    return Standing.objects.filter(offering=offering, lifted_at=None).exclude(kind=Standing.Kind.CAP)


def _unseen(offering: Offering, worker_id: str) -> QuerySet[HitPlaces]:
    ours = Assignment.objects.filter(offering=offering, crowd_worker_id=worker_id)
    seen = ours.values("hit__block")
    shared = SharedBlock.objects.filter(study=offering.study_id, block__in=seen).values("other")
    on_offer = HitPlaces.objects.filter(offering=offering, is_on_offer=True)
    return on_offer.exclude(block__in=seen).exclude(block__in=shared)


def _has_place(offering: Offering, worker_id: str, now: datetime) -> bool:
    """Return whether some HIT with dialogs that the worker has not seen still has a place."""
    limit = timedelta(minutes=offering.study.parsed_design.crowd.time_limit_minutes)
    unseen = _unseen(offering, worker_id)
    # A place whose time is over is only freed when somebody comes, or at a sync.
    held = Assignment.objects.filter(offering=offering, place=Assignment.Place.HELD)
    is_over = held.filter(held_at__lte=now - limit)
    return unseen.filter(taken__lt=F("places")).exists() or (unseen.exists() and is_over.exists())
