"""Stores what pages have asked background processes to do, and when the scheduler last ran."""

from datetime import datetime

from django.db import models

from evalplatform.background_work import BackgroundWork, BackgroundWorkQuerySet
from hits.models.offering import Offering
from hits.models.study import Study


class BackgroundJobQuerySet(BackgroundWorkQuerySet["BackgroundJob"]):
    def withdraw(self, error: BaseException, now: datetime) -> None:
        self.delete()


class BackgroundJob(BackgroundWork):
    """Something that a page asked a background process to do for a study, and whether it has begun and ended.

    `hits.background` saves a row before it sends the message, and never deletes it unless the message could not be
    sent.
    """

    task_id = models.UUIDField(unique=True)  # Celery's id of the task
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="background_jobs")
    # Empty if the job has nothing to do with a crowd.
    offering = models.ForeignKey(Offering, null=True, on_delete=models.CASCADE, related_name="background_jobs")
    what = models.CharField(max_length=60)
    question = models.CharField(max_length=200, blank=True)  # for a plan: a hash of what was asked
    answer = models.JSONField(null=True)
    problem = models.TextField(blank=True)

    objects = BackgroundJobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["study", "finished_at"], name="background_jobs_of_study")]

    def __str__(self) -> str:
        return f"{self.what} for {self.study}"


class SchedulerBeat(models.Model):
    """When Celery's beat last ran a task. There is one row, however many schedulers run."""

    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"scheduler at {self.at:%H:%M:%S}"
