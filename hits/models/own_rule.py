"""Stores what a study's own rule has seen and done: its looks, the models that it dropped, and that it stopped."""

from django.db import models
from django.db.models import Q

from hits.models.offering import Offering


class RuleLook(models.Model):
    """What the rule saw at one look, on whole HITs in the frozen order. Rows are only added.

    `findings` are the sequences of the primary pairs as JSON; what an earlier look decided stays decided, and p-values
    are 1 / the largest e-value of all looks so far. `source` identifies the data, so that two syncs at once look once.
    """

    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="rule_looks")
    looked_at = models.DateTimeField()
    source = models.CharField(max_length=64)
    hits = models.PositiveIntegerField()  # whole HITs that it was computed from
    assignments = models.PositiveIntegerField()
    findings = models.JSONField()
    # Saved before the next wave is requested, and only once for a look: so there is at most one wave for each.
    wave_requested_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["offering", "source"], name="one_rule_look_per_offering_and_data")
        ]

    def __str__(self) -> str:
        return f"look of {self.offering} after {self.hits} HITs"


class DroppedModel(models.Model):
    """A generator that has lost by the study's rule. HITs that are published from now on are without it
    (`Publication.dropped_models`). Rows are only added."""

    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="dropped_models")
    generator = models.CharField(max_length=100)
    dropped_at = models.DateTimeField()
    reason = models.TextField()
    look = models.ForeignKey(RuleLook, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["offering", "generator"], name="one_drop_per_offering_and_model")
        ]

    def __str__(self) -> str:
        return f"{self.generator} dropped from {self.offering}"


class RuleStopQuerySet(models.QuerySet["RuleStop"]):
    def standing(self) -> "RuleStopQuerySet":
        return self.filter(lifted_at=None)


class RuleStop(models.Model):
    """A stop of a study by its own rule, with the reason. The row is saved before the marketplace is told, and
    `applied_at` is set after that. A stop for want of money is lifted when somebody publishes more."""

    class Kind(models.TextChoices):
        DECIDED = "decided"
        BUDGET = "budget"

    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="rule_stops")
    kind = models.CharField(max_length=10, choices=Kind)
    stopped_at = models.DateTimeField()
    reason = models.TextField()
    look = models.ForeignKey(RuleLook, on_delete=models.PROTECT, related_name="+")
    applied_at = models.DateTimeField(null=True)
    lifted_at = models.DateTimeField(null=True)

    objects = RuleStopQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["offering"], condition=Q(lifted_at=None), name="one_standing_rule_stop_per_offering"
            )
        ]

    def __str__(self) -> str:
        return f"{self.offering} stopped: {self.kind}"
