"""Store participants, and the groups that researchers put them into."""

from django.db import models

from localprolific.models.workspace import Project, Workspace


class Participant(models.Model):
    """Someone who takes part in studies. `answers` are those to Prolific's own questions, by the filter's id."""

    participant_id = models.CharField(max_length=24, unique=True)
    name = models.CharField(max_length=100)
    answers = models.JSONField(default=dict)
    is_simulated = models.BooleanField(default=False)
    email = models.CharField(max_length=200, blank=True, help_text="of a researcher's own test participant")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.name} ({self.participant_id})"


class ParticipantGroup(models.Model):
    group_id = models.CharField(max_length=24, unique=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="participant_groups")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    is_deleted = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class GroupMember(models.Model):
    group = models.ForeignKey(ParticipantGroup, on_delete=models.CASCADE, related_name="members")
    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="memberships")
    joined_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["group", "participant"], name="localprolific_once_in_a_group"),
        ]

    def __str__(self) -> str:
        return f"{self.participant} in {self.group}"
