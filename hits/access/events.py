"""Adds lines to a study's event log: who did what, and when. Lines are never changed."""

from datetime import datetime

from django.contrib.auth.models import User

from hits.models import Event, Study


def note_event(study: Study, text: str, actor: User | None, now: datetime) -> None:
    """Add a line to the study's log. `text` continues the actor's name: "asked for a sync (local)".

    Without an actor, the server itself did it.
    """
    Event.objects.create(study=study, at=now, actor=actor, text=text)
