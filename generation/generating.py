"""The missing candidates of a chunk's dialogs, filled in.

In: a chunk of a run, and a way to get its generator. Out: candidates, and failures with their reason.
Guaranteed: whatever is killed, delivered twice or started beside, no dialog gets two candidates of a generator and none
is left out; what is answered is saved at once and never asked again; an error is of the dialog that it happened to.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from time import perf_counter

import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from evalplatform.errors import EvalPlatformError
from generation.corpora.records import BadRecord, checked_text
from generation.display import display_text
from generation.generators.base import Answer, Context, GeneratorUnavailable, Reply
from generation.generators.devices import is_out_of_memory
from generation.loading import LoadedGenerator
from generation.models import Candidate, Dialog, GenerationChunk, GenerationFailure, GenerationRun, Generator
from generation.questions import MOST_TIME, Now, Question, QuestionFeed, goes_on, is_someone_at, open_questions
from generation.requesting import MOST_ATTEMPTS, finish_if_done, finish_run
from generation.thoughts import NOTHING_BUT_THOUGHTS, split_thoughts

log = structlog.get_logger("generation.generating")

MOST_STARTS = 10
MOST_REASON_CHARACTERS = 500
TRY_AGAIN_AFTER = timedelta(minutes=1)
# Unanswered dialogs in a row, beside those that are under way at once, until a server is said to be away.
MOST_UNANSWERED = 3

GetGenerator = Callable[[Generator], LoadedGenerator]
OnProgress = Callable[[], None]


def answer_chunk(
    chunk: GenerationChunk, get_generator: GetGenerator, now: Now, on_progress: OnProgress = lambda: None
) -> bool:
    """True when nothing is left to do for it now: it is done, or its run is paused or at its end.

    Raises GeneratorUnavailable, to be tried again later. A generator that can't be loaded is the end of its run.
    """
    run = chunk.run
    if chunk.done_at:
        finish_if_done(run, now())
        return True
    if not goes_on(run):
        return True
    from_the_end = is_someone_at(chunk, now())
    _note_start(chunk, now())
    if chunk.starts >= MOST_STARTS:  # before its generator is loaded: that may be what kills
        # A context that kills its worker each time must not do so for ever.
        _fail(chunk, f"its workers ended {chunk.starts} times without an answer", now())
        return True
    try:
        loaded = get_generator(run.generator)
        is_done = _answer_all(chunk, loaded, now, on_progress, from_the_end)
    except GeneratorUnavailable as unavailable:
        _forget_start(chunk)
        _note_away(run, unavailable, now())
        raise
    except EvalPlatformError as error:
        finish_run(run, now(), outcome=str(error))
        return True
    if is_done:
        _note_done(chunk, now())
    return is_done or not goes_on(run)


def give_up(chunk: GenerationChunk, unavailable: GeneratorUnavailable, since: datetime, now: datetime) -> None:
    """After its last retry. Where others of its run were answered since the first, only this chunk's dialogs fail."""
    if chunk.run.candidates.filter(created_at__gte=since).exists():
        _fail(chunk, str(unavailable), now)
    else:
        finish_run(chunk.run, now, f"Given up: {unavailable}")


# --- A chunk ---------------------------------------------------------------------------------------------------------


def _answer_all(
    chunk: GenerationChunk, loaded: LoadedGenerator, now: Now, on_progress: OnProgress, from_the_end: bool
) -> bool:
    """False if time ran out, or the run no longer goes on."""
    until = now() + MOST_TIME
    answer = _each if hasattr(loaded.kind, "answer_each") else _in_batches
    while open_questions(chunk):
        feed = QuestionFeed(chunk, now, until, from_the_end)
        began = perf_counter()
        for answered in answer(chunk, loaded, feed, now):
            seconds, began = perf_counter() - began, perf_counter()
            _save(chunk, loaded, answered, seconds / len(answered), now())
            on_progress()
        if feed.is_cut_short:
            return False
    return True


