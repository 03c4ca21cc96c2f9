"""Store workers, blocks, and the messages that workers get."""

from django.db import models


class WorkerAccount(models.Model):
    """Someone who works here. The counts are of work done before this marketplace; work done here is added to them."""

    worker_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=100)
    country = models.CharField(max_length=2)
    subdivision = models.CharField(max_length=2, blank=True)
    approved_count = models.PositiveIntegerField(default=0)
    rejected_count = models.PositiveIntegerField(default=0)
    # Used if workers must sign in. Both are hashes: of the password, and of the token in the link to choose one.
    password = models.CharField(max_length=128, blank=True, default="")
    invitation_hash = models.CharField(max_length=64, blank=True, default="")
    invited_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.name} ({self.worker_id})"


class WorkerBlock(models.Model):
    worker = models.OneToOneField(WorkerAccount, on_delete=models.PROTECT, related_name="block")
    reason = models.TextField()
    blocked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"block of {self.worker}"


class WorkerMessage(models.Model):
    """A message that MTurk would send by e-mail: from NotifyWorkers, or about a bonus or qualification."""

    worker = models.ForeignKey(WorkerAccount, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sent_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["worker", "-sent_at"], name="localturk_messages")]

    def __str__(self) -> str:
        return f"{self.subject} to {self.worker}"
