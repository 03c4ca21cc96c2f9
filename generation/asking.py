"""Ask a generator for replies, and decide whether the dialog or the server is at fault if none comes.

In: a loaded generator and a feed of questions. Out: replies that can be saved, and failures with their reason, as they
arrive. Guaranteed: an error belongs to the dialog that caused it; if a server answers no dialog at all,
GeneratorUnavailable is raised and no dialog is blamed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import structlog

from evalplatform.errors import EvalPlatformError
from generation.contexts import Answer, Context, Reply
from generation.corpora.import_records import BadRecord, checked_text, storable
from generation.devices import is_out_of_memory
from generation.errors import GeneratorUnavailable
from generation.loading import LoadedGenerator
from generation.models import Dialog, GenerationChunk
from generation.open_questions import Question, QuestionFeed
from generation.thoughts import NOTHING_BUT_THOUGHTS, split_thoughts

log = structlog.get_logger("generation.asking")

# So many dialogs in a row, beside those that were asked at the same time, must stay unanswered before we say that the
# server is down.
MOST_UNANSWERED = 3

Answered = list[tuple[Question, Reply]]


def ask(chunk: GenerationChunk, loaded: LoadedGenerator, feed: QuestionFeed) -> Iterator[Answered]:
    """Yield what can be saved as it arrives, and now and then an empty list while a slow server is working."""
    doubt = _Doubt(loaded.batch_size + MOST_UNANSWERED)
    answers = _ask_one_by_one if hasattr(loaded.kind, "answer_each") else _ask_in_batches
    for asked in answers(loaded, feed, doubt):
        yield [settled for one in asked for settled in doubt.settle(one)]
        if doubt.is_over:
            feed.stop()
    if doubt.faults:
        # No dialog is left that could show whether the server is up. A dialog that failed before, while others were
        # answered, is taken to be at fault again.
        dialogs = [question.dialog for question, _ in doubt.faults]
        failed_before = set(chunk.run.failures.filter(dialog__in=dialogs).values_list("dialog", flat=True))
        unexplained = [fault for question, fault in doubt.faults if question.dialog.pk not in failed_before]
        if unexplained:
            raise unexplained[-1]
        yield [(question, _make_failure(fault)) for question, fault in doubt.faults]


@dataclass(frozen=True)
class _Asked:
    question: Question
    answer: Answer
    answers_before: int  # how many others were answered when it was asked


class _Doubt:
    """Decides whether an unanswered dialog is at fault or the server is down. A dialog is at fault if another one was
    answered after it had been asked."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.answer_count = 0
        self.faults: list[tuple[Question, GeneratorUnavailable]] = []  # since the last answer

    @property
    def is_over(self) -> bool:
        """Return whether so many dialogs in a row failed that some of them must have been asked after the first
        failure."""
        return len(self.faults) >= self.most

    def settle(self, asked: _Asked) -> Answered:
        """Return what can be saved now."""
        if not isinstance(asked.answer, GeneratorUnavailable):
            self.answer_count += 1
            blamed, self.faults = self.faults, []
            return [
                (asked.question, _make_reply(asked.answer)),
                *((one, _make_failure(fault)) for one, fault in blamed),
            ]
        if self.answer_count > asked.answers_before:
            return [(asked.question, _make_failure(asked.answer))]
        self.faults.append((asked.question, asked.answer))
        return []


def _ask_one_by_one(loaded: LoadedGenerator, feed: QuestionFeed, doubt: _Doubt) -> Iterator[list[_Asked]]:
    asked: list[tuple[Question, int]] = []

    def questions() -> Iterator[tuple[Context, int]]:
        # Long contexts come first, and the server may fail because they are too long. So once it has failed, ask the
        # shortest ones.
        while taken := feed.take(shortest=bool(doubt.faults)):
            asked.append((taken[0], doubt.answer_count))
            yield _make_context(taken[0].dialog, loaded), taken[0].seed

    answered: set[int] = set()
    for found in loaded.answer_each(questions()):
        if found is None:
            yield []
            continue
        number, answer = found
        answered.add(number)
        yield [_Asked(asked[number][0], answer, asked[number][1])]
    # A kind that forgets a question has a bug. Record a failure, or the dialog would be asked again for ever.
    forgotten = [question for number, (question, _) in enumerate(asked) if number not in answered]
    yield [_Asked(question, ValueError("its kind of generator gave no answer"), 0) for question in forgotten]


def _ask_in_batches(loaded: LoadedGenerator, feed: QuestionFeed, doubt: _Doubt) -> Iterator[list[_Asked]]:
    while batch := feed.take(loaded.batch_size, shortest=bool(doubt.faults)):
        yield from _answer_batch(loaded, batch, doubt)


def _answer_batch(loaded: LoadedGenerator, batch: list[Question], doubt: _Doubt) -> Iterator[list[_Asked]]:
    """Halve the batch if memory runs out. After any other error, ask one by one to find the dialog that causes it."""
    while batch and not doubt.is_over:
        part, rest = batch[: loaded.batch_size], batch[loaded.batch_size :]
        answers: Sequence[Answer] = []
        before = doubt.answer_count
        try:
            answers = loaded.answer([_make_context(one.dialog, loaded) for one in part], [one.seed for one in part])
        except Exception as error:
            if isinstance(error, EvalPlatformError) and not isinstance(error, GeneratorUnavailable):
                raise
            if is_out_of_memory(error) and loaded.halve():
                log.warning("out_of_memory", batch_size=loaded.batch_size)
                continue
            log.warning("no_answer", dialogs=[question.dialog.external_id for question in part], exc_info=True)
            answers = [error] if len(part) == 1 else []
        if answers:
            yield [_Asked(one, answer, before) for one, answer in zip(part, answers, strict=True)]
        else:
            for one in reversed(part):  # the shortest first: it is the likeliest to be answered
                yield from _answer_batch(loaded, [one], doubt)
        batch = rest


def _make_reply(answer: Answer) -> Reply:
    """Turn an answer into a reply that the database can store, whatever its kind got from a library or a server."""
    if not isinstance(answer, Reply):
        return _make_failure(answer)
    texts = (answer.text, answer.label, answer.failure, answer.thoughts)
    text, label, failure, thoughts = map(storable, texts)
    return _check_reply(replace(answer, text=text, label=label, failure=failure, thoughts=thoughts))


def _make_context(dialog: Dialog, loaded: LoadedGenerator) -> Context:
    return Context(
        turns=tuple(dialog.turns),
        turn_labels=tuple(dialog.turn_labels),
        gold=dialog.gold,
        forced_label=loaded.forced_label,
    )


def _check_reply(reply: Reply) -> Reply:
    """Separate the reply from its thoughts, and turn a reply that can't be shown to a worker into a failure."""
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
    if "\ufffd" in text:  # decoders write this character for bytes that are not valid text
        return replace(reply, text="", failure="not text: it has bytes that are no characters")
    return replace(reply, text=text, thoughts=thoughts)


def _make_failure(error: Exception) -> Reply:
    if isinstance(error, EvalPlatformError):
        return Reply("", failure=storable(str(error)))
    if is_out_of_memory(error):
        return Reply("", failure="it does not fit into memory, not even alone")
    return Reply("", failure=storable(" ".join(f"{type(error).__name__}: {error}".split())))