Answered = list[tuple[Question, Reply]]


def _in_batches(chunk: GenerationChunk, loaded: LoadedGenerator, feed: QuestionFeed, now: Now) -> Iterator[Answered]:
    while batch := feed.take(loaded.batch_size):
        yield list(_answer_batch(loaded, batch))


def _answer_batch(loaded: LoadedGenerator, batch: list[Question]) -> Iterator[tuple[Question, Reply]]:
    """Smaller when memory runs out; one by one when something else goes wrong, to find the dialog that it is about."""
    while batch:
        part, rest = batch[: loaded.batch_size], batch[loaded.batch_size :]
        try:
            replies = loaded.answer([_context(one.dialog, loaded) for one in part], [one.seed for one in part])
        except EvalPlatformError:
            raise
        except Exception as error:
            if is_out_of_memory(error) and loaded.halve():
                log.warning("out_of_memory", batch_size=loaded.batch_size)
                continue
            log.exception("no_answer", dialogs=[question.dialog.external_id for question in part])
            replies = [_failure(error)] if len(part) == 1 else []
        if replies:
            yield from ((one, _checked(reply)) for one, reply in zip(part, replies, strict=True))
        else:
            yield from (found for one in part for found in _answer_batch(loaded, [one]))
        batch = rest


def _each(chunk: GenerationChunk, loaded: LoadedGenerator, feed: QuestionFeed, now: Now) -> Iterator[Answered]:
    """As they come. Whether a dialog that was not answered is at fault, or its server away, the others tell."""
    asked: list[Question] = []
    answers_before: list[int] = []  # when it was asked
    in_doubt: list[tuple[Question, GeneratorUnavailable]] = []  # none was answered since
    answer_count = 0

    def questions() -> Iterator[tuple[Context, int]]:
        # As soon as there is doubt, the shortest: the longest contexts, which come first, may be too much for it.
        while taken := feed.take(shortest=bool(in_doubt)):
            asked.append(taken[0])
            answers_before.append(answer_count)
            yield _context(taken[0].dialog, loaded), taken[0].seed

    for found in loaded.answer_each(questions()):
        if found is None:
            _note_alive(chunk, now())
            continue
        question, answer = asked[found[0]], found[1]
        is_fault = isinstance(answer, GeneratorUnavailable)
        answer_count += not is_fault
        if isinstance(answer, GeneratorUnavailable) and answer_count == answers_before[found[0]]:
            in_doubt.append((question, answer))
            if len(in_doubt) >= loaded.batch_size + MOST_UNANSWERED:
                feed.stop()
            continue
        yield [(question, _as_reply(answer)), *([] if is_fault else _blamed(in_doubt))]
        in_doubt = [] if not is_fault else in_doubt
    if in_doubt:
        # Nobody is left to ask. A dialog that has failed before, while others were answered, is at fault again.
        dialogs = [question.dialog for question, _ in in_doubt]
        failed_before = set(chunk.run.failures.filter(dialog__in=dialogs).values_list("dialog", flat=True))
        unexplained = [fault for question, fault in in_doubt if question.dialog.pk not in failed_before]
        if unexplained:
            raise unexplained[-1]
        yield _blamed(in_doubt)


def _blamed(in_doubt: list[tuple[Question, GeneratorUnavailable]]) -> Answered:
    return [(question, _failure(fault)) for question, fault in in_doubt]


def _as_reply(answer: Answer) -> Reply:
    return _checked(answer) if isinstance(answer, Reply) else _failure(answer)


def _context(dialog: Dialog, loaded: LoadedGenerator) -> Context:
    return Context(
        turns=tuple(dialog.turns),
        turn_labels=tuple(dialog.turn_labels),
        gold=dialog.gold,
        forced_label=loaded.forced_label,
    )


