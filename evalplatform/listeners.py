"""Find out whether a background process listens to a queue. Pages that wait for one ask this."""

import time

from django.conf import settings
from kombu.exceptions import OperationalError

from evalplatform.celery import app
from evalplatform.embedded_broker import count_live_processes
from evalplatform.health import is_broker_there

ASK_SECONDS = 1.0
CACHED_SECONDS = 10.0  # pages ask every second or two; a broker on a server, which may be silent, is asked less often

_known: dict[str, tuple[float, bool]] = {}


def is_anyone_listening(queue: str = "default") -> bool:
    if settings.HAS_EMBEDDED_BROKER:
        return count_live_processes(settings.EMBEDDED_BROKER_DIR, queue) > 0
    asked_at, answer = _known.get(queue, (-CACHED_SECONDS, False))
    if time.monotonic() - asked_at > CACHED_SECONDS:
        answer = _ask_broker(queue)
        _known[queue] = (time.monotonic(), answer)
    return answer


def _ask_broker(queue: str) -> bool:
    if not is_broker_there():  # checked first: it gives up in time if a broker accepts the connection and says nothing
        return False
    try:
        answers = app.control.inspect(timeout=ASK_SECONDS).active_queues() or {}
    except (OperationalError, OSError):
        return False
    return any(one["name"] == queue for queues in answers.values() for one in queues)
