"""Stores a study's event log: who did what, and when."""

from django.conf import settings
from django.db import models

from hits.models.study import Study

OPENED_LINK = "opened a share link for the first time"
THROUGH_LINK = "through a share link"


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

    @property
    def who(self) -> str:
        """Name who did it. Whoever opens a share link has no account; everything else without one is a command's."""
        if self.actor is not None:
            return self.actor.get_username()
        is_by_link = self.text.startswith(OPENED_LINK) or THROUGH_LINK in self.text
        return "somebody with a share link" if is_by_link else "a command"
