"""A file of dialogs in any of the formats, or a folder or archive of subtitle files, as one stream of records and
problems."""

import codecs
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from evalplatform.errors import EvalPlatformError
from generation.corpora import empathetic_dialogues, jsonl, opensubtitles
from generation.corpora.lines import Problem, read_lines
from generation.corpora.records import DialogRecord
from generation.corpora.subtitle_files import ARCHIVES, is_subtitles, subtitle_files
from generation.corpora.subtitle_text import SAMPLE_BYTES, wide_encoding

OPENSUBTITLES = "opensubtitles"
_READERS = {"jsonl": jsonl.read_dialogs, "empathetic-dialogues": empathetic_dialogues.read_dialogs}
DIALOG_FORMATS = [*_READERS, OPENSUBTITLES]
JSONL_SUFFIXES = ("", ".jsonl", ".json", ".ndjson", ".txt", ".gz")  # .gz: to be told that it is packed
PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")  # gzip, zip, bzip2, xz, zstd


def dialog_format(path: Path, format: str | None = None) -> str:
    """The one that is named, or what the file's name says. EvalPlatformError if it says nothing."""
    if format:
        return format
    if is_subtitles(path):
        return OPENSUBTITLES
    suffix = path.suffix.lower()
    if suffix != ".csv" and suffix not in JSONL_SUFFIXES:
        raise EvalPlatformError(
            f"{path.name} does not say what it is: dialogs are read from .jsonl, from the .csv of EmpatheticDialogues, "
            f"and from subtitles in .srt, .xml, .srt.gz, .xml.gz or .zip. If it is one of these, name it with --format."
        )
    return "empathetic-dialogues" if suffix == ".csv" else "jsonl"


def read_dialog_file(
    path: Path, format: str, on_bytes: Callable[[int], None] = lambda count: None
) -> Iterator[DialogRecord | Problem]:
    if format != OPENSUBTITLES:
        refuse_other_files(path)
        yield from _READERS[format](read_lines(path, on_bytes))
        return
    is_one = path.is_file() and path.suffix.lower() not in ARCHIVES
    for file in subtitle_files(path):
        if isinstance(file, Problem):
            yield file
            continue
        on_bytes(file.size)
        for found in opensubtitles.read_dialogs(file.lines(), file.name):
            if isinstance(found, Problem) and not is_one:
                yield replace(found, reason=f"{file.name}: {found.reason}")
            else:
                yield found


def bytes_to_read(path: Path) -> int:
    """Of the file, or of a folder's files."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if is_subtitles(file) and file.is_file())


def refuse_other_files(path: Path) -> None:
    """Those of which every line would be refused for a reason that helps nobody."""
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
