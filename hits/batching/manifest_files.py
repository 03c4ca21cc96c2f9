"""Manifests of large studies as files in var/: written once by a background process, handed out from there.

In: a frozen study. Out: its manifest's file. Guaranteed: the file is whole, and its hash is the one that the study was
frozen with; if the database holds something else by now, there is no file, and that is said.
"""

import hashlib
import tempfile
from pathlib import Path

from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.batching.manifest import manifest_lines
from hits.models import Study

MOST_DIALOGS_AT_ONCE = 3_000  # of which a web process makes the lines itself, in a second


def is_large(study: Study) -> bool:
    return int((study.manifest or {}).get("dialogs", 0)) > MOST_DIALOGS_AT_ONCE


def manifest_file(study: Study) -> Path:
    return Path(settings.VAR_DIR) / "manifests" / f"{study.key}.jsonl"


def write_manifest(study: Study) -> None:
    file = manifest_file(study)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=file.parent) as place:
        draft = Path(place) / "manifest.jsonl"
        with draft.open("wb") as lines:
            for line in manifest_lines(study):
                digest.update(line)
                lines.write(line)
        if digest.hexdigest() != study.manifest_hash:
            raise EvalPlatformError(
                f"The database does not hold what {study} was frozen with any more: its manifest would have the hash "
                f"{digest.hexdigest()[:12]}…. Someone has changed dialogs, replies or HITs; restore a backup."
            )
        draft.replace(file)
