"""Make ids that look like Prolific's: 24 hexadecimal digits. They are random, unless a test seeds them."""

import contextlib
import random
from collections.abc import Iterator
from contextvars import ContextVar

_source: ContextVar[random.Random | None] = ContextVar("localprolific_ids", default=None)
_system = random.SystemRandom()


def new_id() -> str:
    return f"{(_source.get() or _system).getrandbits(96):024x}"


@contextlib.contextmanager
def seeded_ids(seed: int) -> Iterator[None]:
    reset = _source.set(random.Random(seed))  # noqa: S311  # repeatable on purpose
    try:
        yield
    finally:
        _source.reset(reset)
