"""Store the secrets and subscriptions of webhooks, and each delivery that is due or was made."""

from django.db import models

from localprolific.models.workspace import Workspace


class HookSecret(models.Model):
    secret_id = models.CharField(max_length=24, unique=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="hook_secrets")
    value = models.CharField(max_length=128)

    def __str__(self) -> str:
        return f"secret of {self.workspace}"


class HookSubscription(models.Model):
    subscription_id = models.CharField(max_length=24, unique=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="hook_subscriptions")
    event_type = models.CharField(max_length=40)
    target_url = models.TextField()
    confirmation_secret = models.CharField(max_length=64)
    is_confirmed = models.BooleanField(default=False)
    is_enabled = models.BooleanField(default=True)
    failing_since = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.event_type} to {self.target_url}"


class HookDelivery(models.Model):
    """One event for one subscription, with its tries. `due_at` is empty when it was delivered or given up."""

    event_id = models.CharField(max_length=36)
    subscription = models.ForeignKey(HookSubscription, on_delete=models.CASCADE, related_name="deliveries")
    payload = models.JSONField()
    happened_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["due_at"], name="localprolific_hooks_due")]

    def __str__(self) -> str:
        return f"event {self.event_id}"
