from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q

from hits.models.offering import Offering

QUIET_AFTER = timedelta(minutes=2)


class PublishingRunQuerySet(models.QuerySet["PublishingRun"]):
    def unfinished(self) -> "PublishingRunQuerySet":
        return self.filter(finished_at=None)


class PublishingRun(models.Model):
    """That someone asked in the pages for HITs to be published, and what became of it. Its HITs are its publications.

    A worker carries it out. When the worker is killed, the broker gives the task to another, which goes on with it.
    """

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="publishing_runs")
    most_hits = models.PositiveIntegerField(null=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="publishing_runs"
    )
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)  # the worker's last sign of life
    stop_requested_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    outcome = models.TextField(blank=True)

    objects = PublishingRunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["offering"],
                condition=Q(finished_at=None),
                name="one_unfinished_run_per_offering",
            ),
            models.CheckConstraint(condition=~Q(most_hits=0), name="publishing_run_is_for_some_hits"),
        ]

    def __str__(self) -> str:
        return f"publishing of {self.offering}"

    def is_quiet(self, now: datetime) -> bool:
        """Unfinished, and no worker has been heard of for a while: it may be dead, or there is none."""
        return self.finished_at is None and now - (self.seen_at or self.requested_at) > QUIET_AFTER
