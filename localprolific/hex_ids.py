"""Make ids that look like Prolific's: 24 hexadecimal digits, as far as anybody knows. A test can seed them."""

import contextlib
import random
import string
from collections.abc import Iterator
from contextvars import ContextVar

from localprolific.behaviour import behaviour

_source: ContextVar[random.Random | None] = ContextVar("localprolific_ids", default=None)
_system = random.SystemRandom()


LETTERS = string.ascii_letters + string.digits


def new_id() -> str:
    source = _source.get() or _system
    if behaviour().are_ids_hex:
        return f"{source.getrandbits(96):024x}"
    return "".join(source.choice(LETTERS) for _ in range(22))


@contextlib.contextmanager
def seeded_ids(seed: int) -> Iterator[None]:
    reset = _source.set(random.Random(seed))  # noqa: S311  # repeatable on purpose
    try:
        yield
    finally:
        _source.reset(reset)
