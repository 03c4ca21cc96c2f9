"""Computes the results and the bundle of an uploaded file in the background, and says how far it is.

In: an upload whose mapping is checked. Out: its row with results and figures, and its bundle as a zip file. Guaranteed:
a failure is said in the row and keeps the earlier results; a task that was killed can be started again, and a second
one for the same request does nothing.
"""

import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from evalplatform.background_work import at_work
from hits.analysing import Tell, make_pictures, pictures_as_json, results_as_json
from hits.elsewhere import ColumnMapping, read_elsewhere, source_of_upload, upload_bundle_file, upload_file
from hits.exporting.elsewhere_bundles import write_elsewhere_bundle
from hits.exporting.figure_files import results_of_figures
from hits.exporting.making_bundles import pack
from hits.models import RatingsUpload

READ, ANALYSED, DRAWN = 0.3, 0.85, 0.93  # how much is done after each step, about as long as they take
EVERY_SECONDS = 0.5


def compute_upload(upload_id: int, now: Callable[[], datetime]) -> None:
    rows = RatingsUpload.objects.filter(pk=upload_id)
    if not rows.exists() or not rows.note_start_unless_done(now()):
        return  # it was deleted, or another process has answered this request
    upload = rows.get()
    with at_work(rows, now, "The computation failed.") as outcome:
        mapping = ColumnMapping.model_validate(upload.mapping)
        computed = _compute(upload, mapping, _Telling(upload_id))
        outcome |= {**computed, "source": source_of_upload(upload, mapping), "computed_at": now(), "done_share": 1}
    if not rows.exists():  # it was deleted meanwhile
        upload_bundle_file(upload).unlink(missing_ok=True)


class _Telling:
    """Saves how far the work is, twice a second at most."""

    def __init__(self, upload_id: int) -> None:
        self._rows, self._last = RatingsUpload.objects.filter(pk=upload_id), -EVERY_SECONDS

    def between(self, low: float, high: float) -> Tell:
        def tell(share: float, what: str) -> None:
            if time.monotonic() - self._last >= EVERY_SECONDS:
                self._last = time.monotonic()
                self._rows.update(done_share=low + share * (high - low), doing=what[:200])

        return tell


def _compute(upload: RatingsUpload, mapping: ColumnMapping, telling: _Telling) -> dict[str, Any]:
    read = read_elsewhere(upload_file(upload), lambda look, guess: mapping, telling.between(0, READ))
    results = read.analyse(telling.between(READ, ANALYSED))
    telling.between(ANALYSED, DRAWN)(0, "drawing figures")
    pictures = make_pictures(results_of_figures(results))  # the same for the page and the bundle, so drawn once
    figures = pictures_as_json(pictures)
    telling.between(DRAWN, 1)(0, "packing the bundle")
    bundle = upload_bundle_file(upload)
    with tempfile.TemporaryDirectory(dir=bundle.parent) as temporary:
        folder = Path(temporary) / f"ratings-{upload.sha256[:12]}"
        folder.mkdir()
        write_elsewhere_bundle(folder, read, results, pictures, upload.name, upload.sha256)
        pack(folder, Path(temporary) / "bundle.zip")
        (Path(temporary) / "bundle.zip").rename(bundle)
    return {
        "results": results_as_json(results),
        "figures": figures,
        "notes": list(read.notes),
        "problems": [str(problem) for problem in read.problems],
        "unusable_count": read.unusable,
    }
