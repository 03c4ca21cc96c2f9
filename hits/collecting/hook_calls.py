"""Notes what a crowd tells this server by calling it: each event once, and whether it is time to look."""

from datetime import datetime, timedelta

from hits.models import HookEvent

WAKES_EVERY = timedelta(seconds=10)  # for so long, the look that is planned covers what comes meanwhile
STORED_FOR = timedelta(days=30)


def note_event(crowd: str, event_id: str, now: datetime) -> bool:
    """Note the event, and return whether a look must be planned: for a new one, unless one is planned already."""
    planned = HookEvent.objects.filter(crowd=crowd, wakes=True, received_at__gt=now - WAKES_EVERY).exists()
    defaults = {"received_at": now, "wakes": not planned}
    _, is_new = HookEvent.objects.get_or_create(crowd=crowd, event_id=event_id, defaults=defaults)
    if is_new and not planned:
        HookEvent.objects.filter(received_at__lt=now - STORED_FOR).delete()
    return is_new and not planned
