"""Decides whose manifest is too large to make while a page waits, and stores those as files in var/.

What comes in: a frozen study. What goes out: its manifest's file. What is guaranteed: the file is complete, and its
hash is the one that the study was frozen with; if the database holds something else by now, there is no file, and an
error says so.
"""

import hashlib
import tempfile
from pathlib import Path

from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.batching.manifest import manifest_lines
from hits.models import Study

MOST_DIALOGS_AT_ONCE = 3_000  # a web process writes so many lines in a second, and needs no file


def has_large_manifest(study: Study) -> bool:
    """Return whether the manifest is too large to be written while a page waits."""
    return int((study.manifest or {}).get("dialogs", 0)) > MOST_DIALOGS_AT_ONCE


def manifest_file(study: Study) -> Path:
    """Return where the study's manifest is stored."""
    return Path(settings.VAR_DIR) / "manifests" / f"{study.key}.jsonl"


def write_manifest(study: Study) -> None:
    """Write the manifest's file. Raises if the database no longer holds what the study was frozen with."""
    file = manifest_file(study)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=file.parent) as temporary:
        draft = Path(temporary) / "manifest.jsonl"
        with draft.open("wb") as lines:
            for line in manifest_lines(study):
                digest.update(line)
                lines.write(line)
        if digest.hexdigest() != study.manifest_hash:
            raise EvalPlatformError(
                f"The database no longer holds what {study} was frozen with: its manifest would have the hash "
                f"{digest.hexdigest()[:12]}…. Somebody has changed dialogs, replies or HITs. Restore a backup."
            )
        draft.replace(file)
