"""Store the marketplace's clock, and the faults that tests ask for."""

import time

from django.db import models

from evalplatform.emulators import ClockRow, RequestedFault

NEED_MONEY = {
    "CreateHIT",
    "CreateHITWithHITType",
    "CreateAdditionalAssignmentsForHIT",
    "ApproveAssignment",
    "SendBonus",
}


class ClockOffset(ClockRow):
    """How far the marketplace's time is ahead of the real one."""


class Fault(RequestedFault):
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
    bucket_level = models.FloatField(null=True)
    bucket_filled_at = models.FloatField(null=True, help_text="seconds since 1970, real time")

    def concerns(self, operation: str) -> bool:
        if self.kind == self.Kind.INSUFFICIENT_FUNDS and operation not in NEED_MONEY:
            return False
        return super().concerns(operation)

    def is_ready(self) -> bool:
        return self.kind != self.Kind.THROTTLE or self._find_bucket_empty()

    def _find_bucket_empty(self) -> bool:
        """Take one call out of the bucket, if one is left, and return whether none was. The bucket fills by real time,
        whatever the marketplace's clock says."""
        now, most = time.time(), max(1.0, self.amount)
        since = now - (self.bucket_filled_at or now)
        level = most if self.bucket_level is None else min(most, self.bucket_level + since * self.amount)
        self.bucket_filled_at = now
        self.bucket_level = level - 1 if level >= 1 else level
        return level < 1
