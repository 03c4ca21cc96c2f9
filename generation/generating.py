"""The missing candidates of a chunk's dialogs, filled in.

In: a chunk of a run, and a way to get its generator. Out: candidates, and failures with their reason.
Guaranteed: whatever is killed, delivered twice or started beside, no dialog gets two candidates of a generator and none
is left out; a reply depends on the generator's version, the dialog and the attempt alone.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter

import structlog
from django.db import transaction
from django.db.models import Count, F, Q

from evalplatform.errors import EvalPlatformError
from generation.corpora.records import BadRecord, checked_text
from generation.display import display_text
from generation.generators.base import Context, GeneratorUnavailable, Reply
from generation.generators.devices import is_out_of_memory
from generation.loading import LoadedGenerator
from generation.models import Candidate, Dialog, GenerationChunk, GenerationFailure, GenerationRun, Generator
from generation.requesting import MOST_ATTEMPTS, finish_if_done, finish_run

log = structlog.get_logger("generation.generating")

MOST_TIME = timedelta(minutes=5)  # at a chunk, before it is put back for whoever is next
MOST_STARTS = 10
MOST_REASON_CHARACTERS = 500

Now = Callable[[], datetime]
GetGenerator = Callable[[Generator], LoadedGenerator]


def answer_chunk(
    chunk: GenerationChunk, get_generator: GetGenerator, now: Now, on_progress: Callable[[], None] = lambda: None
) -> bool:
    """True when nothing is left to do for it now: it is done, or its run is paused or at its end.

    Raises GeneratorUnavailable, to be tried again later. A generator that can't be loaded is the end of its run.
    """
    run = chunk.run
    if chunk.done_at:
        finish_if_done(run, now())
        return True
    if not _goes_on(run):
        return True
    _note_start(chunk, now())
    if chunk.starts >= MOST_STARTS:  # before its generator is loaded: that may be what kills
        # A context that kills its worker each time must not do so for ever.
        _fail(chunk, f"its workers ended {chunk.starts} times without an answer", now())
        return True
    try:
        loaded = get_generator(run.generator)
        is_done = _answer_all(chunk, loaded, now, on_progress)
    except GeneratorUnavailable as unavailable:
        _forget_start(chunk)
        outcome = f"{str(unavailable).rstrip('.')}. It is tried again in a minute."
        GenerationRun.objects.unfinished().filter(pk=run.pk).update(outcome=outcome, seen_at=now())
        raise
    except EvalPlatformError as error:
        finish_run(run, now(), outcome=str(error))
        return True
    if is_done:
        _note_done(chunk, now())
    return is_done or not _goes_on(run)


def give_up(chunk: GenerationChunk, unavailable: GeneratorUnavailable, since: datetime, now: datetime) -> None:
    """After its last retry. Where others of its run were answered since the first, only this chunk's dialogs fail."""
    if chunk.run.candidates.filter(created_at__gte=since).exists():
        _fail(chunk, str(unavailable), now)
    else:
        finish_run(chunk.run, now, f"Given up: {unavailable}")


def seed_of(generator: Generator, dialog: Dialog, attempt: int) -> int:
    """The same for the same version and dialog, in any database; 48 bits, which every server's JSON can carry."""
    named = f"{generator.version} {dialog.context_key} {dialog.external_id} {attempt}"
    return int.from_bytes(hashlib.sha256(named.encode()).digest()[:6])


# --- A chunk ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Question:
    """A dialog that is to be answered, and for the how-many-eth time."""

    dialog: Dialog
    attempt: int
    seed: int


def _answer_all(chunk: GenerationChunk, loaded: LoadedGenerator, now: Now, on_progress: Callable[[], None]) -> bool:
    """False if time ran out, or the run no longer goes on."""
    began_at = now()
    for _ in range(MOST_ATTEMPTS):
        questions = _open_questions(chunk)
        while questions:
            if not _goes_on(chunk.run) or now() - began_at > MOST_TIME:
                return False
            batch, questions = questions[: loaded.batch_size], questions[loaded.batch_size :]
            began = perf_counter()
            answered = list(_answer(loaded, batch))
            _save(chunk, loaded, answered, (perf_counter() - began) / len(batch), now())
            on_progress()
    return True


