"""Stores the budgets that researchers typed for an offering; the newest one holds."""

from django.conf import settings
from django.db import models

from hits.models.offering import Offering


class SpendingCap(models.Model):
    """A budget that a researcher typed for an offering. It limits everything that spends there until the next row.

    A row without cents removes the budget. `hits.budgeting` writes the rows and never changes them.
    """

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="spending_caps")
    cents = models.PositiveBigIntegerField(null=True)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    set_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"budget of {self.offering}"
