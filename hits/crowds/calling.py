"""Makes many calls to a crowd at once, saves what came of each, and ends the run if the account is refused.

Threads only talk to the crowd; one thread saves all rows. What a run has met, `Met` tells in the same words everywhere.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from queue import Empty, SimpleQueue
from typing import TypeVar

from django.db import transaction

from evalplatform.wording import count_of
from hits.errors import MarketRefused, MarketUnavailable

SIGN_OF_LIFE_SECONDS = 5.0
GATHER_SECONDS = 0.1  # outcomes are saved in groups, since a commit for each would cost more than the call

T = TypeVar("T")
R = TypeVar("R")

IN_THIS_THREAD = 0  # instead of a number of threads, where a call reads or writes our own rows


def call_in_threads(
    call: Callable[[T], R],
    items: Iterable[T],
    threads: int,
    goes_on: Callable[[], bool] = lambda: True,
    in_order: bool = False,
) -> Iterator[list[tuple[T, "Future[R]"]]]:
    """Call every item in threads, and yield outcomes as they arrive, several at a time.

    If nothing arrives for some seconds, it yields an empty list, as a sign of life. Outcomes that are yielded together
    are in the order of the items, so that two runs that save the same rows lock them in the same order and never block
    each other for good.

    Once `goes_on` returns False, calls that are already under way are still awaited and yielded, because they may well
    have succeeded. With `in_order`, an outcome waits for those of all earlier items, so that the result does not depend
    on how threads happen to run.
    """
    if not goes_on():
        return
    done: SimpleQueue[Future[R]] = SimpleQueue()
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(call, one): one for one in items}
        indexes = {future: index for index, future in enumerate(running)}
        early: set[Future[R]] = set()
        for future in running:
            future.add_done_callback(done.put)
        try:
            while running:
                gathered = sorted(_gather(done, most=len(running) - len(early)), key=indexes.__getitem__)
                if in_order:
                    early.update(gathered)
                    gathered = list(takewhile(early.__contains__, running))
                    early.difference_update(gathered)
                yield [(running.pop(future), future) for future in gathered if future in running]
                if not goes_on():
                    running = {future: one for future, one in running.items() if not future.cancel()}
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(kw_only=True)
class Met:
    """The trouble that a run of calls has met: refusals by their text, and the error that ended it early, if any.

    Every result of a run that moves money or HITs is one, so that pages, commands and tasks tell it alike.
    """

    refused: dict[str, int] = field(default_factory=dict)
    stopped_by: MarketRefused | MarketUnavailable | None = None

    def note(self, error: MarketRefused | MarketUnavailable) -> None:
        if isinstance(error, MarketRefused):
            self.refused[str(error)] = self.refused.get(str(error), 0) + 1
        if isinstance(error, MarketUnavailable) or error.is_about_account:
            self.stopped_by = error

    def note_all_of(self, other: "Met") -> None:
        """Note what a part of this run has met."""
        for reason, count in other.refused.items():
            self.refused[reason] = self.refused.get(reason, 0) + count
        self.stopped_by = self.stopped_by or other.stopped_by

    @property
    def refusals(self) -> list[str]:
        """What was refused and how often, other than what ended the run."""
        counts = self.refused.items()
        return [f"{count_of(count, 'time')}: {reason}" for reason, count in counts if reason != str(self.stopped_by)]

    @property
    def early_end(self) -> str:
        """Why the run ended early, and how to go on; "" if it did not."""
        if self.stopped_by is None:
            return ""
        return f"It ended early: {str(self.stopped_by).rstrip('.')}. Doing it again goes on from there."

    @property
    def troubles(self) -> list[str]:
        """All of it, one line each."""
        return [*self.refusals, *([self.early_end] if self.early_end else [])]


def carry_out(
    items: Iterable[T],
    call: Callable[[T], R],
    save: Callable[[T, R], None],
    met: Met,
    threads: int,
    save_refusal: Callable[[T, MarketRefused], None] = lambda item, refused: None,
    goes_on: Callable[[], bool] = lambda: True,
) -> Iterator[int]:
    """Make the calls for items that the caller has saved as intents, and save each outcome. Whatever moves money or
    HITs uses this loop.

    The calls run in threads, or one by one IN_THIS_THREAD; outcomes that arrive together are saved in one transaction.
    A refusal of one item lets the others go on. One that concerns the account, or a crowd that does not answer, ends
    the run, and the remaining items stay intents for the next run. Yields how many items were dealt with, which may be
    none for some seconds.
    """
    run = _call_one_by_one if threads == IN_THIS_THREAD else partial(call_in_threads, threads=threads)
    for outcomes in run(call, items, goes_on=lambda: not met.stopped_by and goes_on()):
        with transaction.atomic():
            for item, outcome in outcomes:
                try:
                    value = outcome.result()
                except MarketRefused as refused:
                    met.note(refused)
                    save_refusal(item, refused)
                except MarketUnavailable as unavailable:
                    met.note(unavailable)
                else:
                    save(item, value)
        yield len(outcomes)


def _call_one_by_one(
    call: Callable[[T], R], items: Iterable[T], goes_on: Callable[[], bool]
) -> Iterator[list[tuple[T, "Future[R]"]]]:
    for item in items:
        if not goes_on():
            return
        outcome: Future[R] = Future()
        try:
            outcome.set_result(call(item))
        except (MarketRefused, MarketUnavailable) as error:
            outcome.set_exception(error)
        yield [(item, outcome)]


def _gather(done: "SimpleQueue[Future[R]]", most: int) -> list["Future[R]"]:
    """Return the calls that are finished, and those that finish within the next moment."""
    gathered: list[Future[R]] = []
    until = time.monotonic() + SIGN_OF_LIFE_SECONDS
    with contextlib.suppress(Empty):
        while len(gathered) < most:
            gathered.append(done.get(timeout=max(0, until - time.monotonic())))
            until = min(until, time.monotonic() + GATHER_SECONDS)
    return gathered
