"""Makes a study's bundle in the background: exports it, packs it into one file, puts that into place.

In: a study and a marketplace. Out: the file of kept_bundles. Guaranteed: the same bundle gives the same file; an
older file stays until the new one is complete.
"""

import tempfile
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from evalplatform.background_work import showing_life
from evalplatform.errors import in_one_line
from hits.exporting.bundles import export_bundle
from hits.exporting.kept_bundles import bundle_file, bundle_source
from hits.models import Offering, StudyBundle

FAILED = (
    "The bundle could not be made. The log of the background process has the details; tell whoever runs this server."
)
SAME_TIME = (1980, 1, 1, 0, 0, 0)  # a file's own time would make each pack another


def make_bundle(offering: Offering, now: Callable[[], datetime]) -> None:
    row = StudyBundle.objects.filter(offering=offering)
    row.note_start(now())
    source = bundle_source(offering)  # before anything is read
    try:
        with showing_life(row, now):
            _write(offering, bundle_file(offering))
    except Exception as error:
        row.update(problem=in_one_line(error) or FAILED, finished_at=now())
        if in_one_line(error) is None:
            raise
    else:
        row.update(problem="", source=source, made_at=now(), finished_at=now())


def _write(offering: Offering, file: Path) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as place:
        folder = Path(place) / f"{offering.study.name}-{offering.environment}"
        export_bundle(offering, folder)
        packed = Path(place) / "bundle.zip"
        _pack(folder, packed)
        packed.rename(file)


def _pack(folder: Path, packed: Path) -> None:
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(str(path.relative_to(folder.parent)), SAME_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
                    while piece := source.read(1 << 20):
                        target.write(piece)
