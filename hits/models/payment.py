from django.db import models
from django.db.models import Q

from hits.models.submission import Submission


class PaymentQuerySet(models.QuerySet["Payment"]):
    def paid(self) -> "PaymentQuerySet":
        return self.exclude(paid_at=None)

    def owed(self) -> "PaymentQuerySet":
        return self.filter(paid_at=None, cancelled_at=None)

    def cents(self) -> int:
        """With fees."""
        total = self.aggregate(total=models.Sum(models.F("cents") + models.F("fee_cents")))["total"]
        return int(total or 0)


class Payment(models.Model):
    """A line of the ledger: that money is to be paid (saved before the call), and that it was (saved after it)."""

    class Kind(models.TextChoices):
        REWARD = "reward"
        BONUS = "bonus"
        TOP_UP = "top-up"
        EXTRA = "extra"  # a bonus that somebody gave on the marketplace itself, and that we only found there

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="payments")
    kind = models.CharField(max_length=10, choices=Kind)
    cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    reason = models.TextField(blank=True)  # what the worker reads
    intended_at = models.DateTimeField()
    # When we were about to ask for it, where asking twice would pay twice. Emptied when we know that it was refused.
    sending_at = models.DateTimeField(null=True)
    paid_at = models.DateTimeField(null=True)
    paid_by = models.CharField(max_length=20, blank=True)  # our call, or found there: by itself, by hand, or killed
    cancelled_at = models.DateTimeField(null=True)  # a reward that was rejected by hand
    refusal = models.TextField(blank=True)

    objects = PaymentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "kind"],
                condition=~Q(kind="extra"),  # of which there may be several
                name="one_payment_per_submission_and_kind",
            ),
            models.CheckConstraint(condition=Q(cents__gt=0), name="payment_is_of_some_cents"),
            models.CheckConstraint(
                condition=Q(paid_at=None) | Q(cancelled_at=None), name="payment_is_not_paid_and_cancelled"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.submission}"

    @property
    def token(self) -> str:
        """Makes a repeated bonus harmless for 24 hours. Without an id of ours, which a restored database may reuse."""
        return f"{self.kind}-{self.submission.assignment.crowd_assignment_id}"
