"""Store HITs and HIT types."""

from django.db import models
from django.db.models import F, Q


class HitType(models.Model):
    """The parameters that many HITs share. Equal parameters have equal fingerprints, and so are the same HIT type."""

    hit_type_id = models.CharField(max_length=64, unique=True)
    hit_group_id = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    reward_cents = models.PositiveIntegerField()
    assignment_duration_seconds = models.PositiveIntegerField()
    auto_approval_delay_seconds = models.PositiveIntegerField()
    qualification_requirements = models.JSONField(default=list)
    fingerprint = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["fingerprint"], condition=Q(deleted_at=None), name="localturk_one_type_of_equal_parameters"
            )
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.hit_type_id})"


class HitTypeRequirement(models.Model):
    """A qualification type that a HIT type requires. This table is an index of the requirements."""

    hit_type = models.ForeignKey(HitType, on_delete=models.CASCADE, related_name="requirements")
    qualification_type_id = models.CharField(max_length=64, db_index=True)

    def __str__(self) -> str:
        return f"{self.hit_type} requires {self.qualification_type_id}"


class TurkHitQuerySet(models.QuerySet["TurkHit"]):
    def undeleted(self) -> "TurkHitQuerySet":
        return self.exclude(status=TurkHit.Status.DISPOSED)

    def assignable(self) -> "TurkHitQuerySet":
        return self.filter(status=TurkHit.Status.ASSIGNABLE)


class TurkHit(models.Model):
    """A HIT with its counters.

    The status follows from the counters and the time. It is stored all the same, so that listing HITs by status does
    not get slower with every HIT; `lifecycle` updates it.
    """

    class Status(models.TextChoices):
        ASSIGNABLE = "Assignable"
        UNASSIGNABLE = "Unassignable"
        REVIEWABLE = "Reviewable"
        REVIEWING = "Reviewing"
        DISPOSED = "Disposed"

    class ReviewStatus(models.TextChoices):
        NOT_REVIEWED = "NotReviewed"
        MARKED_FOR_REVIEW = "MarkedForReview"
        REVIEWED_APPROPRIATE = "ReviewedAppropriate"
        REVIEWED_INAPPROPRIATE = "ReviewedInappropriate"

    hit_id = models.CharField(max_length=64, unique=True)
    hit_type = models.ForeignKey(HitType, on_delete=models.PROTECT, related_name="hits")
    question = models.TextField()
    max_assignments = models.PositiveIntegerField()
    requester_annotation = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    status = models.CharField(max_length=12, choices=Status, default=Status.ASSIGNABLE)
    review_status = models.CharField(max_length=21, choices=ReviewStatus, default=ReviewStatus.NOT_REVIEWED)
    is_reviewing = models.BooleanField(default=False)
    pending_count = models.PositiveIntegerField(default=0)
    submitted_count = models.PositiveIntegerField(default=0)
    completed_count = models.PositiveIntegerField(default=0)
    held_count = models.PositiveIntegerField(default=0, help_text="assignments for which money is held")

    objects = TurkHitQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(max_assignments__gte=F("pending_count") + F("submitted_count") + F("completed_count")),
                name="localturk_no_more_than_max_assignments",
            ),
        ]
        indexes = [
            models.Index(fields=["status", "id"], name="localturk_hits_by_status"),
            models.Index(fields=["hit_type", "status", "id"], name="localturk_hits_by_type"),
            models.Index(fields=["status", "expires_at"], name="localturk_hits_by_expiry"),
        ]

    def __str__(self) -> str:
        return f"HIT {self.hit_id}"

    @property
    def available_count(self) -> int:
        return self.max_assignments - self.pending_count - self.submitted_count - self.completed_count
