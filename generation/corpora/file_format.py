"""Define what an import format is, and refuse files that are packed, in UTF-16, or have old Mac line ends.

Each format has a file of its own and a line in FORMATS (corpora/formats.py).
"""

import codecs
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from evalplatform.errors import EvalPlatformError
from generation.corpora.import_records import CandidateRecord, DialogRecord
from generation.corpora.lines import Line, Problem, read_lines
from generation.corpora.subtitle_text import SAMPLE_BYTES, wide_encoding
from generation.corpora.turn_model import TurnModel

PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")  # gzip, zip, bzip2, xz, zstd

Record = TypeVar("Record")
OnBytes = Callable[[int], None]  # is called with the number of bytes that were read since the last call


@dataclass(frozen=True)
class FileFormat:
    """`read_dialogs` and `read_candidates` yield records, and problems with their line. One of them may be missing."""

    name: str  # the value of the option --format
    about: str  # for --help
    suffixes: tuple[str, ...] = ()  # a file with one of these is read in this format; the first is the usual one
    read_dialogs: Callable[[Path, OnBytes], Iterator[DialogRecord | Problem]] | None = None
    read_by_turns: Callable[[Path, OnBytes, TurnModel], Iterator[DialogRecord | Problem]] | None = None
    """Reads dialogs of a file that does not say who speaks, with a model that tells where a turn ends."""
    read_candidates: Callable[[Path, OnBytes], Iterator[CandidateRecord | Problem]] | None = None
    is_assumed_for: Callable[[Path], bool] = lambda path: False  # where suffixes are not enough

    def fits(self, path: Path) -> bool:
        return path.suffix.lower() in self.suffixes or self.is_assumed_for(path)


def by_lines(
    read: Callable[[Iterable[Line | Problem]], Iterator[Record | Problem]],
) -> Callable[[Path, OnBytes], Iterator[Record | Problem]]:
    """Turn a reader of numbered lines into a reader of files."""

    def read_file(path: Path, on_bytes: OnBytes) -> Iterator[Record | Problem]:
        _refuse_other_files(path)
        yield from read(read_lines(path, on_bytes))

    return read_file


def _refuse_other_files(path: Path) -> None:
    """Refuse a file at once whose every line would be refused with a reason that helps nobody."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(SAMPLE_BYTES)
    if start.startswith(PACKED):
        raise EvalPlatformError(f"{path} is packed; unpack it first.")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or wide_encoding(start):
        raise EvalPlatformError(f"{path} is in UTF-16; save it as UTF-8.")
    if b"\r" in start and b"\n" not in start:
        raise EvalPlatformError(f"{path} ends its lines as old Macs did (CR alone); save it with LF or CR LF.")
