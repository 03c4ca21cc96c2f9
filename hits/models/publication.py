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
        """Meant to be published, without word from the marketplace: it may or may not be there."""
        return self.exclude(IS_CONFIRMED)

    def refused(self) -> "PublicationQuerySet":
        return self.filter(IS_REFUSED)

    def begun(self) -> "PublicationQuerySet":
        """Left behind by a run that was interrupted, or being published at this moment."""
        return self.filter(IS_BEGUN)

    def current(self) -> "PublicationQuerySet":
        """Without those that were put up again: one at most for a HIT and a marketplace."""
        return self.filter(retired_at=None)

    def there(self) -> "PublicationQuerySet":
        """Confirmed, and not deleted since, as far as we have heard."""
        return self.filter(IS_THERE)

    def stopped(self) -> "PublicationQuerySet":
        return self.filter(IS_STOPPED)

    def open(self) -> "PublicationQuerySet":
        return self.filter(IS_OPEN)


class Publication(models.Model):
    """That a HIT is to stand on a marketplace (saved before the call), and the id it got there (saved after it).

    A HIT that was deleted there, or that leads to an address where nobody answers, can be put up again: its row is
    retired, and stays for what still comes of it, and a new row stands for the HIT.
    """

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="publications")
    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="publications")
    crowd_hit_id = models.CharField(max_length=64, blank=True)
    run = models.ForeignKey("PublishingRun", null=True, on_delete=models.SET_NULL, related_name="publications")
    wave = models.PositiveSmallIntegerField(default=1)
    intended_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)
    stopped_at = models.DateTimeField(null=True)
    # When we heard that it is off the market with nobody at work on it: nothing more comes of it.
    closed_at = models.DateTimeField(null=True)
    # When we were about to have it put back on offer, until the marketplace's word: it counts as open meanwhile.
    reopening_at = models.DateTimeField(null=True)
    gone_at = models.DateTimeField(null=True)  # when we heard that the marketplace has it no longer
    retired_at = models.DateTimeField(null=True)  # when it was put up again, as another row
    round = models.PositiveSmallIntegerField(default=0)  # how often it was put up again before this row
    # Put up with so many assignments, if not with the HIT's own. Once retired: how many were or can be handed in there.
    places = models.PositiveSmallIntegerField(null=True)
    page_url = models.TextField(blank=True, default="")  # where it leads its workers to, if we know that
    refusal = models.TextField(blank=True)

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
        return f"{self.hit} on {self.offering.place}"
