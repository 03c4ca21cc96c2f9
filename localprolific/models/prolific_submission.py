"""Store submissions: one participant's work on a study."""

from django.db import models

from localprolific.models.participant import Participant
from localprolific.models.prolific_study import ProlificStudy

TAKES_PLACE = ("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED")


class ProlificSubmission(models.Model):
    """A submission. `due_at` is the next moment at which something happens to it by itself."""

    class Status(models.TextChoices):
        RESERVED = "RESERVED"
        ACTIVE = "ACTIVE"
        AWAITING_REVIEW = "AWAITING REVIEW"
        APPROVED = "APPROVED"
        REJECTED = "REJECTED"
        RETURNED = "RETURNED"
        TIMED_OUT = "TIMED-OUT"
        SCREENED_OUT = "SCREENED OUT"
        PARTIALLY_APPROVED = "PARTIALLY APPROVED"

    submission_id = models.CharField(max_length=24, unique=True)
    study = models.ForeignKey(ProlificStudy, on_delete=models.PROTECT, related_name="submissions")
    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="submissions")
    status = models.CharField(max_length=18, choices=Status, default=Status.RESERVED)
    url = models.TextField(help_text="the page that this participant is sent to, with its placeholders")
    reserved_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    entered_code = models.CharField(max_length=200, blank=True)
    return_requested_at = models.DateTimeField(null=True)
    request_reasons = models.JSONField(default=list)
    rejection_category = models.CharField(max_length=30, blank=True)
    message = models.TextField(blank=True)
    reviewed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True, help_text="when it was returned or timed out")
    arrives_at = models.DateTimeField(null=True, help_text="until then, completed work still counts as being worked on")
    due_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["due_at"], name="localprolific_work_due"),
            models.Index(fields=["study", "status"], name="localprolific_work_by_status"),
            models.Index(fields=["participant", "status"], name="localprolific_work_of_one"),
        ]

    def __str__(self) -> str:
        return f"submission {self.submission_id}"
