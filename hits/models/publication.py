from django.db import models
from django.db.models import Q

from hits.models.hit import Hit


class MarketEnvironment(models.TextChoices):
    LOCAL = "local"
    SANDBOX = "sandbox"
    PRODUCTION = "production"


class PublicationQuerySet(models.QuerySet["Publication"]):
    def confirmed(self) -> "PublicationQuerySet":
        return self.exclude(mturk_hit_id="")

    def unconfirmed(self) -> "PublicationQuerySet":
        """Meant to be published, without word from the marketplace: it may or may not be there."""
        return self.filter(mturk_hit_id="")

    def refused(self) -> "PublicationQuerySet":
        return self.unconfirmed().exclude(refusal="")

    def begun(self) -> "PublicationQuerySet":
        """Left behind by a run that was interrupted, or being published at this moment."""
        return self.unconfirmed().filter(refusal="")

    def stopped(self) -> "PublicationQuerySet":
        return self.confirmed().exclude(stopped_at=None)

    def open(self) -> "PublicationQuerySet":
        return self.confirmed().filter(stopped_at=None)


class Publication(models.Model):
    """That a HIT is to stand on a marketplace (saved before the call), and the id it got there (saved after it)."""

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="publications")
    environment = models.CharField(max_length=10, choices=MarketEnvironment)
    mturk_hit_id = models.CharField(max_length=64, blank=True)
    run = models.ForeignKey("PublishingRun", null=True, on_delete=models.SET_NULL, related_name="publications")
    wave = models.PositiveSmallIntegerField(default=1)
    intended_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)
    stopped_at = models.DateTimeField(null=True)
    # When we heard that it is off the market with nobody at work on it: nothing more comes of it.
    closed_at = models.DateTimeField(null=True)
    refusal = models.TextField(blank=True)

    objects = PublicationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit", "environment"], name="one_publication_per_hit_and_environment"),
            models.UniqueConstraint(
                fields=["environment", "mturk_hit_id"],
                condition=~Q(mturk_hit_id=""),
                name="one_publication_per_mturk_hit",
            ),
            models.CheckConstraint(
                condition=Q(mturk_hit_id="", published_at=None) | Q(mturk_hit_id__gt="", published_at__isnull=False),
                name="publication_is_confirmed_with_its_id",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hit} on {self.environment}"
