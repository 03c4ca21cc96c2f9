"""Counts each HIT's places again, and who has one, where our page gives workers their HITs.

In: an offering's publications, replacements and assignments. Out: its HitPlaces rows, and which work has a place.
Guaranteed: whatever the rows said before (nothing yet, too much after a kill, something older after a restore), they
are right afterwards; no HIT has more places taken than it has, work that was handed in keeps its place before work that
was not, and a place that is free goes to work that is there already before it goes to a new worker.
"""

from collections import Counter

from django.db.models import Count, Q

from hits.budgeting.places import confirmed_places
from hits.budgeting.study_lock import spending
from hits.crowds import crowd_of
from hits.models import Assignment, HitPlaces, Offering, Publication
from hits.models.assignment import HAS_PLACE, AssignmentQuerySet

Place = Assignment.Place

# Work that the crowd has confirmed is handed in, even if our page never heard of it.
IS_HANDED_IN = Q(submission__isnull=False) | Q(submitted_at__isnull=False, ended_as="")
IS_OVER = Q(submission=None) & (~Q(ended_as="") | Q(submitted_at=None, taken_over_at__isnull=False))
ROWS_AT_ONCE = 500


def recount_places(offering: Offering) -> int:
    """Make the offering's rows right, and return how many HITs' rows were not.

    Call it after anything that changes which HITs are on offer or how many places they have, and at each sync. It does
    nothing where the crowd hands out the HITs.
    """
    if not crowd_of(offering).abilities.sends_to_study:
        return 0
    with spending(offering.study):
        ours = Assignment.objects.filter(offering=offering)
        _note_what_happened(ours)
        published = _published_places(offering)
        _settle_claims(ours, published)
        return _write_rows(offering, published, _count_taken(ours))


def _note_what_happened(ours: AssignmentQuerySet) -> None:
    """Note what collecting found: what was handed in wants a place, and what is over has none."""
    ours.filter(IS_OVER).exclude(place__in=[Place.NONE, Place.FREED]).update(place=Place.FREED)
    ours.filter(IS_HANDED_IN, place=Place.HELD).update(place=Place.FILLED)
    ours.filter(IS_HANDED_IN, place__in=[Place.NONE, Place.FREED]).update(place=Place.EXTRA)


def _published_places(offering: Offering) -> dict[int, int]:
    """Return how many places each HIT has that was published. They are as many as the crowd is told."""
    known = confirmed_places(offering)
    published = Publication.objects.filter(offering=offering).confirmed()
    return {hit: known[hit] for hit in published.values_list("hit", flat=True)}


def _count_taken(ours: AssignmentQuerySet) -> Counter[int]:
    counted = ours.filter(HAS_PLACE).values("hit").annotate(count=Count("pk"))
    return Counter(dict(counted.values_list("hit", "count")))


def _settle_claims(ours: AssignmentQuerySet, published: dict[int, int]) -> None:
    """Give free places to late work that is there already. If a HIT has fewer places than we gave, take the last ones
    back."""
    taken = _count_taken(ours)
    late = set(ours.filter(place=Place.EXTRA).values_list("hit", flat=True))
    for hit in late | {hit for hit, count in taken.items() if count > published.get(hit, 0)}:
        claims = list(ours.filter(HAS_PLACE | Q(place=Place.EXTRA), hit=hit).order_by("submitted_at", "held_at", "pk"))
        claims.sort(key=lambda one: [Place.FILLED, Place.HELD, Place.EXTRA].index(Place(one.place)))
        for rank, one in enumerate(claims):
            is_in_hand = one.place == Place.HELD
            if rank < published.get(hit, 0):
                right = Place.HELD if is_in_hand else Place.FILLED
            else:
                right = Place.FREED if is_in_hand else Place.EXTRA
            if one.place != right:
                ours.filter(pk=one.pk).update(place=right)


def _write_rows(offering: Offering, published: dict[int, int], taken: Counter[int]) -> int:
    known = {row.hit_id: row for row in HitPlaces.objects.filter(offering=offering)}
    on_offer = set(Publication.objects.filter(offering=offering).open().values_list("hit", flat=True))
    new, changed = [], []
    for pk, number, block in offering.study.hits.filter(pk__in=published).values_list("pk", "number", "block"):
        right = {"places": published[pk], "taken": taken[pk], "is_on_offer": pk in on_offer}
        row = known.get(pk)
        if row is None:
            new.append(HitPlaces(offering=offering, hit_id=pk, number=number, block=block, **right))
        elif any(getattr(row, name) != value for name, value in right.items()):
            for name, value in right.items():
                setattr(row, name, value)
            changed.append(row)
    HitPlaces.objects.bulk_create(new, batch_size=ROWS_AT_ONCE)
    HitPlaces.objects.bulk_update(changed, ["places", "taken", "is_on_offer"], batch_size=ROWS_AT_ONCE)
    return len(new) + len(changed)
