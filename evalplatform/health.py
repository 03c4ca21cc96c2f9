"""Is everything there that work needs? Database, broker and workers, each told apart."""

from dataclasses import asdict, dataclass

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from kombu.exceptions import OperationalError

from evalplatform.celery import app
from evalplatform.embedded_broker import count_live_workers

PING_SECONDS = 1.0
CONNECT_SECONDS = 2  # the least that PostgreSQL's library takes


@dataclass(frozen=True)
class PartHealth:
    name: str
    is_well: bool
    detail: str


@never_cache
@require_GET
def show_health(request: HttpRequest) -> HttpResponse:
    """A page for people, JSON for monitors that ask for it; 503 when a part is missing."""
    parts = check_health()
    status = 200 if all(part.is_well for part in parts) else 503
    if request.accepts("text/html"):
        return render(request, "health.html", {"parts": parts, "is_well": status == 200}, status=status)
    return JsonResponse({"parts": [asdict(part) for part in parts]}, status=status)


def check_health() -> list[PartHealth]:
    database = _check_database()
    broker = _check_broker()
    if not broker.is_well:
        return [database, broker, PartHealth("Workers", False, "unknown: workers are asked through the broker")]
    return [database, broker, _check_workers()]


def _check_database() -> PartHealth:
    """On PostgreSQL by a connection of its own: the pool tries for longer than a web server waits for a page."""
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
    with app.connection_for_read(connect_timeout=2) as broker:
        try:
            broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=3)
        except OperationalError:
            return PartHealth("Broker", False, "does not answer; is the server that BROKER_URL names running?")
        return PartHealth("Broker", True, f"{broker.transport.driver_type} answers")


def _check_workers() -> PartHealth:
    if settings.HAS_EMBEDDED_BROKER:
        count = count_live_workers(settings.EMBEDDED_BROKER_DIR)
    else:
        count = len(app.control.ping(timeout=PING_SECONDS))
    if not count:
        return PartHealth("Workers", False, "none is running; start one with: celery -A evalplatform worker")
    return PartHealth("Workers", True, f"{count} running")
