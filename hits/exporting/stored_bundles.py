"""Decides whether a bundle is stale, requests a new one, and finds the zip file that the results page offers.

In: an offering, or a pool of several. Out: its `StudyBundle` row, and the file. Guaranteed: a file is complete or not
there, and only people who may see the study can download it.
"""

import hashlib
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User

from hits.analysing import SendTask, source_of
from hits.budgeting import revealed_secret
from hits.models import Event, Scope, StudyBundle, of_scope


def bundle_file(scope: Scope) -> Path:
    return Path(settings.VAR_DIR) / "bundles" / f"{scope.study.key}-{scope.marketplace}.zip"


def find_bundle(scope: Scope) -> StudyBundle:
    """Return the stored row or, before the first request, an empty one that is not saved."""
    found = StudyBundle.objects.filter(**of_scope(scope)).first()
    return found or StudyBundle(**of_scope(scope))


def bundle_source(scope: Scope) -> str:
    """Return a hash that changes when the bundle would: with the results, and when the card orders are revealed."""
    source = source_of(scope)
    return hashlib.sha256(f"{source} {revealed_secret(scope.study)}".encode()).hexdigest() if source else ""


def request_bundle(scope: Scope, send: SendTask, by: User | None, now: datetime, is_with_texts: bool = False) -> None:
    """Request a bundle. `is_with_texts` asks for texts of example dialogs too, which may be licensed."""
    StudyBundle.objects.get_or_create(**of_scope(scope))
    row = StudyBundle.objects.filter(**of_scope(scope))

    def note_and_send() -> None:
        row.update(is_with_texts=is_with_texts)
        send(scope)

    if row.request_once(note_and_send, now):
        texts = ", with texts of dialogs" if is_with_texts else ""
        text = f"asked for a bundle ({scope.marketplace}{texts})"
        Event.objects.create(study=scope.study, at=now, actor=by, text=text)
