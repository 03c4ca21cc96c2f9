"""Stores publishing that was requested in the pages: how many HITs, by whom, and how it ended."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from evalplatform.background_work import BackgroundWork, BackgroundWorkQuerySet
from hits.models.offering import Offering


class PublishingRunQuerySet(BackgroundWorkQuerySet["PublishingRun"]):
    def withdraw(self, error: BaseException, now: datetime) -> None:
        """Finish the run with the error as its outcome. It has published nothing, and another run can be requested."""
        self.note_end(now, outcome=str(error))


class PublishingRun(BackgroundWork):
    """A request in the pages to publish HITs, and what became of it. Its HITs are its publications.

    A background process carries it out. If that process is killed, the broker gives the task to another, which resumes
    it.
    """

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="publishing_runs")
    most_hits = models.PositiveIntegerField(null=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="publishing_runs"
    )
    stop_requested_at = models.DateTimeField(null=True)
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
