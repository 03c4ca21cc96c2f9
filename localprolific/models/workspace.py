"""Store workspaces with their wallets, their projects, API tokens, and what was paid from a wallet."""

from django.db import models
from django.db.models import F, Q

FIRST_BALANCE_CENTS = 10_000_00


class Workspace(models.Model):
    """A researcher's workspace with its wallet. What published studies may cost is held, and not available for others.

    All amounts are pence or cents of the workspace's currency.
    """

    class Currency(models.TextChoices):
        GBP = "GBP"
        USD = "USD"

    workspace_id = models.CharField(max_length=24, unique=True)
    title = models.CharField(max_length=200)
    owner_id = models.CharField(max_length=24)
    currency = models.CharField(max_length=3, choices=Currency)
    fee_bps = models.PositiveIntegerField(default=3330, help_text="fee in hundredths of a percent of what people get")
    vat_bps = models.PositiveIntegerField(default=2000, help_text="VAT in hundredths of a percent of the fee")
    balance_cents = models.BigIntegerField(default=FIRST_BALANCE_CENTS)
    held_cents = models.BigIntegerField(default=0)
    has_screen_outs = models.BooleanField(default=False, help_text="may screen out and pay dynamically")
    has_test_participants = models.BooleanField(default=True)
    wallet_busy_until = models.FloatField(default=0, help_text="seconds since 1970, real time")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=Q(held_cents__gte=0), name="localprolific_held_is_not_negative"),
            models.CheckConstraint(condition=Q(balance_cents__gte=F("held_cents")), name="localprolific_held_is_there"),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.currency})"

    @property
    def available_cents(self) -> int:
        return self.balance_cents - self.held_cents


class ApiToken(models.Model):
    """A token that was issued. It never expires, and can do all that its owner can."""

    token = models.CharField(max_length=128, unique=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="tokens")
    issued_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"token of {self.workspace}"


class Project(models.Model):
    project_id = models.CharField(max_length=24, unique=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="projects")
    title = models.CharField(max_length=200)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.title


class WalletEntry(models.Model):
    """A payment to a participant, with the fee and VAT that went with it. Append-only."""

    class Kind(models.TextChoices):
        REWARD = "Reward"
        BONUS = "Bonus"
        SCREEN_OUT = "ScreenOut"

    kind = models.CharField(max_length=10, choices=Kind)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="wallet_entries")
    submission = models.ForeignKey(
        "localprolific.ProlificSubmission", on_delete=models.PROTECT, related_name="wallet_entries"
    )
    amount_cents = models.PositiveBigIntegerField()
    fee_cents = models.PositiveBigIntegerField(help_text="fee and VAT together")
    paid_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission"], condition=Q(kind="Reward"), name="localprolific_one_reward_a_submission"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.amount_cents} for {self.submission}"
