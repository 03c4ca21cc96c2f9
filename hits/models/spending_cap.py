from django.conf import settings
from django.db import models

from hits.models.publication import MarketEnvironment
from hits.models.study import Study


class SpendingCap(models.Model):
    """The budget that a researcher typed for a study on a marketplace. The last row holds, for all that spends there,
    until another follows; without cents, the budget was taken away. Rows are kept: `hits.budgeting` writes them."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="spending_caps")
    environment = models.CharField(max_length=10, choices=MarketEnvironment)
    cents = models.PositiveBigIntegerField(null=True)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    set_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"budget of {self.study} on {self.environment}"
