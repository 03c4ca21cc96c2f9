"""What the emulators of other companies' services share: a clock that tests can move ahead, and faults on request.

Each emulator has tables of its own, made from the models here, so that all of its processes agree. A fault may be
limited to operations, to a probability (drawn from its seed) and to a number of times. Faults of this process alone
stand in no table.
"""

import random
import threading
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, TypeVar

from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone


class ClockRow(models.Model):
    """How far an emulator's time is ahead of the real one. There is one row at most."""

    ahead = models.DurationField()

    class Meta:
        abstract = True
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="%(app_label)s_one_clock")]

    def __str__(self) -> str:
        return f"{self.ahead} ahead"


class MovableClock:
    table: ClassVar[type[ClockRow]]

    def now(self) -> datetime:
        ahead = self.table._default_manager.values_list("ahead", flat=True).first()
        return timezone.now() + (ahead or timedelta())

    def advance(self, by: timedelta) -> datetime:
        rows = self.table._default_manager
        rows.get_or_create(pk=1, defaults={"ahead": timedelta()})
        rows.filter(pk=1).update(ahead=F("ahead") + by)
        return self.now()

    def reset(self) -> None:
        self.table._default_manager.all().delete()


class RequestedFault(models.Model):
    """A fault that was asked for, and its state. Each emulator adds its kinds, and what an amount means."""

    kind: Any
    amount: Any
    operation: Any
    probability = models.FloatField(default=1)
    seed = models.BigIntegerField(default=0)
    times_left = models.PositiveIntegerField(null=True, help_text="how often it will still strike; no limit if empty")
    call_count = models.PositiveBigIntegerField(default=0)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.kind} {self.amount:g}"

    def concerns(self, operation: str) -> bool:
        """Return whether it may strike a call of this operation."""
        return self.times_left != 0 and (not self.operation or operation in self.operation.split(","))

    def strikes(self) -> bool:
        """Draw whether it strikes this call, and count that."""
        self.call_count += 1
        # Each call has its own draw, so that the same seed gives the same faults even if a process is restarted.
        if random.Random(f"{self.seed} {self.call_count}").random() >= self.probability:  # noqa: S311
            return False
        if not self.is_ready():
            return False
        if self.times_left is not None:
            self.times_left -= 1
        return True

    def is_ready(self) -> bool:
        return True


Fault = TypeVar("Fault", bound=RequestedFault)


class Faults(Generic[Fault]):
    """The faults of one emulator."""

    def __init__(self, table: type[Fault]) -> None:
        self._table = table
        self._own: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, kind: str, amount: float = 0, **limits: Any) -> Fault:
        """Add a fault for all processes. `limits` are operation (several separated by commas), probability, seed and
        times_left."""
        return self._table._default_manager.create(kind=kind, amount=amount, **limits)

    def add_own(self, kind: str, amount: float = 0, **limits: Any) -> None:
        """Add a fault for this process."""
        self._own.append(self._table(kind=kind, amount=amount, **limits))

    def clear(self) -> None:
        self._table._default_manager.all().delete()
        self.clear_own()

    def clear_own(self) -> None:
        self._own.clear()

    def strike(self, operation: str) -> list[Fault]:
        """Return the faults that strike this call."""
        with self._lock:
            own = _select_striking(self._own, operation)
        return [*own, *self._strike_shared(operation)]

    def _strike_shared(self, operation: str) -> list[Fault]:
        rows = self._table._default_manager
        if not rows.exists():
            return []
        with transaction.atomic():
            faults = list(rows.select_for_update().order_by("pk"))
            striking = _select_striking(faults, operation)
            for fault in faults:
                fault.save()
        return striking


def _select_striking(faults: Iterable[Fault], operation: str) -> list[Fault]:
    return [fault for fault in faults if fault.concerns(operation) and fault.strikes()]
