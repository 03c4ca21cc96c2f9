"""Store the clock, the behaviour, the faults that tests ask for, and the key that signs links."""

from django.db import models
from django.db.models import Q

from evalplatform.emulators import ClockRow, RequestedFault


class PanelClock(ClockRow):
    """How far the time here is ahead of the real one."""


class BehaviourRow(models.Model):
    """What differs from the usual behaviour (localprolific/behaviour.py). There is one row at most."""

    changes = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="localprolific_one_behaviour")]

    def __str__(self) -> str:
        return f"behaves differently in {', '.join(self.changes) or 'nothing'}"


class PanelFault(RequestedFault):
    """A fault that was asked for, and its state. localprolific/misbehaving.py says what each kind does."""

    class Kind(models.TextChoices):
        THROTTLE = "throttle"
        FAIL_BEFORE = "fail-before"
        FAIL_AFTER = "fail-after"
        DROP_AFTER = "drop-after"
        BONUS_LAG = "bonus-lag"
        LIST_LAG = "list-lag"
        ROWS_BETWEEN_PAGES = "rows-between-pages"
        DOUBLE_DELIVERY = "double-delivery"
        LATE_DELIVERY = "late-delivery"

    kind = models.CharField(max_length=20, choices=Kind)
    amount = models.FloatField(default=0, help_text="seconds")
    operation = models.CharField(max_length=200, blank=True, help_text="the operations that it strikes; all if empty")


class SigningKey(models.Model):
    """An RSA key. The newest one signs; all of them stand in the key set."""

    kid = models.CharField(max_length=40, unique=True)
    private_pem = models.TextField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.kid
