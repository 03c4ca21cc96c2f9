from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q

from hits.models.offering import Offering

QUIET_AFTER = timedelta(minutes=2)


class MadeByWorker(models.Model):
    """What a worker made last of a study's ratings on a marketplace, and that it is asked for anew.

    `source` names what it was made from: where that has changed, it is stale. `problem` says why it could not be made.
    """

    source = models.CharField(max_length=64, blank=True)
    problem = models.TextField(blank=True)
    requested_at = models.DateTimeField(null=True)  # empty once it is done
    started_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def is_quiet(self, now: datetime) -> bool:
        """Asked for, and nothing has come of it for a while: the worker may be dead, or there is none."""
        return self.requested_at is not None and now - self.requested_at > QUIET_AFTER


class StudyResults(MadeByWorker):
    """`results` is JSON as hits.analysing.serialising writes it; `figures` and `disputed` are drawn and counted
    from the same ratings, so that showing them takes no statistics."""

    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="results")
    results = models.TextField(blank=True)
    figures = models.JSONField(default=dict)
    disputed = models.JSONField(default=list)
    computed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "study results"
        constraints = [
            models.UniqueConstraint(fields=["offering"], name="one_row_of_results_per_offering"),
            models.CheckConstraint(
                condition=Q(results="") | Q(computed_at__isnull=False, source__gt=""),
                name="results_say_when_and_from_what",
            ),
        ]

    def __str__(self) -> str:
        return f"results of {self.offering}"


class StudyBundle(MadeByWorker):
    """The bundle itself is a file (hits.exporting.stored_bundles)."""

    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="bundles")
    made_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["offering"], name="one_row_of_a_bundle_per_offering")]

    def __str__(self) -> str:
        return f"bundle of {self.offering}"
