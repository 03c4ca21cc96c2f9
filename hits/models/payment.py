"""Stores the ledger: rewards, bonuses, top-ups, and bonuses found on the marketplace; defines paid and owed."""

from django.db import models
from django.db.models import Q

from hits.models.ordered_bonuses import BonusList
from hits.models.submission import Submission


class PaymentQuerySet(models.QuerySet["Payment"]):
    def paid(self) -> "PaymentQuerySet":
        return self.exclude(paid_at=None)

    def owed(self) -> "PaymentQuerySet":
        return self.filter(paid_at=None, cancelled_at=None)

    def cents(self) -> int:
        """Return the sum of these payments in cents, with fees."""
        total = self.aggregate(total=models.Sum(models.F("cents") + models.F("fee_cents")))["total"]
        return int(total or 0)


class Payment(models.Model):
    """A line of the ledger. It is saved before we ask the crowd to pay, and says afterwards whether it was paid."""

    class Kind(models.TextChoices):
        REWARD = "reward"
        BONUS = "bonus"
        TOP_UP = "top-up"
        EXTRA = "extra"  # a bonus that somebody paid on the marketplace itself, where we found it

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="payments")
    kind = models.CharField(max_length=10, choices=Kind)
    cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    reason = models.TextField(blank=True)  # what the worker reads
    intended_at = models.DateTimeField()
    # Set just before the call, where asking twice would pay twice. It is emptied once we know that it was refused.
    sending_at = models.DateTimeField(null=True)
    # The list that it was ordered with, where a crowd pays bonuses by lists.
    bonus_list = models.ForeignKey(BonusList, null=True, on_delete=models.PROTECT, related_name="payments")
    paid_at = models.DateTimeField(null=True)
    paid_by = models.CharField(max_length=20, blank=True)  # our call, or how else it came to be paid there
    cancelled_at = models.DateTimeField(null=True)  # when the work was rejected
    refusal = models.TextField(blank=True)

    objects = PaymentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "kind"],
                condition=~Q(kind="extra"),  # there may be several extra bonuses
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
        """Return the token that makes repeating a bonus harmless for 24 hours.

        It contains no id from our database, because a restored database may use an id again.
        """
        return f"{self.kind}-{self.submission.assignment.crowd_assignment_id}"
