"""Makes the HITs of a crowd that knows a study only as a whole: there, a HIT stands in our own rows alone.

Such a crowd answers `Market.get_hit` and `list_hits` with these, so that collecting and replacing need not know.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta

from hits.crowds.market import MarketHit
from hits.models import Assignment, Offering, Publication, Replacement
from hits.models.assignment import HAS_PLACE

HitId = tuple[int, str]  # our HIT, and its id there, of which it has several if it was put up again


def hits_of_rows(offering: Offering, marks: Mapping[str, int], handed_in: Mapping[str, bool]) -> Iterator[MarketHit]:
    """Yield the offering's published HITs.

    `marks` are those that `Crowd.marks` makes. `handed_in` is what the crowd itself says: the ids of the assignments
    that were handed in there, each with whether it was decided (approved or rejected).
    """
    mark_of = {number: mark for mark, number in marks.items()}
    published = Publication.objects.filter(offering=offering).confirmed().select_related("hit").order_by("pk")
    current = {one.hit_id: one.crowd_hit_id for one in published if one.retired_at is None}
    done, decided, extra = _count_handed_in(offering, current, handed_in)
    in_hand = _count_in_hand(offering, handed_in)
    of_hit: Counter[int] = Counter()
    for (hit, _), count in done.items():
        of_hit[hit] += count
    more = Replacement.objects.confirmed().filter(offering=offering).places_of_hits()
    lifetime = timedelta(days=offering.study.parsed_design.crowd.lifetime_days)
    for one in published:
        is_current, this = one.retired_at is None, (one.hit_id, one.crowd_hit_id)
        # A replacement's places count what was handed in before the HIT was put up again; a HIT there counts from 0.
        former = of_hit[one.hit_id] - done[this]
        made = one.hit.assignments if one.places is None else one.places
        places = max(made, more.get(one.hit_id, 0) - former) if is_current else max(made, done[this])
        # Extra work is handed in beyond the places, so it fills none of them.
        unfilled = max(0, places - (done[this] - extra[this])) if is_current else 0
        pending = min(in_hand[one.hit_id], unfilled)
        available = unfilled - pending
        yield MarketHit(
            crowd_hit_id=one.crowd_hit_id,
            mark=mark_of.get(one.hit.number, ""),
            is_open=pending > 0 or (one.stopped_at is None and available > 0),
            is_deleted=False,
            max_assignments=done[this] + pending + available,
            expires_at=(one.published_at or one.intended_at) + lifetime,
            pending_count=pending,
            available_count=available,
            completed_count=decided[this],
        )


def _count_handed_in(
    offering: Offering, current: Mapping[int, str], handed_in: Mapping[str, bool]
) -> tuple[Counter[HitId], Counter[HitId], Counter[HitId]]:
    """Count what was handed in under each id of a HIT, what of it was decided, and what of it is extra."""
    rows = Assignment.objects.filter(offering=offering)
    columns = ("crowd_assignment_id", "hit", "submission__crowd_hit_id", "place")
    known = {
        key: ((hit, crowd_hit_id or current.get(hit, "")), place == Assignment.Place.EXTRA)
        for key, hit, crowd_hit_id, place in rows.order_by("pk").values_list(*columns)
        if key in handed_in
    }
    done = Counter(this for this, _ in known.values())
    decided = Counter(this for key, (this, _) in known.items() if handed_in[key])
    return done, decided, Counter(this for this, is_extra in known.values() if is_extra)


def _count_in_hand(offering: Offering, handed_in: Mapping[str, bool]) -> Counter[int]:
    """Count the places that somebody has whose work the crowd does not know to be handed in."""
    has_place = Assignment.objects.filter(HAS_PLACE, offering=offering)
    rows = has_place.values_list("crowd_assignment_id", "hit")
    return Counter(hit for key, hit in rows if key not in handed_in)
