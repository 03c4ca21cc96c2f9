"""Counts each HIT's places on a marketplace and those still open; decides when card orders may be revealed."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q

from evalplatform.wording import count_of
from hits.budgeting.study_lock import spending
from hits.crowds import MarketHit, crowd_of
from hits.models import Assignment, Event, Offering, Publication, Replacement, Study, Submission
from hits.models.publication import PublicationQuerySet

MAY_BE_THERE = ~Q(crowd_hit_id="") | Q(refusal="")
MAY_BRING_WORK = MAY_BE_THERE & (Q(closed_at=None) | Q(reopening_at__isnull=False))
IN_FLIGHT = timedelta(minutes=10)  # for so long, the run that saved an intent may still be calling the marketplace


@dataclass(frozen=True)
class UnfilledPlaces:
    """Assignments of a HIT that may still be handed in."""

    hit_id: int
    assignments: int  # how many the HIT was made with
    count: int
    is_retired: bool = False  # True if the HIT was put up again, and workers still hold some of the old one


def open_places(offering: Offering) -> list[UnfilledPlaces]:
    """Return the places of HITs from which work may still come, as far as we know.

    A HIT that an interrupted run was about to publish counts, since it may be there. So does what workers still hold of
    a HIT that was put up again: they may hand it in, and are then paid.
    """
    return unfilled_places(offering, Publication.objects.filter(MAY_BRING_WORK))


def revealed_secret(study: Study) -> str:
    """Return the secret of the study's card orders once no HIT of it can bring work on any marketplace; "" before
    that."""
    is_open = Publication.objects.filter(MAY_BRING_WORK, hit__study=study).exists()
    return "" if is_open else study.order_secret


def reveal_secret(study: Study, now: datetime) -> str:
    """Return the same for a bundle that is about to be written, and note that the orders are public from now on.

    Work that was begun by then may still come where our page gives out the places. A person decides about it
    (`undecided.AFTER_THE_ORDERS`): whoever only looked in and left must not keep the orders secret for ever.
    """
    with spending(study):  # nobody asks for more work between the look and the note
        if secret := revealed_secret(study):
            Study.objects.filter(pk=study.pk, orders_revealed_at=None).update(orders_revealed_at=now)
        return secret


def unfilled_places(offering: Offering, publications: PublicationQuerySet) -> list[UnfilledPlaces]:
    """Return the unfilled places of these publications."""
    submitted, there = _submitted_counts_here_and_there(offering)
    asked: dict[int, list[tuple[int, datetime]]] = {}
    standing = Replacement.objects.standing().filter(offering=offering)
    for hit, places, at in standing.values_list("hit", "places", "intended_at"):
        asked.setdefault(hit, []).append((places, at))
    found = []
    for one in publications.filter(offering=offering).select_related("hit"):
        made = one.hit.assignments
        own = (made if one.places is None else one.places) - there.get(one.crowd_hit_id, 0)
        # Replacements that were requested before the HIT was put up again belonged to the old one; late work on the old
        # one fills none of these places.
        more = [places for places, at in asked.get(one.hit_id, []) if one.places is None or at >= one.intended_at]
        in_all = max([*more, made if one.places is None else 0]) - submitted.get(one.hit_id, 0)
        is_retired = one.retired_at is not None
        count = own if is_retired else in_all if one.places is None else max(own, in_all)
        if count > 0:
            found.append(UnfilledPlaces(one.hit_id, made, count, is_retired))
    return found


def submitted_counts(offering: Offering) -> dict[int, int]:
    """Return how many submissions each HIT has."""
    ours = Submission.objects.filter(assignment__offering=offering)
    return dict(ours.values("assignment__hit").annotate(count=Count("pk")).values_list("assignment__hit", "count"))


def extra_counts(offering: Offering) -> dict[int, int]:
    """Return how many submissions each HIT has beyond its places, by workers who were late."""
    late = Submission.objects.filter(assignment__offering=offering, assignment__place=Assignment.Place.EXTRA)
    return dict(late.values("assignment__hit").annotate(count=Count("pk")).values_list("assignment__hit", "count"))


def _submitted_counts_here_and_there(offering: Offering) -> tuple[dict[int, int], dict[str, int]]:
    """Return the counts by our HITs, and by the marketplace's HITs, of which one of ours may have had several."""
    # Extra work has no place (Assignment.Place), so the places are still to be filled.
    ours = Submission.objects.filter(assignment__offering=offering).exclude(assignment__place=Assignment.Place.EXTRA)
    counted = ours.values("assignment__hit", "crowd_hit_id").annotate(count=Count("pk"))
    here: dict[int, int] = {}
    there: dict[str, int] = {}
    for hit, crowd_hit_id, count in counted.values_list("assignment__hit", "crowd_hit_id", "count"):
        here[hit] = here.get(hit, 0) + count
        there[crowd_hit_id] = there.get(crowd_hit_id, 0) + count
    return here, there


