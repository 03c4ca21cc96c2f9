"""Unpacks a bundle's zip file into a temporary folder, for as long as somebody reads it."""

import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalplatform.errors import EvalPlatformError
from hits.exporting.about import FILE

MOST_BYTES = 20_000_000_000  # unpacked: far more than any study has, and far less than a crafted file could claim


@contextmanager
def unpack_bundle(path: Path) -> Iterator[Path]:
    """Yield a bundle's folder: the path itself if it is a folder, otherwise the unpacked zip file."""
    if not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        _unpack(path, Path(folder))
        found = [file.parent for file in [Path(folder) / FILE, *Path(folder).glob(f"*/{FILE}")] if file.is_file()]
        if len(found) != 1:
            raise EvalPlatformError(f"{path} is no bundle: it must have exactly one {FILE}.")
        yield found[0]


def _unpack(file: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
                raise EvalPlatformError(f"{file} would unpack to more than {MOST_BYTES:,} bytes: it is no bundle.")
            archive.extractall(folder)  # never writes outside of the folder, whatever the entries' names say
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError) as error:
        raise EvalPlatformError(
            f"{file} can't be unpacked: {error}. Name a bundle's folder or its zip file."
        ) from error
