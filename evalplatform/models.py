"""Store the fingerprint of SECRET_KEY, and counts of failed log-ins."""

from django.db import models
from django.db.models import Q


class KeyFingerprint(models.Model):
    """Which SECRET_KEY this database is used with, in one row. Nobody can compute the key from it."""

    fingerprint = models.CharField(max_length=64)
    noted_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="one_key_fingerprint")]

    def __str__(self) -> str:
        return f"key {self.fingerprint[:8]}"


class AttemptCount(models.Model):
    """How many attempts of one kind (by account, address or browser) failed lately. `key` is a keyed hash, because
    people sometimes type their password into the field for the name."""

    key = models.CharField(max_length=64, unique=True)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.failures} failures"
