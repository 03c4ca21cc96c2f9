"""Run generation's background tasks: answer chunks, send lost ones again, wait for a server, check a dataset's style.

They fetch a row by its id and call the code that does the work. Answering uses the queue `gpu`, all else `default`.
"""

from collections.abc import Iterable
from functools import cache

import structlog
from celery import Task, current_app, shared_task
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from evalplatform.background_work import send_task
from generation.errors import GeneratorUnavailable
from generation.generating import TRY_AGAIN_AFTER, answer_chunk, give_up
from generation.loading import Loader
from generation.models import Dataset, GenerationChunk, GenerationRun
from generation.run_requests import finish_if_done, undone_chunks
from generation.style_check import carry_out_style_check

log = structlog.get_logger("generation.tasks")

TRY_AGAIN_SECONDS = TRY_AGAIN_AFTER.total_seconds()
MOST_RETRIES = 10
MOST_AWAY = MOST_RETRIES * TRY_AGAIN_AFTER
MOST_PASSES = 3


@shared_task
def check_style_of_dataset(dataset_id: int) -> None:
    carry_out_style_check(Dataset.objects.get(pk=dataset_id), timezone.now)


def send_chunks(chunk_ids: Iterable[int]) -> None:
    """Send a message for each chunk. A message too many does no harm, since its chunk is then found done."""
    for chunk_id in chunk_ids:
        send_task(answer_chunk_of_run, chunk_id)


@shared_task(
    bind=True,
    max_retries=MOST_RETRIES,
    autoretry_for=(DatabaseError,),
    default_retry_delay=TRY_AGAIN_SECONDS,
)
def answer_chunk_of_run(self: Task, chunk_id: int, passes: int = 0) -> None:
    """Answer a chunk. The broker holds the message until the chunk is done, so that another process gets it if this
    one is killed."""
    chunk = GenerationChunk.objects.select_related("run__generator").get(pk=chunk_id)
    if passes < MOST_PASSES and _should_pass_on(chunk):
        answer_chunk_of_run.delay(chunk_id, passes + 1)
        return
    try:
        _limit_tries_of_server(chunk.run)
        is_through = answer_chunk(chunk, _loader().get, timezone.now)
    except GeneratorUnavailable as unavailable:
        chunk.run.refresh_from_db()
        since = timezone.now() - MOST_AWAY
        is_away_for_long = chunk.run.away_since is not None and chunk.run.away_since < since
        if is_away_for_long or self.request.retries >= MOST_RETRIES:
            give_up(chunk, unavailable, since, timezone.now())
            return
        raise self.retry(countdown=TRY_AGAIN_SECONDS) from unavailable
    if not is_through:
        answer_chunk_of_run.delay(chunk_id)


def _limit_tries_of_server(run: GenerationRun) -> None:
    """Let only one chunk of the run ask a server that is away, once a minute. When every chunk asked, each with its own
    retries, it took hours to give up."""
    now = timezone.now()
    if run.next_try_at is None or run.finished_at is not None:
        return
    may_try = GenerationRun.objects.filter(pk=run.pk, next_try_at__lte=now)
    if not may_try.update(next_try_at=now + TRY_AGAIN_AFTER):
        raise GeneratorUnavailable(run.outcome)


@shared_task
def send_lost_chunks() -> None:
    """Send the chunks of quiet runs again. Celery's beat runs this each minute, because a broker may lose messages, or
    hold back those of a dead process for long.

    Chunks are sent only if the queue is empty: a run may just wait behind others for hours.
    """
    for run in GenerationRun.objects.going_on():
        finish_if_done(run, timezone.now())
    quiet = [run for run in GenerationRun.objects.going_on() if run.is_quiet(timezone.now())]
    if quiet and not count_waiting():
        for run in quiet:
            log.warning("sent_again", run=str(run))
            send_chunks(undone_chunks(run))


def count_waiting() -> int:
    """Return how many messages no process has taken yet."""
    with current_app.connection_for_read() as connection:
        queue = current_app.amqp.queues["gpu"](connection.default_channel)
        waiting: int = queue.queue_declare().message_count
        return waiting


def _should_pass_on(chunk: GenerationChunk) -> bool:
    """Return whether a chunk of a generator that is loaded here waits further back in the queue.

    If so, this chunk goes back to the queue, for a process that has its generator loaded. A chunk is passed on a few
    times at most, because the message of the other one may have been lost.
    """
    loaded = _loader().versions
    if not loaded or chunk.run.generator.version in loaded:
        return False
    waiting = GenerationChunk.objects.undone().filter(seen_at=None, run__in=GenerationRun.objects.going_on())
    return waiting.filter(run__generator__version__in=loaded).exists()


@cache
def _loader() -> Loader:
    """Return this process's only loader, so that generators stay loaded between chunks."""
    return Loader(settings.GENERATOR_DEVICE, settings.GENERATOR_THREADS)
