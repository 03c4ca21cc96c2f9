"""Makes a study's bundle in the background, as one zip file that the results page offers.

In: an offering, or a pool of several. Out: the file that stored_bundles names. Guaranteed: the same bundle gives the
same file; an older file stays until the new one is complete.
"""

import tempfile
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from evalplatform.background_work import at_work
from hits.exporting.bundles import export_bundle
from hits.exporting.stored_bundles import bundle_file, bundle_source
from hits.models import Scope, StudyBundle, of_scope

SAME_TIME = (1980, 1, 1, 0, 0, 0)  # with the files' own times, the same bundle would give different zip files


def make_bundle(scope: Scope, now: Callable[[], datetime]) -> None:
    """Make the bundle that was requested; do nothing if another process has made it already."""
    row = StudyBundle.objects.filter(**of_scope(scope))
    if not row.note_start_unless_done(now()):
        return
    with at_work(row, now, "The bundle could not be made.") as outcome:
        source = bundle_source(scope)  # before we read any ratings, so that later ones make the bundle stale
        _write_zip(scope, bundle_file(scope), row.filter(is_with_texts=True).exists())
        outcome |= {"source": source, "made_at": now()}


def _write_zip(scope: Scope, file: Path, has_texts: bool) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as temporary:
        folder = Path(temporary) / f"{scope.study.name}-{scope.marketplace}"
        export_bundle(scope, folder, has_texts=has_texts)
        packed = Path(temporary) / "bundle.zip"
        pack(folder, packed)
        packed.rename(file)


def pack(folder: Path, packed: Path) -> None:
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(str(path.relative_to(folder.parent)), SAME_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
                    while piece := source.read(1 << 20):
                        target.write(piece)
