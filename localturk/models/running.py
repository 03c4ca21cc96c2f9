"""Store the marketplace's clock, and the faults that tests ask for."""

from django.db import models
from django.db.models import Q


class ClockOffset(models.Model):
    """How far the marketplace's time is ahead of the real one. There is one row at most."""

    ahead = models.DurationField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="localturk_one_clock")]

    def __str__(self) -> str:
        return f"{self.ahead} ahead"


class Fault(models.Model):
    """A fault that was asked for, and its state. localturk/faults.py says what each kind does."""

    class Kind(models.TextChoices):
        THROTTLE = "throttle"
        LATENCY = "latency"
        FAIL_BEFORE = "fail-before"
        FAIL_AFTER = "fail-after"
        DROP_AFTER = "drop-after"
        INSUFFICIENT_FUNDS = "insufficient-funds"
        LIST_LAG = "list-lag"
        OFFSET_PAGES = "offset-pages"

    kind = models.CharField(max_length=20, choices=Kind)
    amount = models.FloatField(default=0, help_text="calls a second, milliseconds, seconds, or rows")
    operation = models.CharField(max_length=64, blank=True, help_text="the operations that it strikes; all if empty")
    probability = models.FloatField(default=1)
    seed = models.BigIntegerField(default=0)
    times_left = models.PositiveIntegerField(null=True, help_text="how often it will still strike; no limit if empty")
    call_count = models.PositiveBigIntegerField(default=0)
    bucket_level = models.FloatField(null=True)
    bucket_filled_at = models.FloatField(null=True, help_text="seconds since 1970, real time")

    def __str__(self) -> str:
        return f"{self.kind} {self.amount:g}"
