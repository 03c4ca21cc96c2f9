"""What a crowd's folder notes for itself on an offering's row, such as ids that it was given."""

from collections.abc import Mapping

from django.db import transaction

from hits.models import Offering


@transaction.atomic
def note_of_crowd(offering: Offering, notes: Mapping[str, str]) -> dict[str, str]:
    """Add these to what is noted, and return all of it. What was noted first stays: two runs at once make one thing
    there, under the name by which the second finds it."""
    row = Offering.objects.select_for_update().only("crowd_notes").get(pk=offering.pk)
    noted = {**notes, **row.crowd_notes}
    if noted != row.crowd_notes:
        Offering.objects.filter(pk=offering.pk).update(crowd_notes=noted)
    return noted


def crowd_notes(offering: Offering) -> dict[str, str]:
    """Read anew: the caller may hold the row since before something was noted."""
    found: dict[str, str] = Offering.objects.values_list("crowd_notes", flat=True).get(pk=offering.pk)
    return found
