"""Stores how many places a HIT has in an offering and how many are taken, where our page gives workers their HITs."""

from django.db import models
from django.db.models import F, Q

from hits.models.hit import Hit
from hits.models.offering import Offering


class HitPlaces(models.Model):
    """A HIT's places in one offering, of a crowd that sends its workers to the study.

    The row says nothing that other rows don't: `places` and `is_on_offer` follow from publications and replacements,
    `taken` from the assignments that have a place. It exists so that giving a worker a HIT costs the same in a study of
    ten HITs and of ten thousand. hits.budgeting.hit_places counts it again from those rows. It changes only under the
    study's lock.
    """

    # No index of its own: the constraint and the index below begin with it.
    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="hit_places", db_index=False)
    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="places_in_offerings")
    number = models.PositiveIntegerField()  # the HIT's own, and its block
    block = models.PositiveIntegerField()
    places = models.PositiveSmallIntegerField()
    taken = models.PositiveSmallIntegerField(default=0)
    is_on_offer = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["offering", "hit"], name="one_row_of_places_per_hit_and_offering"),
            # The last word on it: whatever runs at once, no HIT gets more workers than it has places.
            models.CheckConstraint(condition=Q(taken__lte=F("places")), name="no_more_places_taken_than_there_are"),
        ]
        indexes = [
            # The first entry is the least filled HIT that has a free place.
            models.Index(
                fields=["offering", "taken", "number"],
                condition=Q(is_on_offer=True, taken__lt=F("places")),
                name="free_places_of_offering",
            )
        ]

    def __str__(self) -> str:
        return f"{self.taken} of {self.places} places of {self.hit}"
