"""Replace a folder as a whole, and read a folder that may be replaced meanwhile.

In: a folder to write, or one to read. Out: the folder, and what was read. Guaranteed: a folder is complete or absent,
even if a process dies; what is read comes from one folder, never from a former and a new one.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from generation.errors import CheckpointRefused

MOST_READINGS = 20

Found = TypeVar("Found")


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside the old one, to be filled. It takes the old one's place unless an error is raised."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    finish_replacing(folder)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new.", dir=folder.parent))
    try:
        new.chmod(0o755)
        yield new
        with _nobody_else_renames_in(folder.parent):
            former = _former_folder(folder)
            shutil.rmtree(former, ignore_errors=True)
            if folder.exists():
                folder.rename(former)
            new.rename(folder)
        shutil.rmtree(former, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def finish_replacing(folder: Path) -> None:
    """Put the former folder back, if a process died between the two renames."""
    former = _former_folder(folder)
    if former.is_dir() and not folder.exists():
        # A process that is alive holds the lock between its renames; once we have it, look again.
        with _nobody_else_renames_in(folder.parent):
            if former.is_dir() and not folder.exists():
                former.rename(folder)


def read_steadily(folder: Path, read: Callable[[], Found]) -> Found:
    """Return what `read` makes of the folder. If the folder was replaced meanwhile, forget that and read it again."""
    for _ in range(MOST_READINGS):
        finish_replacing(folder)
        before = _stamp(folder)
        try:
            found = read()
        except (CheckpointRefused, OSError):
            if _stamp(folder) == before:
                raise
        else:
            if _stamp(folder) == before:
                return found
    raise CheckpointRefused(f"{folder} was replaced {MOST_READINGS} times while it was read; try again later.")


def _former_folder(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.former")


@contextmanager
def _nobody_else_renames_in(parent: Path) -> Iterator[None]:
    """Hold a lock that ends with this process. Some network file systems lock no folders; there, we go on without."""
    opened = os.open(parent, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _stamp(folder: Path) -> Any:
    """Return what changes when the folder or a file in it is replaced. None: there is no folder, or it just left."""
    try:
        if not folder.is_dir():
            return None
        return [(str(path), *_identify(path)) for path in (folder, *sorted(folder.rglob("*")))]
    except OSError:
        return None


def _identify(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
