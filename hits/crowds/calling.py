"""Many calls to a crowd at once. Threads only talk to it; rows are saved in one thread."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import takewhile
from queue import Empty, SimpleQueue
from typing import TypeVar

from django.db import transaction

from hits.errors import MarketRefused, MarketUnavailable

SIGN_OF_LIFE_SECONDS = 5.0
GATHER_SECONDS = 0.1  # several outcomes are saved together: a commit for each would cost more than the calls

T = TypeVar("T")
R = TypeVar("R")


def call_in_threads(
    call: Callable[[T], R],
    items: Iterable[T],
    threads: int,
    goes_on: Callable[[], bool] = lambda: True,
    in_order: bool = False,
) -> Iterator[list[tuple[T, "Future[R]"]]]:
    """Yields outcomes as they come, several at a time, and none when nothing came for some seconds. Those that come
    together are in the order of the items: two runs that save the same rows must not wait for each other's.

    When it no longer `goes_on`, what is on its way is still waited for and yielded: it may well have happened. With
    `in_order`, an outcome waits for those of earlier items, so that what is made of them does not depend on threads.
    """
    if not goes_on():
        return
    done: SimpleQueue[Future[R]] = SimpleQueue()
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(call, one): one for one in items}
        places = {future: place for place, future in enumerate(running)}
        early: set[Future[R]] = set()
        for future in running:
            future.add_done_callback(done.put)
        try:
            while running:
                gathered = sorted(_gather(done, most=len(running) - len(early)), key=places.__getitem__)
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
    """What a run of calls has met: refusals by their words, and what has ended it before its time."""

    refused: dict[str, int] = field(default_factory=dict)
    stopped_by: MarketRefused | MarketUnavailable | None = None

    def note(self, error: MarketRefused | MarketUnavailable) -> None:
        self.refused[str(error)] = self.refused.get(str(error), 0) + 1
        if isinstance(error, MarketUnavailable) or error.is_about_account:
            self.stopped_by = error


def carry_out(
    items: Iterable[T],
    call: Callable[[T], R],
    save: Callable[[T, R], None],
    met: Met,
    threads: int,
    save_refusal: Callable[[T, MarketRefused], None] = lambda item, refused: None,
    goes_on: Callable[[], bool] = lambda: True,
) -> Iterator[int]:
    """The loop behind whatever moves money or HITs. The caller has saved each item as an intent; the calls are made in
    threads, and what came of them is saved here, those that came together in one transaction.

    A refusal of one item lets the others go on; one that is about the account, or a crowd that does not answer, ends
    the run, and the items after it stay intents for the next. Yields how many were dealt with, also when it were none
    for some seconds.
    """
    for outcomes in call_in_threads(call, items, threads, lambda: not met.stopped_by and goes_on()):
        with transaction.atomic():
            for item, outcome in outcomes:
                try:
                    value = outcome.result()
                except MarketRefused as refused:
                    met.note(refused)
                    save_refusal(item, refused)
                except MarketUnavailable as unavailable:
                    met.stopped_by = unavailable
                else:
                    save(item, value)
        yield len(outcomes)


def _gather(done: "SimpleQueue[Future[R]]", most: int) -> list["Future[R]"]:
    """What is done, and what gets done in the next moment."""
    gathered: list[Future[R]] = []
    until = time.monotonic() + SIGN_OF_LIFE_SECONDS
    with contextlib.suppress(Empty):
        while len(gathered) < most:
            gathered.append(done.get(timeout=max(0, until - time.monotonic())))
            until = min(until, time.monotonic() + GATHER_SECONDS)
    return gathered
