from datetime import datetime

from django.db import models

from evalplatform.background_work import BackgroundWork, BackgroundWorkQuerySet
from hits.models.offering import Offering
from hits.models.study import Study


class BackgroundJobQuerySet(BackgroundWorkQuerySet["BackgroundJob"]):
    def withdraw(self, error: BaseException, now: datetime) -> None:
        self.delete()


class BackgroundJob(BackgroundWork):
    """That a page asked a background process for something about a study, and whether one has begun and ended it.

    Rows are saved before the message is sent, and kept: `hits.background` writes them.
    """

    task_id = models.UUIDField(unique=True)  # Celery's
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="background_jobs")
    # Empty where it is about no crowd.
    offering = models.ForeignKey(Offering, null=True, on_delete=models.CASCADE, related_name="background_jobs")
    what = models.CharField(max_length=60)
    question = models.CharField(max_length=200, blank=True)  # of a plan: what it was asked for
    answer = models.JSONField(null=True)
    problem = models.TextField(blank=True)

    objects = BackgroundJobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["study", "finished_at"], name="background_jobs_of_study")]

    def __str__(self) -> str:
        return f"{self.what} for {self.study}"


class SchedulerBeat(models.Model):
    """When a task of the scheduler (Celery's beat) was last carried out. One row, however many schedulers run."""

    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"scheduler at {self.at:%H:%M:%S}"
