"""A bundle as the pages hand it out, a zip file of one folder: unpacked for as long as it is looked at."""

import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalplatform.errors import EvalPlatformError
from hits.exporting.about import FILE

MOST_BYTES = 20_000_000_000  # unpacked: far beyond any study's, and not what a crafted file could claim


@contextmanager
def unpacked(place: Path) -> Iterator[Path]:
    """A folder stays what it is."""
    if not place.is_file():
        yield place
        return
    with tempfile.TemporaryDirectory() as folder:
        _unpack(place, Path(folder))
        found = [file.parent for file in [Path(folder) / FILE, *Path(folder).glob(f"*/{FILE}")] if file.is_file()]
        if len(found) != 1:
            raise EvalPlatformError(f"{place} is no bundle: there is not one {FILE} in it.")
        yield found[0]


def _unpack(file: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
                raise EvalPlatformError(f"{file} would unpack to more than {MOST_BYTES:,} bytes: it is no bundle.")
            archive.extractall(folder)  # which keeps to the folder, whatever the entries' names say
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError) as error:
        raise EvalPlatformError(
            f"{file} can't be unpacked: {error}. Name a bundle's folder or its zip file."
        ) from error
