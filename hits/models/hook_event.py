"""Stores which events a crowd has told this server of, since it may tell each several times."""

from django.db import models


class HookEvent(models.Model):
    crowd = models.CharField(max_length=20)
    event_id = models.CharField(max_length=100)
    received_at = models.DateTimeField(db_index=True)
    wakes = models.BooleanField()  # True if a look at the crowd was planned because of it

    class Meta:
        constraints = [models.UniqueConstraint(fields=["crowd", "event_id"], name="one_row_per_event_of_a_crowd")]

    def __str__(self) -> str:
        return f"event {self.event_id} of {self.crowd}"
