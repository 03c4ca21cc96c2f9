"""Read a file as numbered lines of UTF-8, and refuse lines above a megabyte."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_LINE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a line, or one reply in it, is not imported."""

    line: int
    reason: str
    is_conflict: bool = False


def read_lines(path: Path, on_bytes: Callable[[int], None] = lambda count: None) -> Iterator[Line | Problem]:
    """Yield every line without its line end, also blank ones. `on_bytes` is called with each number of bytes read."""
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(MAX_LINE_BYTES):
            number += 1
            on_bytes(len(raw))
            if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
                while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                    on_bytes(len(rest))
                yield Problem(number, f"the line is longer than {MAX_LINE_BYTES:,} bytes")
                continue
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            try:
                text = raw.decode().rstrip("\r\n")
            except UnicodeDecodeError as error:
                yield Problem(number, f"invalid UTF-8 at byte {error.start + 1}; save the file as UTF-8")
                continue
            yield Line(number, text)


def without_blanks(lines: Iterable[Line | Problem]) -> Iterator[Line | Problem]:
    return (line for line in lines if isinstance(line, Problem) or line.text.strip())
