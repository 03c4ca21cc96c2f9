"""Stores and reads what a crowd's folder notes on an offering's row, such as ids that the crowd gave us."""

from collections.abc import Mapping

from django.db import transaction

from hits.models import Offering


@transaction.atomic
def note_of_crowd(offering: Offering, notes: Mapping[str, str]) -> dict[str, str]:
    """Add these notes to the row, and return all of its notes. A note that exists already is not replaced.

    So when two runs create the same thing at once, both go on with the one that was noted first.
    """
    row = Offering.objects.select_for_update().only("crowd_notes").get(pk=offering.pk)
    noted = {**notes, **row.crowd_notes}
    if noted != row.crowd_notes:
        Offering.objects.filter(pk=offering.pk).update(crowd_notes=noted)
    return noted


def crowd_notes(offering: Offering) -> dict[str, str]:
    """Return the notes from the database: the caller's object may be older than the last note."""
    found: dict[str, str] = Offering.objects.values_list("crowd_notes", flat=True).get(pk=offering.pk)
    return found
