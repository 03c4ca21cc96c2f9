"""Keeps the files that researchers upload: streamed to disk, readable by the server only, each file once.

This file imports no pandas, because pages use it.
"""

import hashlib
import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from evalplatform import __version__
from evalplatform.errors import EvalPlatformError
from hits.elsewhere.column_mapping import ColumnMapping, value_columns
from hits.elsewhere.first_look import FirstLook, look_at
from hits.elsewhere.table_files import is_json, json_as_csv
from hits.models import RatingsUpload
from hits.models.ratings_upload import most_upload_bytes

MOST_UPLOADS = 100  # of one researcher


def upload_file(upload: RatingsUpload) -> Path:
    return _folder() / f"{upload.key}.csv"


def upload_bundle_file(upload: RatingsUpload) -> Path:
    return _folder() / f"{upload.key}.zip"


def _folder() -> Path:
    folder = Path(settings.VAR_DIR) / "uploads"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def keep_upload(owner: User, name: str, pieces: Iterable[bytes], now: datetime) -> tuple[RatingsUpload, bool]:
    """Store a file, and return its row and whether it is new. What can't be a table is refused, and not stored."""
    if RatingsUpload.objects.filter(owner=owner).count() >= MOST_UPLOADS:
        raise EvalPlatformError(f"You have {MOST_UPLOADS} files here; delete some first.")
    short = (Path(name.replace("\\", "/")).name.replace("\0", "") or "ratings")[:200]
    with tempfile.TemporaryDirectory(dir=_folder()) as temporary:
        draft = Path(temporary) / "draft"
        digest, size = _write(draft, pieces)
        if found := RatingsUpload.objects.filter(owner=owner, sha256=digest).first():
            return found, False
        table = draft
        try:
            if is_json(draft):
                table = Path(temporary) / "records.csv"
                json_as_csv(draft, table, short)
            look_at(table)
        except EvalPlatformError as error:
            raise EvalPlatformError(str(error).replace(draft.name, short, 1)) from error
        upload = RatingsUpload(owner=owner, name=short, sha256=digest, size=size, uploaded_at=now)
        table.chmod(0o600)
        table.rename(upload_file(upload))
    try:
        with transaction.atomic():
            upload.save()
    except IntegrityError:  # somebody has uploaded the same file at the same moment
        upload_file(upload).unlink(missing_ok=True)
        return RatingsUpload.objects.get(owner=owner, sha256=digest), False
    return upload, True


def _write(file: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    hashed, size = hashlib.sha256(), 0
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as draft:
        for piece in pieces:
            size += len(piece)
            if size > most_upload_bytes():
                raise EvalPlatformError(too_large())
            hashed.update(piece)
            draft.write(piece)
    return hashed.hexdigest(), size


def too_large() -> str:
    return (
        f"A file may have at most {settings.UPLOAD_MB:,} MB here (UPLOAD_MB). The command show_results --ratings takes "
        "larger ones."
    )


def uploads_of(owner: User) -> QuerySet[RatingsUpload]:
    return RatingsUpload.objects.filter(owner=owner).defer("results", "figures")


def find_upload(owner: User | None, key: uuid.UUID) -> RatingsUpload | None:
    return RatingsUpload.objects.filter(owner=owner, key=key).first() if owner is not None else None


def look_at_upload(upload: RatingsUpload) -> FirstLook:
    return look_at(upload_file(upload))


def request_analysis(
    upload: RatingsUpload, mapping: ColumnMapping, look: FirstLook, send: Callable[[RatingsUpload], None], now: datetime
) -> bool:
    """Ask for the results under this mapping. Return False if they are there, or are being computed, already. Raise
    `MappingRefused` if the mapping does not fit."""
    value_columns(mapping, look.columns)
    rows = RatingsUpload.objects.filter(pk=upload.pk)
    if upload.source == source_of_upload(upload, mapping) and upload.results:
        return False
    if not upload.is_under_way or upload.is_quiet(now):
        rows.update(mapping=mapping.model_dump(mode="json"), problem="", done_share=0, doing="")
    return rows.request_once(lambda: send(upload), now)


def source_of_upload(upload: RatingsUpload, mapping: ColumnMapping) -> str:
    facts = [__version__, upload.sha256, mapping.model_dump(mode="json")]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def delete_upload(upload: RatingsUpload) -> None:
    """Delete the row and its files. A task that is still at work then finds nothing to save to."""
    upload.delete()
    for file in (upload_file(upload), upload_bundle_file(upload)):
        file.unlink(missing_ok=True)
