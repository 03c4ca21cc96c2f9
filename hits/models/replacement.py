"""Stores replacements: assignments that were requested again because earlier ones were lost."""

from django.conf import settings
from django.db import models
from django.db.models import Max, Q

from hits.models.hit import Hit
from hits.models.offering import Offering


class ReplacementQuerySet(models.QuerySet["Replacement"]):
    def standing(self) -> "ReplacementQuerySet":
        """Return those that are confirmed or may exist: workers may fill them, and must then be paid."""
        return self.filter(refusal="")

    def unconfirmed(self) -> "ReplacementQuerySet":
        return self.standing().filter(confirmed_at=None)

    def confirmed(self) -> "ReplacementQuerySet":
        return self.exclude(confirmed_at=None)

    def places_of_hits(self) -> dict[int, int]:
        """Return how many assignments each HIT has with these requests, by the HIT's primary key. A HIT for which
        nothing was requested is missing: it has as many as it was made with."""
        return dict(self.order_by().values("hit").annotate(most=Max("places")).values_list("hit", "most"))


class Replacement(models.Model):
    """A request for more work on a HIT, for what it has lost. It is saved before the calls and confirmed after them.

    `places` is how many assignments the HIT has once this is done. That is the marketplace's own number, so a request
    that was carried out can always be recognised. `added` of them are new; `reopened` ones had expired before anybody
    took them.
    """

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="replacements")
    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="replacements")
    places = models.PositiveSmallIntegerField()
    added = models.PositiveSmallIntegerField()
    reopened = models.PositiveSmallIntegerField()
    excluded = models.PositiveSmallIntegerField(default=0)  # how much the HIT had lost by then, by cause
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
        return f"{self.added} more and {self.reopened} reopened of {self.hit} on {self.offering.marketplace}"

    @property
    def token(self) -> str:
        """Return a token of at most 64 characters that makes repeating the request harmless.

        It contains no id from our database, because a restored database may use an id again.
        """
        return f"{self.hit.study.key.hex}-{self.hit.number}-to-{self.places}"
