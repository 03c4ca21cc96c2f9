from django.conf import settings
from django.db import models
from django.db.models import Q

from hits.models.hit import Hit
from hits.models.offering import Offering


class ReplacementQuerySet(models.QuerySet["Replacement"]):
    def standing(self) -> "ReplacementQuerySet":
        """Confirmed, or perhaps there: what may be filled and must be paid if it is."""
        return self.filter(refusal="")

    def unconfirmed(self) -> "ReplacementQuerySet":
        return self.standing().filter(confirmed_at=None)


class Replacement(models.Model):
    """That a HIT is to be worked on again for what it has lost (saved before the calls), and that it can be (after).

    `places` is how many assignments the HIT has with it: the marketplace's own number, by which a request that was
    made is known for ever. `added` of them are new; `reopened` ones had expired before anybody took them.
    """

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="replacements")
    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="replacements")
    places = models.PositiveSmallIntegerField()
    added = models.PositiveSmallIntegerField()
    reopened = models.PositiveSmallIntegerField()
    excluded = models.PositiveSmallIntegerField(default=0)  # what the HIT had lost by then, and to what
    rejected = models.PositiveSmallIntegerField(default=0)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    intended_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True)
    refusal = models.TextField(blank=True)

    objects = ReplacementQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "offering", "places"],
                condition=Q(added__gt=0),
                name="one_replacement_per_number_of_places",
            ),
            models.CheckConstraint(
                condition=Q(confirmed_at=None) | Q(refusal=""), name="replacement_is_not_confirmed_and_refused"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.added} more and {self.reopened} reopened of {self.hit} on {self.offering.place}"

    @property
    def token(self) -> str:
        """Of at most 64 characters. Without an id of ours, which a restored database may reuse."""
        return f"{self.hit.study.key.hex}-{self.hit.number}-to-{self.places}"
