"""List the import formats, and choose the one for a file. CONTRIBUTING.md says how to add one.

If a command names no format, the first one that fits the file's name is taken.
"""

from collections.abc import Iterator
from pathlib import Path

from evalplatform.errors import EvalPlatformError
from generation.corpora import candidates_csv, empathetic_dialogues, jsonl, opensubtitles
from generation.corpora.file_format import FileFormat, OnBytes
from generation.corpora.import_records import CandidateRecord, DialogRecord
from generation.corpora.lines import Problem
from generation.corpora.subtitle_files import is_subtitles
from generation.corpora.turn_model import TurnModel

FORMATS: list[FileFormat] = [
    opensubtitles.FORMAT,
    empathetic_dialogues.FORMAT,
    candidates_csv.FORMAT,
    jsonl.FORMAT,
]


def dialog_formats() -> dict[str, FileFormat]:
    return {one.name: one for one in FORMATS if one.read_dialogs}


def candidate_formats() -> dict[str, FileFormat]:
    return {one.name: one for one in FORMATS if one.read_candidates}


def describe_formats(formats: dict[str, FileFormat]) -> str:
    """Return one line for each format, for --help."""
    return "\n".join(f"    {name}: {one.about}" for name, one in formats.items())


def dialog_format(path: Path, name: str | None = None) -> str:
    """Return the name of the format: the one that is given, or the one that fits the file's name."""
    formats = dialog_formats()
    found = name or _guess_format(path, formats)
    if found is None:
        read = "; ".join(one.about for one in formats.values())
        raise EvalPlatformError(
            f"The name of {path.name} does not tell its format. Dialogs are read from {read}. If it is one of these, "
            "name it with --format."
        )
    return found


def read_dialog_file(
    path: Path, format: str, on_bytes: OnBytes = lambda count: None, turns: TurnModel | None = None
) -> Iterator[DialogRecord | Problem]:
    """Read dialogs. `turns` tells where turns end, in a format that does not say who speaks."""
    read, read_by_turns = dialog_formats()[format].read_dialogs, dialog_formats()[format].read_by_turns
    if turns is not None and read_by_turns is None:
        raise EvalPlatformError(f"A file of the format {format} says where its turns end; leave --turns out.")
    if turns is not None and read_by_turns is not None:
        return read_by_turns(path, on_bytes, turns)
    return read(path, on_bytes) if read else iter(())


def read_candidate_file(
    path: Path, format: str | None, on_bytes: OnBytes = lambda count: None
) -> Iterator[CandidateRecord | Problem]:
    formats = candidate_formats()
    read = formats[format or _guess_format(path, formats) or jsonl.FORMAT.name].read_candidates
    return read(path, on_bytes) if read else iter(())


def bytes_to_read(path: Path) -> int:
    """Return the size of the file, or of all subtitle files in a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if is_subtitles(file) and file.is_file())


def _guess_format(path: Path, formats: dict[str, FileFormat]) -> str | None:
    return next((name for name, one in formats.items() if one.fits(path)), None)
