"""Store the requester's money (10,000 dollars at first), payments to workers, and request tokens that were used."""

from django.db import models
from django.db.models import F, Q

from localturk.models.turk_assignment import TurkAssignment
from localturk.models.worker import WorkerAccount

FIRST_BALANCE_CENTS = 10_000_00


class Account(models.Model):
    """The requester's money, in the table's only row. What open HITs may cost is held, and not available for others."""

    balance_cents = models.BigIntegerField(default=FIRST_BALANCE_CENTS)
    held_cents = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="localturk_one_account"),
            models.CheckConstraint(condition=Q(held_cents__gte=0), name="localturk_held_is_not_negative"),
            models.CheckConstraint(condition=Q(balance_cents__gte=F("held_cents")), name="localturk_held_is_there"),
        ]

    def __str__(self) -> str:
        return f"${self.available_cents / 100:,.2f} available"

    @property
    def available_cents(self) -> int:
        return self.balance_cents - self.held_cents


class LedgerEntry(models.Model):
    """A payment to a worker, and the fee that went with it. Append-only."""

    class Kind(models.TextChoices):
        REWARD = "Reward"
        BONUS = "Bonus"

    kind = models.CharField(max_length=10, choices=Kind)
    assignment = models.ForeignKey(TurkAssignment, on_delete=models.PROTECT, related_name="ledger_entries")
    worker = models.ForeignKey(WorkerAccount, on_delete=models.PROTECT, related_name="ledger_entries")
    amount_cents = models.PositiveBigIntegerField()
    fee_cents = models.PositiveBigIntegerField()
    paid_at = models.DateTimeField()

    class Meta:
        constraints = [
            # An assignment's reward is paid once. If a client asks twice, the marketplace must refuse it, not hide it.
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(kind="Reward"), name="localturk_one_reward_an_assignment"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.amount_cents} cents for {self.assignment}"


class RequestToken(models.Model):
    """A UniqueRequestToken that was used. `made` is the id of the object that the call created."""

    kind = models.CharField(max_length=20)
    token = models.CharField(max_length=64)
    made = models.CharField(max_length=64)
    used_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "token"], name="localturk_one_use_of_a_token")]

    def __str__(self) -> str:
        return f"{self.kind} token {self.token}"
