"""Stores which HIT stands on which marketplace; defines when one is open, stopped, interrupted or gone."""

from django.db import models
from django.db.models import Q

from hits.models.hit import Hit
from hits.models.offering import Offering

IS_CONFIRMED = ~Q(crowd_hit_id="")
IS_REFUSED = ~IS_CONFIRMED & ~Q(refusal="")
IS_BEGUN = ~IS_CONFIRMED & Q(refusal="")
IS_THERE = IS_CONFIRMED & Q(gone_at=None)
IS_OPEN = IS_THERE & Q(retired_at=None, stopped_at=None)
IS_STOPPED = IS_THERE & Q(retired_at=None, stopped_at__isnull=False)


class PublicationQuerySet(models.QuerySet["Publication"]):
    def confirmed(self) -> "PublicationQuerySet":
        return self.filter(IS_CONFIRMED)

    def unconfirmed(self) -> "PublicationQuerySet":
        """Return those that we meant to publish without hearing back: they may or may not be on the marketplace."""
        return self.exclude(IS_CONFIRMED)

    def refused(self) -> "PublicationQuerySet":
        return self.filter(IS_REFUSED)

    def begun(self) -> "PublicationQuerySet":
        """Return those that an interrupted run left behind, and those that a run is publishing right now."""
        return self.filter(IS_BEGUN)

    def current(self) -> "PublicationQuerySet":
        """Leave out those that were put up again. Each HIT has at most one current publication per offering."""
        return self.filter(retired_at=None)

    def there(self) -> "PublicationQuerySet":
        """Return those that are confirmed and, as far as we know, not deleted since."""
        return self.filter(IS_THERE)

    def stopped(self) -> "PublicationQuerySet":
        return self.filter(IS_STOPPED)

    def open(self) -> "PublicationQuerySet":
        return self.filter(IS_OPEN)


class Publication(models.Model):
    """A HIT on a marketplace. It is saved before the call, and gets the marketplace's id after it.

    A HIT that was deleted there, or that leads to an address where nobody answers, can be put up again: then its row is
    retired but stays, for the work that still comes in, and a new row stands for the HIT.
    """

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="publications")
    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="publications")
    crowd_hit_id = models.CharField(max_length=64, blank=True)
    run = models.ForeignKey("PublishingRun", null=True, on_delete=models.SET_NULL, related_name="publications")
    wave = models.PositiveSmallIntegerField(default=1)
    intended_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)
    stopped_at = models.DateTimeField(null=True)
    # When we heard that it is off the market and nobody works on it, so that no more work can come in.
    closed_at = models.DateTimeField(null=True)
    # Set just before we put it back on offer, until the marketplace answers. Meanwhile it counts as open.
    reopening_at = models.DateTimeField(null=True)
    gone_at = models.DateTimeField(null=True)  # when we heard that the marketplace has deleted it
    retired_at = models.DateTimeField(null=True)  # when it was put up again, as another row
    round = models.PositiveSmallIntegerField(default=0)  # how often it was put up again before this row
    # Its number of assignments, if that is not the HIT's own. Once retired: how many were or still can be handed in.
    places = models.PositiveSmallIntegerField(null=True)
    page_url = models.TextField(blank=True, default="")  # where it sends its workers, if we know
    refusal = models.TextField(blank=True)
    # Generators that were dropped before this HIT was published there: its page leaves their replies out. Set with the
    # intent, and never changed: nobody's page changes while they work.
    dropped_models = models.JSONField(default=list)

    objects = PublicationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "offering"],
                condition=Q(retired_at=None),
                name="one_publication_per_hit_and_offering",
            ),
            models.UniqueConstraint(
                fields=["offering", "crowd_hit_id"],
                condition=~Q(crowd_hit_id=""),
                name="one_publication_per_crowd_hit",
            ),
            models.CheckConstraint(
                condition=Q(crowd_hit_id="", published_at=None) | Q(crowd_hit_id__gt="", published_at__isnull=False),
                name="publication_is_confirmed_with_its_id",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hit} on {self.offering.marketplace}"
