"""Bundles for the pages: a task makes each as a file in var/, from where the page hands it out.

In: a study and a marketplace. Out: its `StudyBundle` row, and the file. Guaranteed: a file is complete or not there,
and only people who may see the study can download it.
"""

import hashlib
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User

from hits.analysing.kept_results import Send, ask_once, source_of
from hits.budgeting.places import revealed_secret
from hits.models import Event, Study, StudyBundle


def bundle_file(study: Study, environment: str) -> Path:
    return Path(settings.VAR_DIR) / "bundles" / f"{study.key}-{environment}.zip"


def find_bundle(study: Study, environment: str) -> StudyBundle:
    """The row; before the first request an empty one, which is not saved."""
    found = StudyBundle.objects.filter(study=study, environment=environment).first()
    return found or StudyBundle(study=study, environment=environment)


def bundle_source(study: Study, environment: str) -> str:
    """A hash that changes when the bundle would: the results' source, and whether the card orders' secret is out."""
    source = source_of(study, environment)
    return hashlib.sha256(f"{source} {revealed_secret(study)}".encode()).hexdigest() if source else ""


def request_bundle(study: Study, environment: str, send: Send, by: User | None, now: datetime) -> None:
    StudyBundle.objects.get_or_create(study=study, environment=environment)
    row = StudyBundle.objects.filter(study=study, environment=environment)
    if ask_once(row, lambda: send(study.pk, environment), now):
        Event.objects.create(study=study, at=now, actor=by, text=f"asked for a bundle ({environment})")
