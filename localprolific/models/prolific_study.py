"""Store studies as Prolific knows them."""

from django.db import models

from localprolific.models.workspace import Project, Workspace


class ProlificStudyQuerySet(models.QuerySet["ProlificStudy"]):
    def undeleted(self) -> "ProlificStudyQuerySet":
        return self.filter(deleted_at=None)


class ProlificStudy(models.Model):
    """A study. `fields` holds what the researcher sent and nothing here computes with."""

    class Status(models.TextChoices):
        UNPUBLISHED = "UNPUBLISHED"
        SCHEDULED = "SCHEDULED"
        PUBLISHING = "PUBLISHING"
        PROCESSING = "PROCESSING"
        ACTIVE = "ACTIVE"
        PAUSED = "PAUSED"
        AWAITING_REVIEW = "AWAITING REVIEW"
        COMPLETED = "COMPLETED"

    study_id = models.CharField(max_length=24, unique=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="studies")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="studies")
    status = models.CharField(max_length=15, choices=Status, default=Status.UNPUBLISHED)
    is_stopped = models.BooleanField(default=False, help_text="for good: STOP is final")
    name = models.CharField(max_length=120)
    internal_name = models.CharField(max_length=250, blank=True)
    description = models.TextField()
    external_study_url = models.TextField(blank=True)
    access_details = models.JSONField(default=list)
    completion_codes = models.JSONField(default=list)
    total_available_places = models.PositiveIntegerField()
    reward_cents = models.PositiveIntegerField()
    estimated_minutes = models.PositiveIntegerField()
    maximum_minutes = models.PositiveIntegerField()
    max_submissions_per_participant = models.IntegerField(default=1, help_text="-1: no limit")
    max_concurrent_submissions = models.IntegerField(default=-1, help_text="-1: no limit")
    filters = models.JSONField(default=list)
    is_url_secure = models.BooleanField(default=False)
    is_test = models.BooleanField(default=False, help_text="a test of a draft: costs nothing")
    fields = models.JSONField(default=dict)
    held_cents = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True, help_text="when publishing ends")
    deleted_at = models.DateTimeField(null=True)

    objects = ProlificStudyQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["due_at"], name="localprolific_studies_due")]

    def __str__(self) -> str:
        return f"{self.name} ({self.study_id})"