def _open_questions(chunk: GenerationChunk) -> list[_Question]:
    """In the chunk's order, which is by length. Failures of earlier runs count for the seed, not against the dialog."""
    generator = chunk.run.generator
    failures = GenerationFailure.objects.filter(generator=generator, dialog__in=chunk.dialog_ids)
    tries = {
        dialog: (ever, here)
        for dialog, ever, here in failures.values_list("dialog").annotate(
            ever=Count("pk"), here=Count("pk", filter=Q(run=chunk.run))
        )
    }
    answered = Candidate.objects.filter(generator=generator, dialog__in=chunk.dialog_ids)
    settled = set(answered.values_list("dialog", flat=True))
    settled |= {dialog for dialog, (_, here) in tries.items() if here >= MOST_ATTEMPTS}
    dialogs = Dialog.objects.in_bulk([pk for pk in chunk.dialog_ids if pk not in settled])
    questions = []
    for pk in chunk.dialog_ids:
        if pk in dialogs:
            attempt = tries.get(pk, (0, 0))[0] + 1
            questions.append(_Question(dialogs[pk], attempt, seed_of(generator, dialogs[pk], attempt)))
    return questions


def _answer(loaded: LoadedGenerator, batch: list[_Question]) -> Iterator[tuple[_Question, Reply]]:
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
            yield from (found for one in part for found in _answer(loaded, [one]))
        batch = rest


def _context(dialog: Dialog, loaded: LoadedGenerator) -> Context:
    return Context(
        turns=tuple(dialog.turns),
        turn_labels=tuple(dialog.turn_labels),
        gold=dialog.gold,
        forced_label=loaded.forced_label,
    )


def _checked(reply: Reply) -> Reply:
    """What can't be shown to a worker is a failure, whatever the kind thinks of it."""
    if reply.failure:
        return reply
    if not reply.text.strip():
        return Reply("", turns_cut=reply.turns_cut, failure="empty")
    try:
        checked_text(reply.text, "the reply")
    except BadRecord as bad:
        return Reply("", turns_cut=reply.turns_cut, failure=f"not text: {bad}")
    if "\ufffd" in reply.text:  # what a decoder makes of bytes that are no characters
        return Reply("", turns_cut=reply.turns_cut, failure="not text: it has bytes that are no characters")
    return reply


def _failure(error: Exception) -> Reply:
    if is_out_of_memory(error):
        return Reply("", failure="it does not fit into memory, not even alone")
    return Reply("", failure=" ".join(f"{type(error).__name__}: {error}".split()))


# --- Rows ------------------------------------------------------------------------------------------------------------


def _save(
    chunk: GenerationChunk,
    loaded: LoadedGenerator,
    answered: list[tuple[_Question, Reply]],
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
        GenerationRun.objects.unfinished().filter(pk=run.pk).update(seen_at=now, outcome="")


def _failure_row(run: GenerationRun, question: _Question, reason: str) -> GenerationFailure:
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
        rows = [_failure_row(chunk.run, question, reason) for question in _open_questions(chunk)]
        GenerationFailure.objects.bulk_create(rows, ignore_conflicts=True)
    _note_done(chunk, now)


def _note_start(chunk: GenerationChunk, now: datetime) -> None:
    GenerationChunk.objects.filter(pk=chunk.pk).update(starts=F("starts") + 1, seen_at=now)
    GenerationRun.objects.unfinished().filter(pk=chunk.run_id).update(seen_at=now)


def _forget_start(chunk: GenerationChunk) -> None:
    """Its worker lives. None is left to forget if something was saved since."""
    GenerationChunk.objects.filter(pk=chunk.pk, starts__gt=0).update(starts=F("starts") - 1)


def _note_done(chunk: GenerationChunk, now: datetime) -> None:
    GenerationChunk.objects.undone().filter(pk=chunk.pk).update(done_at=now)
    finish_if_done(chunk.run, now)


def _goes_on(run: GenerationRun) -> bool:
    return GenerationRun.objects.going_on().filter(pk=run.pk).exists()
