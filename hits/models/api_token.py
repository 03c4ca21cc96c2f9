"""Stores API tokens: who made one, when it was last used, and whether it was revoked."""

import hashlib

from django.conf import settings
from django.db import models


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def valid(self) -> "ApiTokenQuerySet":
        return self.filter(revoked_at=None, user__is_active=True)


class ApiToken(models.Model):
    """Lets a program call the API in its user's name. We store only a hash, so nobody can read the token again."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    label = models.CharField(max_length=60)
    token_hash = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)  # when it was last used, to the hour
    revoked_at = models.DateTimeField(null=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.label} of {self.user}"


def hash_of(token: str) -> str:
    """Return the token's SHA-256. It needs no salt: a token is 32 random bytes, which no dictionary contains."""
    return hashlib.sha256(token.encode()).hexdigest()
