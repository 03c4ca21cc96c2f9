"""Makes a study's bundle in the background: exports it, packs it into one file, puts that into place.

In: a study and a marketplace. Out: the file of kept_bundles. Guaranteed: the same bundle gives the same file; an
older file stays until the new one is complete.
"""

import tempfile
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from evalplatform.errors import in_one_line
from hits.exporting.bundles import export_bundle
from hits.exporting.kept_bundles import bundle_file, bundle_source
from hits.models import Study, StudyBundle

FAILED = (
    "The bundle could not be made. The log of the background process has the details; tell whoever runs this server."
)
SAME_TIME = (1980, 1, 1, 0, 0, 0)  # a file's own time would make each pack another


def make_bundle(study: Study, environment: str, now: Callable[[], datetime]) -> None:
    row = StudyBundle.objects.filter(study=study, environment=environment)
    row.update(started_at=now())
    source = bundle_source(study, environment)  # before anything is read
    try:
        _write(study, environment, bundle_file(study, environment))
    except Exception as error:
        row.update(problem=in_one_line(error) or FAILED, requested_at=None, started_at=None)
        if in_one_line(error) is None:
            raise
    else:
        row.update(problem="", source=source, made_at=now(), requested_at=None, started_at=None)


def _write(study: Study, environment: str, file: Path) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as place:
        folder = Path(place) / f"{study.name}-{environment}"
        export_bundle(study, environment, folder)
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
