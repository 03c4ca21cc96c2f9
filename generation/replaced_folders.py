"""Replace a folder as a whole, and read a folder that may be replaced meanwhile.

In: a folder to write, or one to read. Out: the folder, and what was read. Guaranteed: a folder is complete or absent,
even if a process dies; what is read comes from one folder, never from a former and a new one. What processes that died
were writing is removed by the next that writes there.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from generation.errors import CheckpointRefused

MOST_READINGS = 20

Found = TypeVar("Found")


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside the old one, to be filled. It takes the old one's place unless an error is raised."""
    folder = _with_name(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    finish_replacing(folder)
    begin = f".{folder.name}.new."
    with write_beside(folder.parent, begin, lambda: Path(tempfile.mkdtemp(prefix=begin, dir=folder.parent))) as new:
        new.chmod(0o755)
        yield new
        with _nobody_else_renames_in(folder.parent):
            former = _former_folder(folder)
            shutil.rmtree(former, ignore_errors=True)
            if folder.exists():
                folder.rename(former)
            new.rename(folder)
        shutil.rmtree(former, ignore_errors=True)


@contextmanager
def write_beside(parent: Path, begin: str, make: Callable[[], Path]) -> Iterator[Path]:
    """Make a file or folder whose name begins so, and yield it; remove it unless it was renamed meanwhile. Those that
    processes which died have left there are removed."""
    with _nobody_else_renames_in(parent):
        _remove_abandoned(path for path in parent.iterdir() if path.name.startswith(begin))
        new = make()
        lock = os.open(new, os.O_RDONLY)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield new
    finally:
        _remove(new)
        os.close(lock)


def _remove_abandoned(paths: Iterable[Path]) -> None:
    """Remove what nobody holds a lock on. Where a file system has no locks, everything stays."""
    for path in paths:
        with suppress(OSError):
            opened = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(path)
            finally:
                os.close(opened)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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
    folder = _with_name(folder)
    return folder.parent / f".{folder.name}.former"


def _with_name(folder: Path) -> Path:
    """Return the path from the root: "." and ".." have no name beside which another one could stand."""
    return Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would leave the place of a symbolic link


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
