"""Stores which workers get no more HITs of a study: those who reached the cap, and those who are blocked."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from hits.models.offering import Offering


class StandingQuerySet(models.QuerySet["Standing"]):
    def active(self) -> "StandingQuerySet":
        return self.filter(lifted_at=None)

    def to_apply(self) -> "StandingQuerySet":
        return self.active().filter(applied_at=None)

    def to_lift(self) -> "StandingQuerySet":
        """Return those that the marketplace was told and are lifted since, which it does not know yet."""
        return self.filter(lift_applied_at=None).exclude(applied_at=None).exclude(lifted_at=None)


class Standing(models.Model):
    """A worker who gets no more HITs of a study, why, and whether the marketplace knows. Rows are lifted, never
    deleted."""

    class Kind(models.TextChoices):
        CAP = "cap"  # the worker has done as many HITs as the study allows
        SOFT = "soft block"  # we assign a qualification of our own; nobody else learns of it
        HARD = "hard block"  # the crowd's own block, which harms the worker's record there

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="standings")
    crowd_worker_id = models.CharField(max_length=64)
    kind = models.CharField(max_length=10, choices=Kind)
    reason = models.TextField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True)  # when the marketplace was told
    lifted_at = models.DateTimeField(null=True)
    lift_reason = models.TextField(blank=True)
    lift_applied_at = models.DateTimeField(null=True)
    refusal = models.TextField(blank=True, default="")  # why the marketplace did not take it when it was told last

    objects = StandingQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["offering", "crowd_worker_id", "kind"],
                condition=Q(lifted_at=None),
                name="one_active_standing_per_worker_and_kind",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.crowd_worker_id} in {self.offering.study}"
