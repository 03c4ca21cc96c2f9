"""The platform's own rows: the key that a database is used with, and how often someone failed to log in."""

from django.db import models
from django.db.models import Q


class KeyFingerprint(models.Model):
    """Which SECRET_KEY this database is used with: one row. Nobody can get the key from it."""

    fingerprint = models.CharField(max_length=64)
    noted_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="one_key_fingerprint")]

    def __str__(self) -> str:
        return f"key {self.fingerprint[:8]}"


class AttemptCount(models.Model):
    """How many attempts of one kind by one someone failed lately. `key` is a keyed hash: people type passwords into
    the field for their name."""

    key = models.CharField(max_length=64, unique=True)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.failures} failures"
