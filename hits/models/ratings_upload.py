"""Stores the files of ratings that researchers upload, what their columns are, and their results."""

import uuid

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models

from evalplatform.background_work import BackgroundWork, BackgroundWorkQuerySet


class RatingsUpload(BackgroundWork):
    """A file that another tool made. Only its owner sees it. The file and its bundle are on disk
    (hits.elsewhere.uploads); the same file is stored once. `source` identifies the mapping and the software that the
    results were computed with. While they are computed, `done_share` says how far that is."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="ratings_uploads")
    name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()  # bytes
    uploaded_at = models.DateTimeField()
    mapping = models.JSONField(default=dict)  # hits.elsewhere.ColumnMapping; empty until the researcher has checked it
    done_share = models.FloatField(default=0)
    doing = models.CharField(max_length=200, blank=True)
    problem = models.TextField(blank=True)
    source = models.CharField(max_length=64, blank=True)
    notes = models.JSONField(default=list)  # what was taken for what
    problems = models.JSONField(default=list)  # lines that could not be used, the first few
    unusable_count = models.BigIntegerField(default=0)
    results = models.TextField(blank=True)
    figures = models.JSONField(default=list)
    computed_at = models.DateTimeField(null=True)

    objects = BackgroundWorkQuerySet.as_manager()

    class Meta:
        ordering = ["-uploaded_at"]
        constraints = [models.UniqueConstraint(fields=["owner", "sha256"], name="one_upload_of_a_file_per_owner")]

    def __str__(self) -> str:
        return self.name


def most_upload_bytes() -> int:
    return int(settings.UPLOAD_MB) * 1_000_000
