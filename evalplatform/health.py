"""Show the health page: whether the database, the broker and background processes are there, each by itself."""

import time
from dataclasses import asdict, dataclass
from threading import Lock

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from kombu.exceptions import OperationalError

from evalplatform import process_commands
from evalplatform.celery import app
from evalplatform.embedded_broker import count_live_processes

PROCESSES = "Background processes"
STRANGERS_LOOK_SECONDS = 30.0
PING_SECONDS = 1.0
CONNECT_SECONDS = 2  # the least that PostgreSQL's library takes


@dataclass(frozen=True)
class PartHealth:
    name: str
    is_well: bool
    detail: str


class _Cached:
    """The last answer, which strangers get. A look takes up to some seconds, so there is one now and then, however many
    strangers ask.

    Each process has an answer of its own: to share one, processes would need the database, or another part that can be
    missing.
    """

    def __init__(self) -> None:
        self._parts: list[PartHealth] = []
        self._looked_at = 0.0
        self._lock = Lock()

    def get(self) -> list[PartHealth]:
        with self._lock:  # who comes meanwhile waits for the same look
            if not self._parts or time.monotonic() - self._looked_at > STRANGERS_LOOK_SECONDS:
                self.put(check_health(counts_processes=False))
            return self._parts

    def put(self, parts: list[PartHealth]) -> None:
        self._parts, self._looked_at = parts, time.monotonic()


_cached = _Cached()


@never_cache
@require_GET
def show_health(request: HttpRequest) -> HttpResponse:
    """Answer with a page for people, with JSON for monitors that ask for it, and with status 503 when a part is
    missing.

    Who is logged in gets a fresh look with all details. Others get the last one, and no details.
    """
    parts = _cached.get()
    has_details = parts[0].is_well and _is_logged_in(request)
    if has_details:
        parts = check_health()
        _cached.put(parts)
    status = 200 if all(part.is_well for part in parts) else 503
    if request.accepts("text/html"):
        context = {"parts": parts, "is_well": status == 200, "has_details": has_details}
        return render(request, "health.html", context, status=status)
    told = [asdict(part) if has_details else {"name": part.name, "is_well": part.is_well} for part in parts]
    return JsonResponse({"parts": told}, status=status)


def _is_logged_in(request: HttpRequest) -> bool:
    """Return whether the visitor is logged in. This page runs without the session's middleware, so the session is read
    here; call it only where the database answers."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return False
    request.session = SessionStore(request.COOKIES[settings.SESSION_COOKIE_NAME])
    try:
        return get_user(request).is_authenticated
    except DatabaseError:
        return False


def check_health(counts_processes: bool = True) -> list[PartHealth]:
    database = _check_database()
    broker = _check_broker()
    if not broker.is_well:
        return [database, broker, PartHealth(PROCESSES, False, "unknown: they are asked through the broker")]
    return [database, broker, _check_processes(counts_processes)]


def is_broker_there() -> bool:
    return _check_broker().is_well


def can_reach_database() -> bool:
    return _check_database().is_well


def _check_database() -> PartHealth:
    """Ask the database. On PostgreSQL this takes a connection of its own: the pool tries for longer than a web server
    waits for a page."""
    try:
        if connection.vendor == "postgresql":
            parameters = {**connection.get_connection_params(), "connect_timeout": CONNECT_SECONDS}
            with connection.wrap_database_errors:
                connection.Database.connect(**parameters).close()  # type: ignore[attr-defined]
        else:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
    except DatabaseError:
        return PartHealth("Database", False, f"{connection.display_name} does not answer")
    return PartHealth("Database", True, f"{connection.display_name} answers")


def _check_broker() -> PartHealth:
    if settings.HAS_EMBEDDED_BROKER:
        return PartHealth("Broker", True, "embedded: files on this machine")
    # A server that takes connections and then says nothing would be waited for without end.
    patience = {"socket_timeout": 2} if settings.CELERY_BROKER_URL.startswith("redis") else {"read_timeout": 2}
    with app.connection_for_read(connect_timeout=2, transport_options=patience) as broker:
        try:
            broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=3)
        except OperationalError:
            return PartHealth("Broker", False, "does not answer; is the server that BROKER_URL names running?")
        return PartHealth("Broker", True, f"{broker.transport.driver_type} answers")


def _check_processes(counts_all: bool) -> PartHealth:
    """Count the background processes. At a real broker, all of them are counted by waiting for their answers; the first
    answer already tells that there is one."""
    if settings.HAS_EMBEDDED_BROKER:
        count = count_live_processes(settings.EMBEDDED_BROKER_DIR)
    else:
        count = len(app.control.ping(timeout=PING_SECONDS, limit=None if counts_all else 1))
    if not count:
        return PartHealth(PROCESSES, False, f"none is running; start one with: {process_commands.BACKGROUND}")
    return PartHealth(PROCESSES, True, f"{count} running")
