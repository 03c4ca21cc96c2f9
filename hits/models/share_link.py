"""Stores share links: which results each shows, until when, and whether it was revoked."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from hits.models.offering import Offering


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    def valid(self, now: datetime) -> "ShareLinkQuerySet":
        return self.filter(revoked_at=None, expires_at__gt=now)


class ShareLink(models.Model):
    """Shows the results of one offering, read-only, to whoever has the link. We store only its token's hash, so that
    nobody can read the link again."""

    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="share_links")
    label = models.CharField(max_length=60)
    token_hash = models.CharField(max_length=64, unique=True)
    shows_dialogs = models.BooleanField(default=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)  # when it was last opened, to the hour
    revoked_at = models.DateTimeField(null=True)

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(condition=Q(expires_at__gt=F("made_at")), name="share_link_lasts")]

    def __str__(self) -> str:
        return f"{self.label} of {self.offering}"
