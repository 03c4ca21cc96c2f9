"""Tell the local Prolific's time, which tests can move ahead of the real one.

How far it is ahead is stored in a table, so that all processes agree.
"""

from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from localprolific.models import PanelClock


class Clock:
    def now(self) -> datetime:
        ahead = PanelClock.objects.values_list("ahead", flat=True).first()
        return timezone.now() + (ahead or timedelta())

    def advance(self, by: timedelta) -> datetime:
        PanelClock.objects.get_or_create(pk=1, defaults={"ahead": timedelta()})
        PanelClock.objects.filter(pk=1).update(ahead=F("ahead") + by)
        return self.now()

    def reset(self) -> None:
        PanelClock.objects.all().delete()
