"""Frees the places of workers who have given their work back to the crowd, or ran out of time there."""

from typing import cast

from hits.crowds import Market, TellsReturns, crowd_of
from hits.models import Assignment, Offering
from hits.serving import give_back


def free_returned(offering: Offering, market: Market) -> int:
    """Free the places, and return how many. Work that reached us keeps its place: the crowd may still confirm it."""
    if not crowd_of(offering).abilities.tells_returns:
        return 0
    held = Assignment.objects.filter(offering=offering, place=Assignment.Place.HELD, submitted_at=None)
    ours = set(held.values_list("crowd_assignment_id", "crowd_worker_id"))
    if not ours:
        return 0
    gone = [one for one in cast(TellsReturns, market).list_returned() if one in ours]
    return sum(give_back(offering, assignment_id, worker_id) for assignment_id, worker_id in gone)
