"""Make ids that look like MTurk's. They are random, unless a test seeds them."""

import contextlib
import random
import string
from collections.abc import Iterator
from contextvars import ContextVar

ALPHABET = string.ascii_uppercase + string.digits

_source: ContextVar[random.Random | None] = ContextVar("localturk_ids", default=None)
_system = random.SystemRandom()


def new_id(length: int = 30) -> str:
    """Return a new id. MTurk's ids of HITs, HIT types, assignments and qualification types begin with a 3."""
    source = _source.get() or _system
    return "3" + "".join(source.choices(ALPHABET, k=length - 1))


@contextlib.contextmanager
def seeded_ids(seed: int) -> Iterator[None]:
    reset = _source.set(random.Random(seed))  # noqa: S311  # repeatable on purpose
    try:
        yield
    finally:
        _source.reset(reset)
