"""Find and open subtitle files: all in a folder or zip archive, or a single one, also gzipped.

A file that is packed in a format we can't read is reported, never silently left out.
"""

import errno
import gzip
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from evalplatform.errors import EvalPlatformError
from generation.corpora.import_records import BadRecord
from generation.corpora.lines import Line, Problem
from generation.corpora.subtitle_text import read_text_lines

SUFFIXES = (".srt", ".xml")
PACKED_SUFFIXES = tuple(f"{suffix}.gz" for suffix in SUFFIXES)
ARCHIVES = (".zip",)
NOT_READ = (".tar", ".tar.gz", ".tgz", ".rar", ".7z", ".bz2", ".xz", ".zst", ".gz")
UNPACK = "unpack it, and name the folder"
MOST_BYTES = 20_000_000  # of one file, unpacked; a film's subtitles have a 200th of it

# zipfile, gzip and the modules that they use raise any of these for a damaged file; a broken offset is a ValueError.
_DAMAGED = (BadZipFile, EOFError, zlib.error, lzma.LZMAError, RuntimeError, ValueError, OSError, struct.error)


@dataclass(frozen=True)
class SubtitleFile:
    name: str  # without .gz, so that a film has the same name, and so the same ids, packed or not
    size: int  # on the disk or in the archive, as packed
    open: Callable[[], "IO[bytes] | gzip.GzipFile"]

    def lines(self) -> Iterator[Line | Problem]:
        try:
            yield from read_text_lines(self._unpacked())
        except BadRecord as bad:
            yield Problem(1, str(bad))

    def _unpacked(self) -> bytes:
        try:
            with self.open() as file:
                data = file.read(MOST_BYTES + 1)
        except _DAMAGED as error:
            # A disk error has a number. An error of bz2 has none, and an offset before the beginning gives EINVAL.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            raise BadRecord(f"it can't be unpacked: {str(error) or 'it is damaged'}") from None
        if len(data) > MOST_BYTES:
            raise BadRecord(f"it has more than {MOST_BYTES:,} bytes, too many for a film's subtitles")
        return data


def is_subtitles(path: Path) -> bool:
    return path.is_dir() or path.name.lower().endswith((*SUFFIXES, *PACKED_SUFFIXES, *ARCHIVES))


def subtitle_files(path: Path) -> Iterator[SubtitleFile | Problem]:
    """Yield the subtitle files by name, or raise EvalPlatformError if there is none."""
    if not path.is_dir():
        if _is_unreadable(path.name):
            raise EvalPlatformError(f"{path} is packed in a format that can't be read here: {UNPACK}.")
        yield from _open_path(path, "" if _is_archive(path.name) else path.name)
        return
    found = False
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        name = file.relative_to(path).as_posix()
        if _is_subtitle_file(name) or _is_archive(name):
            found = True
            yield from _open_path(file, name)
        elif _is_unreadable(name):
            found = True
            yield Problem(1, f"{name}: it is packed in a format that can't be read here; {UNPACK}")
    if not found:
        wanted = ", ".join((*SUFFIXES, *PACKED_SUFFIXES, *ARCHIVES))
        raise EvalPlatformError(f"{path} has no subtitle files ({wanted}) in it.")


def _open_path(path: Path, name: str) -> Iterator[SubtitleFile | Problem]:
    if _is_archive(path.name):
        yield from _list_members(path, f"{name}/" if name else "")
    elif name.lower().endswith(".gz"):
        yield SubtitleFile(_without_gz(name), path.stat().st_size, partial(gzip.open, path))
    else:
        yield SubtitleFile(name, path.stat().st_size, lambda: path.open("rb"))


def _list_members(path: Path, prefix: str) -> Iterator[SubtitleFile | Problem]:
    try:
        archive = ZipFile(path)
    except (BadZipFile, NotImplementedError, ValueError):
        raise EvalPlatformError(f"{path} is not a zip archive, or is damaged; fetch it again.") from None
    with archive:
        members = sorted((info for info in archive.infolist() if not info.is_dir()), key=lambda info: info.filename)
        found = False
        for info in members:
            if _is_subtitle_file(info.filename):
                found = True
                name = f"{prefix}{info.filename}"
                yield SubtitleFile(_without_gz(name), info.compress_size, partial(_open_member, archive, info))
            elif _is_unreadable(info.filename) or _is_archive(info.filename):
                found = True
                yield Problem(1, f"{prefix}{info.filename}: it is packed within {path.name}; {UNPACK}")
        if not found:
            raise EvalPlatformError(f"{path} has no subtitle files ({', '.join(SUFFIXES)}) in it.")


def _open_member(archive: ZipFile, info: ZipInfo) -> "IO[bytes] | gzip.GzipFile":
    if info.flag_bits & 1:
        raise BadRecord(f"it is packed with a password; {UNPACK}")
    file = archive.open(info)
    return gzip.open(file) if info.filename.lower().endswith(".gz") else file


def _without_gz(name: str) -> str:
    return name[: -len(".gz")] if name.lower().endswith(".gz") else name


def _is_subtitle_file(name: str) -> bool:
    return name.lower().endswith((*SUFFIXES, *PACKED_SUFFIXES))


def _is_archive(name: str) -> bool:
    return name.lower().endswith(ARCHIVES)


def _is_unreadable(name: str) -> bool:
    return name.lower().endswith(NOT_READ) and not _is_subtitle_file(name)
