"""Stores a study's event log: who did what, and when."""

from django.conf import settings
from django.db import models

from hits.models.study import Study


class Event(models.Model):
    """Something that somebody, or the server itself, did to a study. Rows are only added."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.text