def _checked(reply: Reply) -> Reply:
    """What can't be shown to a worker is a failure, whatever the kind thinks of it; thoughts are not for showing."""
    if reply.failure:
        return reply
    text, thoughts = split_thoughts(reply.text)
    thoughts = "\n".join(filter(None, [reply.thoughts, thoughts]))
    if not text.strip():
        return replace(reply, text="", failure=NOTHING_BUT_THOUGHTS if thoughts else "empty")
    try:
        checked_text(text, "the reply")
    except BadRecord as bad:
        return replace(reply, text="", failure=f"not text: {bad}")
    if "\ufffd" in text:  # what a decoder makes of bytes that are no characters
        return replace(reply, text="", failure="not text: it has bytes that are no characters")
    return replace(reply, text=text, thoughts=thoughts)


def _failure(error: Exception) -> Reply:
    if isinstance(error, EvalPlatformError):
        return Reply("", failure=str(error))
    if is_out_of_memory(error):
        return Reply("", failure="it does not fit into memory, not even alone")
    return Reply("", failure=" ".join(f"{type(error).__name__}: {error}".split()))


# --- Rows ------------------------------------------------------------------------------------------------------------


def _save(
    chunk: GenerationChunk,
    loaded: LoadedGenerator,
    answered: Answered,
    seconds: float,
    now: datetime,
) -> None:
    """What another worker has saved meanwhile stays: it is the same."""
    run = chunk.run
    candidates = [
        Candidate(
            dialog=question.dialog,
            generator=run.generator,
            run=run,
            text=reply.text,
            display_text=display_text(reply.text, [*question.dialog.turns, question.dialog.gold]),
            thoughts=_storable(reply.thoughts),
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


def _storable(thoughts: str) -> str:
    """Nobody is shown them, so they need only be what a database takes: PostgreSQL takes no NUL."""
    return thoughts.replace("\0", "").encode(errors="ignore").decode()


def _failure_row(run: GenerationRun, question: Question, reason: str) -> GenerationFailure:
    return GenerationFailure(
        dialog=question.dialog,
        generator=run.generator,
        run=run,
        attempt=question.attempt,
        seed=question.seed,
        reason=reason[:MOST_REASON_CHARACTERS],
    )


def _fail(chunk: GenerationChunk, reason: str, now: datetime) -> None:
    for _ in range(MOST_ATTEMPTS):
        rows = [_failure_row(chunk.run, question, reason) for question in open_questions(chunk)]
        GenerationFailure.objects.bulk_create(rows, ignore_conflicts=True)
    _note_done(chunk, now)


def _note_start(chunk: GenerationChunk, now: datetime) -> None:
    GenerationChunk.objects.filter(pk=chunk.pk).update(starts=F("starts") + 1, seen_at=now)
    GenerationRun.objects.unfinished().filter(pk=chunk.run_id).update(seen_at=now)


def _note_alive(chunk: GenerationChunk, now: datetime) -> None:
    """A server may take minutes: nobody should think meanwhile that the chunk was lost, and send it again."""
    GenerationChunk.objects.filter(pk=chunk.pk).update(seen_at=now)
    GenerationRun.objects.unfinished().filter(pk=chunk.run_id).update(seen_at=now)


def _note_away(run: GenerationRun, unavailable: GeneratorUnavailable, now: datetime) -> None:
    """For all chunks of the run: one that finds it away is enough for the next minute."""
    GenerationRun.objects.unfinished().filter(pk=run.pk).update(
        outcome=f"{str(unavailable).rstrip('.')}.",
        seen_at=now,
        away_since=Coalesce(F("away_since"), now),
        next_try_at=now + TRY_AGAIN_AFTER,
    )


def _forget_start(chunk: GenerationChunk) -> None:
    """Its worker lives. None is left to forget if something was saved since."""
    GenerationChunk.objects.filter(pk=chunk.pk, starts__gt=0).update(starts=F("starts") - 1)


def _note_done(chunk: GenerationChunk, now: datetime) -> None:
    GenerationChunk.objects.undone().filter(pk=chunk.pk).update(done_at=now)
    finish_if_done(chunk.run, now)
