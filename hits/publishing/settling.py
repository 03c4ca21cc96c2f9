"""Tells a crowd that knows a study only as a whole how many places the study has now, and whether it is on offer.

In: our own rows. Out: one call with absolute numbers. Guaranteed: repeating it changes nothing, and of two that run at
once the crowd ends with what the rows say. A crowd that offers each HIT by itself does nothing here.
"""

from dataclasses import dataclass

from hits.budgeting import places_in_all, recount_places
from hits.crowds import Market, crowd_notes, note_of_crowd
from hits.models import Offering, Publication

MOST_CALLS = 5


@dataclass(frozen=True)
class _State:
    address: str
    places: int
    is_on_offer: bool


def settle_offering(offering: Offering, market: Market) -> None:
    """Bring the offering on its crowd to what our rows say. Call it after anything that changes which HITs are on
    offer, or how many places they have, and at each sync.

    Our own count of places comes first: it is what our page gives out, whether or not the crowd can be reached."""
    recount_places(offering)
    state = _state(offering)
    for _ in range(MOST_CALLS):
        if state is None:
            return
        notes = crowd_notes(offering)
        noted = market.settle_offering(offering, notes, state.address, state.places, state.is_on_offer)
        if noted != notes:
            note_of_crowd(offering, noted)
        # Another run may have stopped the study while we were calling. Then our call may be the later one, and would
        # have put it back on offer.
        before, state = state, _state(offering)
        if state == before:
            return


def _state(offering: Offering) -> _State | None:
    """Return what the rows say, or None as long as nothing was published."""
    ours = Publication.objects.filter(offering=offering).confirmed()
    if not ours.exists():
        return None
    page_url = Offering.objects.values_list("page_url", flat=True).get(pk=offering.pk)
    return _State(f"{page_url}/{offering.study.key}/", places_in_all(offering), ours.open().exists())
