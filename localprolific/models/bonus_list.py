"""Store bonus lists, the orders to pay them, and the bonuses that were paid."""

from django.db import models

from localprolific.models.prolific_study import ProlificStudy
from localprolific.models.prolific_submission import ProlificSubmission


class BonusList(models.Model):
    """What step one creates. It moves no money, and a client may make as many as it likes."""

    list_id = models.CharField(max_length=24, unique=True)
    study = models.ForeignKey(ProlificStudy, on_delete=models.PROTECT, related_name="bonus_lists")
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"bonus list {self.list_id}"


class BonusLine(models.Model):
    bonus_list = models.ForeignKey(BonusList, on_delete=models.CASCADE, related_name="lines")
    submission = models.ForeignKey(ProlificSubmission, on_delete=models.PROTECT, related_name="bonus_lines")
    amount_cents = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.amount_cents} to {self.submission}"


class BonusOrder(models.Model):
    """One call to pay a list. There may be several of one list, and each pays all of its lines, as Prolific's do."""

    bonus_list = models.ForeignKey(BonusList, on_delete=models.PROTECT, related_name="orders")
    ordered_at = models.DateTimeField()
    held_cents = models.PositiveBigIntegerField()
    shown_after_seconds = models.FloatField(default=0)
    due_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["due_at"], name="localprolific_orders_due")]

    def __str__(self) -> str:
        return f"order to pay {self.bonus_list}"


class PaidBonus(models.Model):
    """A bonus that was paid. The API shows it from `visible_at` on."""

    order = models.ForeignKey(BonusOrder, on_delete=models.PROTECT, related_name="bonuses")
    line = models.ForeignKey(BonusLine, on_delete=models.PROTECT, related_name="bonuses")
    submission = models.ForeignKey(ProlificSubmission, on_delete=models.PROTECT, related_name="bonuses")
    amount_cents = models.PositiveBigIntegerField()
    paid_at = models.DateTimeField()
    visible_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["order", "line"], name="localprolific_a_line_once_an_order")]

    def __str__(self) -> str:
        return f"bonus of {self.amount_cents} for {self.submission}"
