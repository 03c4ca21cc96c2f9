"""Answer the dialogs of a chunk, save a candidate or a failure for each, and give up after ten starts.

In: a chunk of a run, and a way to get its generator. Out: candidates, and failures with their reason. Guaranteed: even
if a process is killed, or a message arrives twice, no dialog gets two candidates of a generator and none is left out;
each answer is saved at once and never asked for again; an error belongs to the dialog that caused it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from time import perf_counter

import structlog
from django.db import DataError, IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from evalplatform.errors import EvalPlatformError
from generation.asking import Answered, ask
from generation.contexts import Reply
from generation.corpora.import_records import storable
from generation.display import display_text
from generation.errors import GeneratorUnavailable, first_line
from generation.loading import LoadedGenerator
from generation.models import Candidate, GenerationChunk, GenerationFailure, GenerationRun, Generator
from generation.open_questions import MOST_TIME, Now, Question, QuestionFeed, goes_on, open_questions
from generation.run_requests import MOST_ATTEMPTS, finish_if_done, finish_run

MOST_STARTS = 10
MOST_REASON_CHARACTERS = 500
TRY_AGAIN_AFTER = timedelta(minutes=1)
SOMEONE_ELSE_FOR = timedelta(minutes=1)

# A database or its driver raises these for a value that it can't store, never for a lost connection.
NOT_SAVED = (DataError, IntegrityError, ValueError, TypeError, OverflowError)

log = structlog.get_logger("generation.generating")

GetGenerator = Callable[[Generator], LoadedGenerator]
OnProgress = Callable[[], None]


def answer_chunk(
    chunk: GenerationChunk, get_generator: GetGenerator, now: Now, on_progress: OnProgress = lambda: None
) -> bool:
    """Answer what is still open, and return whether we are through: the chunk is done, or its run is paused or over.

    GeneratorUnavailable is raised if the caller should try again later. A generator that can't be loaded ends its run.
    """
    run = chunk.run
    if chunk.done_at:
        finish_if_done(run, now())
        return True
    if not goes_on(run):
        return True
    from_the_end = _note_start(chunk, now())
    if chunk.starts >= MOST_STARTS:
        # A context that kills its process each time must not do so for ever. This is checked before the generator is
        # loaded, because loading may be what kills the process.
        _fail_open_questions(chunk, f"its background processes ended {chunk.starts} times without an answer", now())
        return True
    try:
        loaded = get_generator(run.generator)
        is_done = _answer_open_questions(chunk, loaded, now, on_progress, from_the_end)
    except GeneratorUnavailable as unavailable:
        _forget_start(chunk)
        _note_server_away(run, unavailable, now())
        raise
    except EvalPlatformError as error:
        finish_run(run, now(), outcome=str(error))
        return True
    if is_done:
        _note_done(chunk, now())
    return is_done or not goes_on(run)


def give_up(chunk: GenerationChunk, unavailable: GeneratorUnavailable, since: datetime, now: datetime) -> None:
    """Stop after the last retry. If other chunks of the run were answered since the first try, only the dialogs of
    this chunk fail; else the whole run ends."""
    if chunk.run.candidates.filter(created_at__gte=since).exists():
        _fail_open_questions(chunk, str(unavailable), now)
    else:
        finish_run(chunk.run, now, f"Given up: {unavailable}")


# --- A chunk ---------------------------------------------------------------------------------------------------------


def _answer_open_questions(
    chunk: GenerationChunk, loaded: LoadedGenerator, now: Now, on_progress: OnProgress, from_the_end: bool
) -> bool:
    """Return False if time ran out, or if the run was paused or ended."""
    until = now() + MOST_TIME
    while open_questions(chunk):
        feed = QuestionFeed(chunk, now, until, from_the_end)
        began = perf_counter()
        for answered in ask(chunk, loaded, feed):
            seconds, began = perf_counter() - began, perf_counter()
            if answered:
                _save_answers(chunk, loaded, answered, seconds / len(answered), now())
                on_progress()
            else:
                _note_alive(chunk, now())
        if feed.is_cut_short:
            return False
    return True


# --- Rows ------------------------------------------------------------------------------------------------------------


def _save_answers(
    chunk: GenerationChunk,
    loaded: LoadedGenerator,
    answered: Answered,
    seconds: float,
    now: datetime,
) -> None:
    """Save all answers or, if the database refuses one of them, each alone: the others may have cost money, and are
    saved; the refused one becomes a failure of its dialog."""
    try:
        _write_rows(chunk, loaded, answered, seconds, now)
    except NOT_SAVED as error:
        if len(answered) == 1:
            log.warning("not_saved", dialog=answered[0][0].dialog.pk, error=type(error).__name__)
            failure = Reply("", failure=f"its answer can't be saved: {first_line(error)}")
            _write_rows(chunk, loaded, [(answered[0][0], failure)], seconds, now)
            return
        for one in answered:
            _save_answers(chunk, loaded, [one], seconds, now)


def _write_rows(
    chunk: GenerationChunk, loaded: LoadedGenerator, answered: Answered, seconds: float, now: datetime
) -> None:
    """Add the rows. A row that another process has added meanwhile stays: it is the same, because seeds are fixed."""
    run = chunk.run
    candidates = [
        Candidate(
            dialog=question.dialog,
            generator=run.generator,
            run=run,
            text=reply.text,
            display_text=display_text(reply.text, [*question.dialog.turns, question.dialog.gold]),
            thoughts=reply.thoughts,
            source=dict(reply.source),
            predicted_label=reply.label,
            score=reply.score,
            seed=question.seed,
            seconds=seconds,
            turns_cut=reply.turns_cut,
            software=loaded.software,
        )
        for question, reply in answered
        if not reply.failure
    ]
    failures = [_failure_row(run, question, reply.failure) for question, reply in answered if reply.failure]
    with transaction.atomic():
        Candidate.objects.bulk_create(candidates, ignore_conflicts=True)
        GenerationFailure.objects.bulk_create(failures, ignore_conflicts=True)
        GenerationChunk.objects.filter(pk=chunk.pk).update(seen_at=now, starts=0)
        GenerationRun.objects.unfinished().filter(pk=run.pk).update(
            seen_at=now, outcome="", away_since=None, next_try_at=None
        )


def _failure_row(run: GenerationRun, question: Question, reason: str) -> GenerationFailure:
    return GenerationFailure(
        dialog=question.dialog,
        generator=run.generator,
        run=run,
        attempt=question.attempt,
        seed=question.seed,
        reason=storable(reason)[:MOST_REASON_CHARACTERS],
    )


def _fail_open_questions(chunk: GenerationChunk, reason: str, now: datetime) -> None:
    for _ in range(MOST_ATTEMPTS):
        rows = [_failure_row(chunk.run, question, reason) for question in open_questions(chunk)]
        GenerationFailure.objects.bulk_create(rows, ignore_conflicts=True)
    _note_done(chunk, now)


def _note_start(chunk: GenerationChunk, now: datetime) -> bool:
    """Count this start, and return whether another process worked on the chunk a moment ago.

    That happens if a message arrives twice, or a process was just killed. The second process then begins at the other
    end, so that both ask the same dialog only where they meet.
    """
    with transaction.atomic():
        row = GenerationChunk.objects.select_for_update().filter(pk=chunk.pk)
        seen_at = row.values_list("seen_at", flat=True).get()
        row.update(starts=F("starts") + 1, seen_at=now)
    GenerationRun.objects.filter(pk=chunk.run_id).note_start(now)
    return seen_at is not None and now - seen_at < SOMEONE_ELSE_FOR


def _note_alive(chunk: GenerationChunk, now: datetime) -> None:
    """Note that we are alive. A server may take minutes, and a chunk that seems lost would be sent again."""
    GenerationChunk.objects.filter(pk=chunk.pk).update(seen_at=now)
    GenerationRun.objects.filter(pk=chunk.run_id).note_life(now)


def _note_server_away(run: GenerationRun, unavailable: GeneratorUnavailable, now: datetime) -> None:
    """Note that the server is away, for all chunks of the run, so that the others don't ask it in the next minute."""
    GenerationRun.objects.unfinished().filter(pk=run.pk).update(
        outcome=storable(f"{str(unavailable).rstrip('.')}."),
        seen_at=now,
        away_since=Coalesce(F("away_since"), now),
        next_try_at=now + TRY_AGAIN_AFTER,
    )


def _forget_start(chunk: GenerationChunk) -> None:
    """Take back the count of this start, because the process survived it. Saving an answer has already reset it to
    0."""
    GenerationChunk.objects.filter(pk=chunk.pk, starts__gt=0).update(starts=F("starts") - 1)


def _note_done(chunk: GenerationChunk, now: datetime) -> None:
    GenerationChunk.objects.undone().filter(pk=chunk.pk).update(done_at=now)
    finish_if_done(chunk.run, now)
