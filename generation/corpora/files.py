"""A file of dialogs in any of the formats, or a folder of subtitle files, as one stream of records and problems."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from evalplatform.errors import EvalPlatformError
from generation.corpora import empathetic_dialogues, jsonl, opensubtitles
from generation.corpora.lines import Problem, read_lines
from generation.corpora.records import DialogRecord

OPENSUBTITLES = "opensubtitles"
_READERS = {"jsonl": jsonl.read_dialogs, "empathetic-dialogues": empathetic_dialogues.read_dialogs}
DIALOG_FORMATS = [*_READERS, OPENSUBTITLES]


def dialog_format(path: Path, format: str | None = None) -> str:
    """The one that is named, or what the file's name says."""
    if format:
        return format
    if path.suffix.lower() in opensubtitles.SUFFIXES or path.is_dir():
        return OPENSUBTITLES
    return "empathetic-dialogues" if path.suffix.lower() == ".csv" else "jsonl"


def read_dialog_file(
    path: Path, format: str, on_bytes: Callable[[int], None] = lambda count: None
) -> Iterator[DialogRecord | Problem]:
    if format != OPENSUBTITLES:
        yield from _READERS[format](read_lines(path, on_bytes))
        return
    for file in subtitle_files(path):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        for found in opensubtitles.read_dialogs(read_lines(file, on_bytes), name):
            if isinstance(found, Problem) and path.is_dir():
                yield replace(found, reason=f"{name}: {found.reason}")
            else:
                yield found


def subtitle_files(path: Path) -> list[Path]:
    """The file itself, or those in and below a folder, in the order of their names."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in opensubtitles.SUFFIXES)
    if not files:
        raise EvalPlatformError(f"{path} has no subtitle files ({', '.join(opensubtitles.SUFFIXES)}) in it.")
    return files


def bytes_to_read(path: Path) -> int:
    """Of the file, or of a folder's subtitle files."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.suffix.lower() in opensubtitles.SUFFIXES)
