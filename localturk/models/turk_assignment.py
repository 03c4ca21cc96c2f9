"""Store assignments, and the bonuses that were paid for them."""

from django.db import models
from django.db.models import Q

from localturk.models.turk_hit import TurkHit
from localturk.models.worker import WorkerAccount

IS_LIVE = Q(status__in=["Accepted", "Submitted", "Approved", "Rejected"])


class TurkAssignmentQuerySet(models.QuerySet["TurkAssignment"]):
    def live(self) -> "TurkAssignmentQuerySet":
        """Return assignments that a worker holds or has done, as opposed to those given back."""
        return self.filter(IS_LIVE)

    def handed_in(self) -> "TurkAssignmentQuerySet":
        """Return the assignments that the Requester API shows: those that were submitted."""
        return self.filter(status__in=["Submitted", "Approved", "Rejected"])


class TurkAssignment(models.Model):
    """One acceptance of a HIT by a worker.

    As on MTurk, an id that was given back may be given to another worker, so it is unique among live assignments only.
    """

    class Status(models.TextChoices):
        ACCEPTED = "Accepted"
        SUBMITTED = "Submitted"
        APPROVED = "Approved"
        REJECTED = "Rejected"
        RETURNED = "Returned"
        ABANDONED = "Abandoned"

    assignment_id = models.CharField(max_length=64, db_index=True)
    hit = models.ForeignKey(TurkHit, on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(WorkerAccount, on_delete=models.PROTECT, related_name="assignments")
    status = models.CharField(max_length=10, choices=Status, default=Status.ACCEPTED)
    accepted_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)
    auto_approval_at = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    rejected_at = models.DateTimeField(null=True)
    given_back_at = models.DateTimeField(null=True)
    answer = models.TextField(blank=True, help_text="QuestionFormAnswers XML")
    requester_feedback = models.TextField(blank=True)

    objects = TurkAssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment_id"], condition=IS_LIVE, name="localturk_live_assignment_id"),
            models.UniqueConstraint(fields=["hit", "worker"], condition=IS_LIVE, name="localturk_a_hit_once_a_worker"),
        ]
        indexes = [
            models.Index(fields=["status", "deadline_at"], name="localturk_due_to_abandon"),
            models.Index(fields=["status", "auto_approval_at"], name="localturk_due_to_approve"),
            models.Index(fields=["worker", "status"], name="localturk_work_of_worker"),
        ]

    def __str__(self) -> str:
        return f"assignment {self.assignment_id}"


class BonusPayment(models.Model):
    assignment = models.ForeignKey(TurkAssignment, on_delete=models.PROTECT, related_name="bonus_payments")
    hit = models.ForeignKey(TurkHit, on_delete=models.PROTECT, related_name="bonus_payments")
    worker = models.ForeignKey(WorkerAccount, on_delete=models.PROTECT, related_name="bonus_payments")
    amount_cents = models.PositiveIntegerField()
    reason = models.TextField()
    granted_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"bonus of {self.amount_cents} cents for {self.assignment}"