def former_counts(offering: Offering) -> dict[int, int]:
    """Return how many assignments of a HIT were handed in before it was put up again, since the new one counts from
    0."""
    retired = Publication.objects.filter(offering=offering).exclude(retired_at=None)
    ids = list(retired.confirmed().values_list("crowd_hit_id", flat=True))
    ours = Submission.objects.filter(assignment__offering=offering, crowd_hit_id__in=ids)
    return dict(ours.values("assignment__hit").annotate(count=Count("pk")).values_list("assignment__hit", "count"))


@transaction.atomic
def note_gone(offering: Offering, gone: Collection[Publication], now: datetime) -> None:
    """Note that HITs of ours were deleted on the marketplace. What workers had handed in stays, here and in the
    ledger."""
    ours = Publication.objects.filter(pk__in=[one.pk for one in gone], gone_at=None)
    count = ours.update(gone_at=now, closed_at=now)
    if count:
        text = f"found that {count_of(count, 'HIT was', 'HITs were')} deleted on the {offering.marketplace} market"
        Event.objects.create(study=offering.study, at=now, actor=None, text=text)


@transaction.atomic
def note_places(
    offering: Offering, listed: Iterable[MarketHit], publications: Mapping[str, Publication], now: datetime
) -> None:
    """Note what the marketplace says of our HITs: which are closed, and which have more assignments than we know of.

    Additional assignments were requested by a run that was killed before it noted them, or before our database was
    restored.
    """
    hits = [(publications[hit.crowd_hit_id], hit) for hit in listed]
    ours = Publication.objects.filter(pk__in=[one.pk for one, _ in hits])
    closed = {one.pk for one, hit in hits if not hit.is_open}
    ours.filter(pk__in=closed, closed_at=None).update(closed_at=now)
    ours.exclude(pk__in=closed).exclude(closed_at=None, reopening_at=None).update(closed_at=None, reopening_at=None)
    # Closed there, although a run was about to put it back: that run was killed, unless it began only just now.
    ours.filter(pk__in=closed, reopening_at__lt=now - IN_FLIGHT).update(reopening_at=None)
    ours.exclude(gone_at=None).update(gone_at=None)  # it exists after all; usually we had asked in another account
    known, former = confirmed_places(offering), former_counts(offering)
    # Where a HIT stands in our own rows alone, nobody else can have asked for more; late work only looks like it.
    is_ours_alone = crowd_of(offering).abilities.sends_to_study
    for publication, hit in hits:
        if publication.retired_at is not None:
            ours.filter(pk=publication.pk).update(places=hit.max_assignments - hit.available_count)
        places = hit.max_assignments + former.get(publication.hit_id, 0)
        if not is_ours_alone and publication.retired_at is None and places > known.get(publication.hit_id, places):
            _note_replacement(publication, places, known[publication.hit_id], now)


def confirmed_places(offering: Offering) -> dict[int, int]:
    """Return how many assignments each HIT has, as far as the marketplace has confirmed."""
    made = dict(offering.study.hits.values_list("pk", "assignments"))
    return made | Replacement.objects.confirmed().filter(offering=offering).places_of_hits()


def places_in_all(offering: Offering) -> int:
    """Return how many assignments all published HITs have together, including those that were handed in. It only
    grows."""
    known = confirmed_places(offering)
    published = Publication.objects.filter(offering=offering).confirmed().current()
    return sum(known[hit] for hit in published.values_list("hit", flat=True))


def _note_replacement(publication: Publication, places: int, before: int, now: datetime) -> None:
    """Note additional assignments of a HIT as a confirmed replacement."""
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
