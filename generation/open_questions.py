"""Choose the dialogs of a chunk that a generator still has to answer, with seeds, until the run is paused or over.

In: a chunk. Out: its dialogs that have neither a candidate nor the most failures allowed, one after the other.
Guaranteed: a dialog is looked up again before it is handed out, so that whatever another process has answered meanwhile
is not asked, and paid for, again.
"""

import hashlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count

from generation.models import Candidate, Dialog, GenerationChunk, GenerationFailure, GenerationRun, Generator
from generation.run_requests import failed_dialogs

MOST_TIME = timedelta(minutes=5)  # a process works so long on a chunk, then puts it back into the queue

Now = Callable[[], datetime]


@dataclass(frozen=True)
class Question:
    """A dialog that is to be answered. `attempt` counts from 1, over all runs."""

    dialog: Dialog
    attempt: int
    seed: int


def seed_of(generator: Generator, dialog: Dialog, attempt: int) -> int:
    """Return a seed that depends on version, dialog and attempt only, so that it is the same in any database. It has
    48 bits, which every server's JSON can hold."""
    named = f"{generator.version} {dialog.context_key} {dialog.external_id} {attempt}"
    return int.from_bytes(hashlib.sha256(named.encode()).digest()[:6])


def open_questions(chunk: GenerationChunk) -> list[Question]:
    """Return the chunk's open questions in its order, the longest contexts first. Failures in earlier runs count for
    the attempt, and so change the seed, but use up no attempt of this run."""
    generator = chunk.run.generator
    failures = GenerationFailure.objects.filter(generator=generator, dialog__in=chunk.dialog_ids)
    tries = dict(failures.values_list("dialog").annotate(Count("pk")))
    answered = Candidate.objects.filter(generator=generator, dialog__in=chunk.dialog_ids)
    settled = set(answered.values_list("dialog", flat=True))
    settled |= set(failed_dialogs(chunk.run).filter(dialog__in=chunk.dialog_ids))
    dialogs = Dialog.objects.in_bulk([pk for pk in chunk.dialog_ids if pk not in settled])
    questions = []
    for pk in chunk.dialog_ids:
        if pk in dialogs:
            attempt = tries.get(pk, 0) + 1
            questions.append(Question(dialogs[pk], attempt, seed_of(generator, dialogs[pk], attempt)))
    return questions


class QuestionFeed:
    """Hands out each open question of a chunk once. It is empty when the run is paused or over, or time is up."""

    def __init__(self, chunk: GenerationChunk, now: Now, until: datetime, from_the_end: bool) -> None:
        self._run, self._now, self._until = chunk.run, now, until
        self._waiting = deque(open_questions(chunk))
        self._from_the_end = from_the_end
        self.is_cut_short = False

    def take(self, count: int = 1, shortest: bool = False) -> list[Question]:
        """Hand out the longest contexts first, or the shortest if asked to, since those are most likely answered."""
        if self._waiting and (self._now() > self._until or not goes_on(self._run)):
            self.is_cut_short = True
            self._waiting.clear()
        taken: list[Question] = []
        while self._waiting and len(taken) < count:
            is_end = shortest or self._from_the_end
            wanted = [self._waiting.pop() if is_end else self._waiting.popleft()]
            while self._waiting and len(taken) + len(wanted) < count:
                wanted.append(self._waiting.pop() if is_end else self._waiting.popleft())
            taken += self._drop_settled(wanted)
        return taken

    def stop(self) -> None:
        self._waiting.clear()

    def _drop_settled(self, questions: list[Question]) -> list[Question]:
        dialogs = [question.dialog.pk for question in questions]
        of_generator = {"generator": self._run.generator_id, "dialog__in": dialogs}
        answered = set(Candidate.objects.filter(**of_generator).values_list("dialog", flat=True))
        failures = GenerationFailure.objects.filter(**of_generator)
        failed = set(failures.values_list("dialog", "attempt"))
        return [
            question
            for question in questions
            if question.dialog.pk not in answered and (question.dialog.pk, question.attempt) not in failed
        ]


def goes_on(run: GenerationRun) -> bool:
    return GenerationRun.objects.going_on().filter(pk=run.pk).exists()
