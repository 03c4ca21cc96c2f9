"""Keep the secrets and subscriptions of webhooks, and list what was delivered."""

import secrets
from typing import Any
from urllib.parse import urlsplit

from localprolific.behaviour import behaviour
from localprolific.endpoints.account_endpoints import named_workspace
from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, endpoint
from localprolific.endpoints.page_links import page_by_offset
from localprolific.errors import Invalid, NotFound, wrong
from localprolific.hex_ids import new_id
from localprolific.hook_events import EVENT_TYPES
from localprolific.models import HookDelivery, HookSecret, HookSubscription

CONFIRMING = "X-Hook-Secret"


@endpoint("GET", "hooks/event-types/")
def list_event_types(call: ApiCall) -> ApiAnswer:
    return ApiAnswer({"results": [{"event_type": name, "description": text} for name, text in EVENT_TYPES.items()]})


@endpoint("POST", "hooks/secrets/")
def create_hook_secret(call: ApiCall) -> ApiAnswer:
    """Make a new secret, which replaces the workspace's earlier one."""
    workspace = named_workspace(call, call.fields().get("workspace_id"))
    HookSecret.objects.filter(workspace=workspace).delete()
    secret = HookSecret.objects.create(secret_id=new_id(), workspace=workspace, value=secrets.token_urlsafe(48))
    return ApiAnswer(_secret_shape(secret), 201)


@endpoint("GET", "hooks/secrets/")
def list_hook_secrets(call: ApiCall) -> ApiAnswer:
    found = HookSecret.objects.filter(workspace=call.workspace)
    return ApiAnswer({"results": [_secret_shape(one) for one in found]})


@endpoint("POST", "hooks/subscriptions/")
def create_subscription(call: ApiCall) -> ApiAnswer:
    """Subscribe. The header X-Hook-Secret has what must be posted to the subscription to confirm it."""
    workspace = named_workspace(call, call.fields().get("workspace_id"))
    if not HookSecret.objects.filter(workspace=workspace).exists():
        raise Invalid("Create a secret for this workspace first.")
    event_type, target_url = call.text("event_type"), call.text("target_url")
    _check(event_type, target_url)
    subscription = HookSubscription.objects.create(
        subscription_id=new_id(),
        workspace=workspace,
        event_type=event_type,
        target_url=target_url,
        confirmation_secret=secrets.token_urlsafe(24),
    )
    proof = {CONFIRMING: subscription.confirmation_secret} if behaviour().is_hook_proof_answered else {}
    return ApiAnswer(_shape(subscription), 201, proof)


@endpoint("GET", "hooks/subscriptions/")
def list_subscriptions(call: ApiCall) -> ApiAnswer:
    found = HookSubscription.objects.filter(workspace=call.workspace)
    if (enabled := call.params.get("is_enabled")) is not None:
        found = found.filter(is_enabled=enabled.lower() == "true")
    rows, links = page_by_offset(call, found.order_by("pk"))
    return ApiAnswer({"results": [_shape(one) for one in rows], **links})


@endpoint("GET", "hooks/subscriptions/{subscription_id}/")
def show_subscription(call: ApiCall, subscription_id: str) -> ApiAnswer:
    return ApiAnswer(_shape(_own(call, subscription_id)))


@endpoint("POST", "hooks/subscriptions/{subscription_id}/")
def confirm_subscription(call: ApiCall, subscription_id: str) -> ApiAnswer:
    subscription = _own(call, subscription_id)
    if call.fields().get("secret") != subscription.confirmation_secret:
        raise Invalid("This is not the secret of the subscription.")
    subscription.is_confirmed = True
    subscription.save()
    return ApiAnswer(_shape(subscription))


@endpoint("PATCH", "hooks/subscriptions/{subscription_id}/")
def change_subscription(call: ApiCall, subscription_id: str) -> ApiAnswer:
    subscription, fields = _own(call, subscription_id), call.fields()
    event_type, target_url = (fields.get(name) or getattr(subscription, name) for name in ("event_type", "target_url"))
    _check(event_type, target_url)
    subscription.event_type, subscription.target_url = event_type, target_url
    subscription.is_enabled = bool(fields.get("is_enabled", subscription.is_enabled))
    subscription.failing_since = None
    subscription.save()
    return ApiAnswer(_shape(subscription))


@endpoint("DELETE", "hooks/subscriptions/{subscription_id}/")
def delete_subscription(call: ApiCall, subscription_id: str) -> ApiAnswer:
    _own(call, subscription_id).delete()
    return ApiAnswer(None, 204)


@endpoint("GET", "hooks/subscriptions/{subscription_id}/events/")
def list_events(call: ApiCall, subscription_id: str) -> ApiAnswer:
    rows, links = page_by_offset(call, _own(call, subscription_id).deliveries.order_by("-pk"))
    return ApiAnswer({"results": [_delivery_shape(one) for one in rows], **links})


def _check(event_type: str, target_url: str) -> None:
    if event_type not in EVENT_TYPES:
        raise wrong("event_type", f'"{event_type}" is not a valid choice.')
    # Prolific takes public https only. Here, plain http to this machine is fine too; hook_sending.py sees to the rest.
    if urlsplit(target_url).scheme not in ("http", "https"):
        raise wrong("target_url", "Enter a valid URL.")


def _own(call: ApiCall, subscription_id: str) -> HookSubscription:
    found = HookSubscription.objects.filter(workspace=call.workspace, subscription_id=subscription_id).first()
    if found is None:
        raise NotFound("Subscription not found.")
    return found


def _secret_shape(secret: HookSecret) -> dict[str, Any]:
    return {"id": secret.secret_id, "value": secret.value, "workspace_id": secret.workspace.workspace_id}


def _shape(subscription: HookSubscription) -> dict[str, Any]:
    return {
        "id": subscription.subscription_id,
        "event_type": subscription.event_type,
        "target_url": subscription.target_url,
        "is_enabled": subscription.is_enabled,
        "workspace_id": subscription.workspace.workspace_id,
    }


def _delivery_shape(delivery: HookDelivery) -> dict[str, Any]:
    is_over = delivery.due_at is None
    return {
        "id": delivery.event_id,
        "datetime_created": delivery.happened_at,
        "datetime_updated": delivery.delivered_at or delivery.happened_at,
        "event_type": delivery.payload["event_type"],
        "resource_id": delivery.payload["resource_id"],
        "status": "SUCCEEDED" if delivery.delivered_at else "FAILED" if is_over else "PENDING",
        "target_url": delivery.subscription.target_url,
        "payload": delivery.payload,
    }
