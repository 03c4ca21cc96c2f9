"""Finds our HITs on the marketplace, and those in which something has happened since we looked last."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from django.db.models import Count, Q

from hits.crowds import Market, MarketHit, call_in_threads, crowd_of
from hits.errors import MarketRefused
from hits.models import Offering, Publication, Submission
from hits.models.submission import SubmissionQuerySet


def our_publications(offering: Offering) -> dict[str, Publication]:
    """Return our confirmed publications, by the marketplace's id."""
    confirmed = Publication.objects.filter(offering=offering).confirmed().select_related("offering")
    return {one.crowd_hit_id: one for one in confirmed}


def our_hits(market: Market, publications: Mapping[str, Publication]) -> Iterator[MarketHit]:
    """Yield our HITs, newest first, and stop after the last of ours: the account may hold many older ones of other
    projects.

    Each comes once, even if the list shifts while we read it and names one twice. `look_up_hits` asks for those that
    the list leaves out.
    """
    unseen = set(publications)
    waiting = {crowd_hit_id for crowd_hit_id, one in publications.items() if one.gone_at is None}
    for hit in market.list_hits():
        if hit.crowd_hit_id in unseen:
            unseen.remove(hit.crowd_hit_id)
            waiting.discard(hit.crowd_hit_id)
            yield hit
        if not waiting:
            return


def look_up_hits(
    market: Market, publications: Mapping[str, Publication], threads: int
) -> tuple[list[MarketHit], list[Publication]]:
    """Return our HITs as the marketplace has them now, and our publications that it no longer has.

    A HIT that is not on the list may have been deleted, or the list may lag, so we ask for the HIT itself.
    """
    listed = list(our_hits(market, publications))
    seen = {hit.crowd_hit_id for hit in listed}
    missing = [one for key, one in publications.items() if key not in seen and one.gone_at is None]
    gone: list[Publication] = []
    for outcomes in call_in_threads(lambda one: find_hit(market, one.crowd_hit_id), missing, threads):
        for publication, outcome in outcomes:
            found = outcome.result()
            if found is None:
                gone.append(publication)
            else:
                listed.append(found)
    return listed, gone


def find_hit(market: Market, crowd_hit_id: str) -> MarketHit | None:
    """Return the HIT, or None if it was deleted."""
    try:
        found = market.get_hit(crowd_hit_id)
    except MarketRefused as refused:
        if refused.is_gone:
            return None
        raise
    return None if found.is_deleted else found


def recently_rejected(offering: Offering, now: datetime) -> SubmissionQuerySet:
    """Return rejected work whose rejection may still be reversed on the marketplace without a change in the HIT's
    counts."""
    within = crowd_of(offering).abilities.overrides_rejections_for
    ours = Submission.objects.filter(assignment__offering=offering)
    return ours.filter(status=Submission.Status.REJECTED, submitted_at__gt=now - within)


def has_news(hit: MarketHit, known: Mapping[str, tuple[int, int]], rejected: set[str]) -> bool:
    return hit.crowd_hit_id in rejected or _submitted_and_completed(hit) != known.get(hit.crowd_hit_id, (0, 0))


def _submitted_and_completed(hit: MarketHit) -> tuple[int, int]:
    """Return how many assignments were submitted, and how many of those are approved or rejected."""
    return hit.max_assignments - hit.pending_count - hit.available_count, hit.completed_count


def known_counts(offering: Offering) -> dict[str, tuple[int, int]]:
    rows = (
        Submission.objects.filter(assignment__offering=offering)
        .values("crowd_hit_id")
        .annotate(submitted=Count("pk"), completed=Count("pk", filter=~Q(status=Submission.Status.SUBMITTED)))
    )
    return {row["crowd_hit_id"]: (row["submitted"], row["completed"]) for row in rows}
