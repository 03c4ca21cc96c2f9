"""Track work that a background process does: requested once, started, seen alive, finished, or quiet for too long.

In: a row of a model that inherits `BackgroundWork`, and a function that sends its task. Out: the row says how far the
work is. Guaranteed: however many people ask at the same moment, one task is sent; work whose process died can be asked
for again; if the broker is away, no row claims to wait.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

import structlog
from django.db import Error, connection, models
from django.db.models import Q
from django.db.models.functions import Coalesce
from kombu.exceptions import OperationalError

from evalplatform.errors import EvalPlatformError, in_one_line

QUIET_AFTER = timedelta(minutes=2)
SIGN_OF_LIFE = timedelta(seconds=20)
SEE_LOG = "The log of the background process has the details; tell whoever runs this server."
BROKER_IS_AWAY = "It can't start: the broker does not answer. See the Health page."

log = structlog.get_logger("evalplatform.background_work")


Row = TypeVar("Row", bound="BackgroundWork", covariant=True)


class BackgroundWorkQuerySet(models.QuerySet[Row]):
    def under_way(self) -> Self:
        return self.filter(requested_at__isnull=False, finished_at=None)

    def done(self) -> Self:
        """Return the work that was requested and is finished. A message that arrives now is a second one for the same
        request."""
        return self.filter(requested_at__isnull=False, finished_at__isnull=False)

    def quiet(self, now: datetime) -> Self:
        """Return the work that is under way, but of which nothing was heard for a while: its process may be dead, or
        there is none."""
        return self._with_last_heard().under_way().filter(_is_long_from(now))

    def request_once(self, send: Callable[[], None], now: datetime) -> bool:
        """Request the work of the one row selected here and send its task, unless it is under way and not quiet.

        The request is one conditional UPDATE: of two people who ask at the same moment, the second waits for the
        first one's row lock, looks at the row again, and changes nothing. (PostgreSQL looks again at the row itself,
        not at subqueries: is_free must have none.)
        """
        is_free = Q(requested_at=None) | Q(finished_at__isnull=False) | _is_long_from(now)
        fresh = {"requested_at": now, "started_at": None, "seen_at": None, "finished_at": None}
        if not self._with_last_heard().filter(is_free).update(**fresh):
            return False
        self.send_requested(send, now, requested_at=now)
        return True

    def send_requested(self, send: Callable[[], None], now: datetime, requested_at: datetime | None) -> None:
        """Send the task of a row that was saved as requested at that time.

        If it can't be sent, that request is withdrawn. It may have taken so long that someone else has asked again
        meanwhile; their request stays.
        """
        try:
            send()
        except BaseException as error:
            self.filter(requested_at=requested_at).withdraw(error, now)
            raise

    def withdraw(self, error: BaseException, now: datetime) -> None:
        """Note that the task could not be sent, so that nobody waits for it."""
        self.update(requested_at=None)

    def note_start(self, now: datetime, **more: Any) -> int:
        """Keep the first start where a second process goes on with the work. Return 0 if nobody asks for it now."""
        return self.under_way().update(started_at=Coalesce("started_at", now), seen_at=now, **more)

    def note_start_unless_done(self, now: datetime) -> bool:
        """Note the start of the one row selected here. Return False if its request is answered already, by another
        process. Where nobody has asked, there is no request to answer, and the work may begin as well."""
        return bool(self.note_start(now)) or not self.done().exists()

    def note_life(self, now: datetime) -> None:
        self.under_way().update(seen_at=now)

    def note_end(self, now: datetime, **outcome: Any) -> int:
        return self.under_way().update(finished_at=now, **outcome)

    def _with_last_heard(self) -> Self:
        return self.alias(last_heard_at=Coalesce("seen_at", "started_at", "requested_at"))


def _is_long_from(now: datetime) -> Q:
    """Match what was heard of long ago, or long after now: a clock was wrong once, and nobody should wait until that
    time comes."""
    return Q(last_heard_at__lt=now - QUIET_AFTER) | Q(last_heard_at__gt=now + QUIET_AFTER)


class BackgroundWork(models.Model):
    requested_at = models.DateTimeField(null=True)  # empty where nobody has asked for it yet
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)  # the last sign of life of the process that does it
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def is_under_way(self) -> bool:
        return self.requested_at is not None and self.finished_at is None

    def is_quiet(self, now: datetime) -> bool:
        """True if it is under way, but nobody has been heard of it for a while."""
        last_heard = self.seen_at or self.started_at or self.requested_at
        return self.is_under_way and last_heard is not None and abs(now - last_heard) > QUIET_AFTER


def send_task(task: Any, *arguments: Any, task_id: str | None = None) -> None:
    try:
        task.apply_async(arguments, task_id=task_id)
    except OperationalError:
        raise EvalPlatformError(BROKER_IS_AWAY) from None


@contextmanager
def at_work(
    rows: BackgroundWorkQuerySet[Any],
    now: Callable[[], datetime],
    failed: str,
    told_in: str = "problem",
    goes_on_after: type[Exception] | tuple[type[Exception], ...] = (),
) -> Iterator[dict[str, Any]]:
    """Do the work of the one row selected here, whose start is noted: show life meanwhile, and save how it ended.

    Yields the columns to save at the end, which the work fills. If it fails, the row says why in the column `told_in`;
    an error that nobody foresaw is raised as well, and the row says `failed`. Failing ends a request too, or pages
    would wait for ever. Errors that the work `goes_on_after` end nothing: their task is sent again.

    Work that was long quiet may have been requested again: then that request goes on, whatever comes of this one.
    """
    outcome: dict[str, Any] = {}
    requested_at = rows.values_list("requested_at", flat=True).first()
    this_request = rows.filter(requested_at=requested_at)
    if requested_at is not None:
        this_request = this_request.under_way()
    try:
        with showing_life(rows, now):
            yield outcome
    except goes_on_after:
        raise
    except Exception as error:
        problem = in_one_line(error)
        this_request.update(**{**outcome, told_in: problem or f"{failed} {SEE_LOG}", "finished_at": now()})
        if problem is None:
            raise
    else:
        if not this_request.update(**{told_in: "", **outcome, "finished_at": now()}):
            rows.update(**{name: value for name, value in outcome.items() if name != told_in})


@contextmanager
def showing_life(
    rows: BackgroundWorkQuerySet[Any], now: Callable[[], datetime], every: timedelta = SIGN_OF_LIFE
) -> Iterator[None]:
    """Note every few seconds, from a thread with its own connection, that the process lives: simulations, files and
    statistics are then free of it, and may take minutes between two steps."""
    is_over = threading.Event()

    def note_life() -> None:
        while not is_over.wait(every.total_seconds()):
            try:
                rows.note_life(now())
            except Error as error:  # SQLite is locked, or the database away for a moment: the next one will do
                log.info("no_sign_of_life", reason=str(error))
            finally:
                connection.close()

    thread = threading.Thread(target=note_life, name="signs of life", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
