"""Request a run: which dialogs, in which chunks, asked how often; pause, resume and cancel it, and count how far it is.

In: a generator and a dataset. Out: a run with its chunks, saved before any work begins. Guaranteed: a run covers only
dialogs that have no candidate of the generator, and at most one run of a generator and dataset is unfinished.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.db.models import Count, Exists, Max, Min, OuterRef
from django.db.models.functions import Cast, Length
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from generation.corpora.import_records import storable
from generation.models import Candidate, Dataset, Dialog, GenerationChunk, GenerationFailure, GenerationRun, Generator

CHUNK_SIZE = 64
MOST_ATTEMPTS = 2  # of a dialog in one run
RATE_WINDOW = timedelta(minutes=2)


class NothingToAnswer(EvalPlatformError):
    """Every dialog already has a candidate by this generator."""


def request_run(
    generator: Generator,
    dataset: Dataset,
    requested_by: User | None = None,
    most_dialogs: int | None = None,
    chunk_size: int = CHUNK_SIZE,
) -> GenerationRun:
    if not generator.can_answer:
        raise EvalPlatformError(f"{generator} only has imported replies: there is nothing to ask.")
    if open_run(generator, dataset):
        raise EvalPlatformError(f"{generator} is answering {dataset} already.")
    ids = _sort_longest_first(_unanswered_dialogs(generator, dataset), most_dialogs)
    if not ids:
        raise NothingToAnswer(f"{generator} has answered every dialog of {dataset}.")
    chunks = _mix_lengths([ids[start : start + chunk_size] for start in range(0, len(ids), chunk_size)])
    try:
        with transaction.atomic():
            run = GenerationRun.objects.create(
                generator=generator,
                dataset=dataset,
                origin=GenerationRun.GENERATED,
                requested_by=requested_by,
                dialog_count=len(ids),
            )
            GenerationChunk.objects.bulk_create(
                GenerationChunk(run=run, number=number, dialog_ids=chunk) for number, chunk in enumerate(chunks)
            )
    except IntegrityError:  # someone else's request, a moment earlier
        raise EvalPlatformError(f"{generator} is answering {dataset} already.") from None
    return run


def open_run(generator: Generator, dataset: Dataset) -> GenerationRun | None:
    """Return the unfinished run of this generator and dataset, if there is one."""
    run = GenerationRun.objects.generated().unfinished().filter(generator=generator, dataset=dataset).first()
    return None if run is None or finish_if_done(run, timezone.now()) else run


def pause_run(run: GenerationRun, now: datetime) -> None:
    """Pause a run. Processes that are answering finish their present batch."""
    GenerationRun.objects.going_on().filter(pk=run.pk).update(paused_at=now)


def resume_run(run: GenerationRun, now: datetime) -> None:
    """Resume a run. The caller must send its chunks again: messages that arrived during the pause were dropped."""
    GenerationRun.objects.unfinished().filter(pk=run.pk).update(
        paused_at=None, seen_at=now, outcome="", away_since=None, next_try_at=None
    )
    finish_if_done(run, now)


def cancel_run(run: GenerationRun, now: datetime) -> None:
    """Cancel a run. Its answers stay, and the rest can be requested in a new run."""
    finish_run(run, now, cancelled_at=now)


def finish_run(run: GenerationRun, now: datetime, outcome: str = "", cancelled_at: datetime | None = None) -> None:
    unfinished = GenerationRun.objects.unfinished().filter(pk=run.pk)
    unfinished.update(finished_at=now, paused_at=None, outcome=storable(outcome), cancelled_at=cancelled_at)


def finish_if_done(run: GenerationRun, now: datetime) -> bool:
    """Finish a run that has no open chunk left. Call this whenever a run is taken up: the process that did its last
    chunk may have been killed before it could finish the run."""
    is_done = not run.chunks.undone().exists()
    if is_done:
        finish_run(run, now)
    return is_done


def undone_chunks(run: GenerationRun) -> list[int]:
    return list(run.chunks.undone().order_by("number").values_list("pk", flat=True))


@dataclass(frozen=True)
class RunCounts:
    total: int
    answered: int
    failed: int  # asked twice, without a reply to show
    per_second: float | None  # over the last two minutes

    @property
    def done(self) -> int:
        return self.answered + self.failed

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.per_second if self.per_second else None


def count_run(run: GenerationRun, now: datetime) -> RunCounts:
    return RunCounts(
        total=run.dialog_count or 0,
        answered=run.candidates.count(),
        failed=failed_dialogs(run).count(),
        per_second=None if run.finished_at or run.paused_at else _recent_rate(run, now),
    )


def failed_dialogs(run: GenerationRun) -> models.QuerySet[Any, int]:
    """Return the ids of dialogs that were asked as often as allowed and have no candidate."""
    asked = run.failures.values("dialog").annotate(times=Count("pk")).filter(times__gte=MOST_ATTEMPTS)
    answered = Candidate.objects.filter(dialog=OuterRef("dialog"), generator=run.generator_id)
    return asked.exclude(Exists(answered)).values_list("dialog", flat=True)


def count_failures(run: GenerationRun) -> dict[str, int]:
    """Return why dialogs got no reply, the most frequent reason first."""
    last = GenerationFailure.objects.filter(run=run, dialog__in=failed_dialogs(run)).order_by("attempt")
    reasons = dict(last.values_list("dialog", "reason"))
    return dict(Counter(reasons.values()).most_common())


def _unanswered_dialogs(generator: Generator, dataset: Dataset) -> models.QuerySet[Dialog]:
    answered = Candidate.objects.filter(dialog=OuterRef("pk"), generator=generator)
    return Dialog.objects.filter(~Exists(answered), dataset=dataset)


def _sort_longest_first(dialogs: models.QuerySet[Dialog], most: int | None) -> list[int]:
    """Return ids of dialogs by length of their context, since contexts of similar length waste least of a batch. The
    longest come first, so that memory runs out at once or never."""
    if most is not None:
        dialogs = dialogs.filter(pk__in=dialogs.order_by("pk").values("pk")[:most])
    length = Length(Cast("turns", models.TextField()))
    return list(dialogs.order_by(length.desc(), "pk").values_list("pk", flat=True))


def _mix_lengths(chunks: list[list[int]]) -> list[list[int]]:
    """Put the chunk with the longest contexts first, then mix all lengths, so that the rate of the first chunks
    predicts how long the rest will take.

    >>> _mix_lengths([[90], [80], [70], [60], [50]])
    [[90], [70], [50], [80], [60]]
    """
    golden = (5**0.5 - 1) / 2  # its multiples fall evenly into the unit interval, however many there are
    indexes = sorted(range(1, len(chunks)), key=lambda number: number * golden % 1)
    return [*chunks[:1], *(chunks[index] for index in indexes)]


def _recent_rate(run: GenerationRun, now: datetime) -> float | None:
    """Return candidates per second in the last two minutes.

    A whole batch is saved at once. The first batch of the window only marks its beginning and is not counted.
    """
    lately = run.candidates.filter(created_at__gte=now - RATE_WINDOW)
    span = lately.aggregate(first=Min("created_at"), last=Max("created_at"), count=Count("pk"))
    if not span["count"] or span["last"] - span["first"] < timedelta(seconds=1):
        return None
    later = lately.filter(created_at__gt=span["first"] + timedelta(milliseconds=100)).count()
    return later / (span["last"] - span["first"]).total_seconds() or None
