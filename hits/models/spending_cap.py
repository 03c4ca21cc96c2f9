from django.conf import settings
from django.db import models

from hits.models.offering import Offering


class SpendingCap(models.Model):
    """The budget that a researcher typed for an offering. The last row holds, for all that spends there,
    until another follows; without cents, the budget was taken away. Rows are kept: `hits.budgeting` writes them."""

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="spending_caps")
    cents = models.PositiveBigIntegerField(null=True)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    set_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"budget of {self.offering}"
