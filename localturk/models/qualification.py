"""Store qualification types, workers' qualifications, and requests for them."""

from django.db import models
from django.db.models import Q

from localturk.models.worker import WorkerAccount


class QualificationTypeQuerySet(models.QuerySet["QualificationType"]):
    def undeleted(self) -> "QualificationTypeQuerySet":
        return self.filter(deleted_at=None)


class QualificationType(models.Model):
    class Status(models.TextChoices):
        ACTIVE = "Active"
        INACTIVE = "Inactive"

    qualification_type_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    keywords = models.TextField(blank=True)
    description = models.TextField()
    status = models.CharField(max_length=8, choices=Status)
    retry_delay_seconds = models.PositiveBigIntegerField(null=True)
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_duration_seconds = models.PositiveBigIntegerField(null=True)
    is_auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    objects = QualificationTypeQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["name"], condition=Q(deleted_at=None), name="localturk_one_qualification_type_a_name"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.qualification_type_id})"


class Qualification(models.Model):
    class Status(models.TextChoices):
        GRANTED = "Granted"
        REVOKED = "Revoked"

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.PROTECT, related_name="qualifications")
    worker = models.ForeignKey(WorkerAccount, on_delete=models.PROTECT, related_name="qualifications")
    integer_value = models.IntegerField(null=True)
    status = models.CharField(max_length=7, choices=Status, default=Status.GRANTED)
    granted_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="localturk_one_qualification_a_worker"
            )
        ]

    def __str__(self) -> str:
        return f"{self.qualification_type} of {self.worker}"


class QualificationRequest(models.Model):
    class Status(models.TextChoices):
        PENDING = "Pending"
        GRANTED = "Granted"
        REJECTED = "Rejected"

    request_id = models.CharField(max_length=64, unique=True)
    qualification_type = models.ForeignKey(QualificationType, on_delete=models.PROTECT, related_name="requests")
    worker = models.ForeignKey(WorkerAccount, on_delete=models.PROTECT, related_name="qualification_requests")
    answer = models.TextField(blank=True)
    status = models.CharField(max_length=8, choices=Status, default=Status.PENDING)
    submitted_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["status", "id"], name="localturk_requests_by_status")]

    def __str__(self) -> str:
        return f"request {self.request_id}"
