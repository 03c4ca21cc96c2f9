"""Tell the marketplace's time, which tests can move ahead of the real one.

How far it is ahead is stored in a table, so that all processes agree.
"""

from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from localturk.models import ClockOffset


class Clock:
    def now(self) -> datetime:
        ahead = ClockOffset.objects.values_list("ahead", flat=True).first()
        return timezone.now() + (ahead or timedelta())

    def advance(self, by: timedelta) -> datetime:
        ClockOffset.objects.get_or_create(pk=1, defaults={"ahead": timedelta()})
        ClockOffset.objects.filter(pk=1).update(ahead=F("ahead") + by)
        return self.now()

    def reset(self) -> None:
        ClockOffset.objects.all().delete()
