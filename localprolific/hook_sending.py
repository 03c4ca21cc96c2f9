"""Deliver events to webhooks: signed, at least once, in any order, and again after failures.

In: deliveries that are due, and a function that sends. Guaranteed: an answer of 2xx ends a delivery; anything else is
tried again, twelve times within a day; a subscription that failed for five days is switched off. An event may come
twice: whoever receives it must look at X-Event-ID.
"""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import structlog
import urllib3
from django.conf import settings
from django.db import connection, transaction

from localprolific import misbehaving
from localprolific.behaviour import behaviour
from localprolific.misbehaving import Kind
from localprolific.models import HookDelivery, HookSecret
from localprolific.panel_clock import Clock

log = structlog.get_logger("localprolific.hooks")

MOST_TRIES = 12
RETRIES_WITHIN = timedelta(hours=24)
FAILS_FOR = timedelta(days=5)
SECONDS_TO_ANSWER = 10
LOOPBACK = {"localhost", "127.0.0.1", "::1"}

_one_sender = threading.Lock()

Send = Callable[[str, Mapping[str, str], bytes], int]


def deliver_due(now: datetime, send: Send | None = None) -> int:
    """Try every delivery that is due once, and return how many were taken. `send` returns the HTTP status."""
    due = HookDelivery.objects.filter(due_at__lte=now, subscription__is_enabled=True).order_by("due_at", "pk")
    return sum(_deliver(pk, now, send or post) for pk in list(due.values_list("pk", flat=True)))


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature: base64 of HMAC-SHA256 over the timestamp followed by the raw body."""
    return base64.b64encode(hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()).decode()


def post(url: str, headers: Mapping[str, str], body: bytes) -> int:
    """Send to this machine or to our own public address, and nowhere else: this is a rehearsal."""
    own = {*LOOPBACK, urlsplit(settings.PUBLIC_URL).hostname}
    if urlsplit(url).hostname not in own:
        log.warning("webhook not sent", url=url, reason="the local Prolific reaches this machine only")
        return 0
    timeout = urllib3.Timeout(SECONDS_TO_ANSWER)
    try:
        return urllib3.request("POST", url, headers=headers, body=body, timeout=timeout, retries=False).status
    except urllib3.exceptions.HTTPError as error:
        log.info("webhook failed", url=url, error=str(error))
        return 0


def send_soon() -> None:
    """Deliver what is due in a thread, after the page was answered: the receiver may be this very server."""
    if HookDelivery.objects.filter(due_at__lte=Clock().now()).exists():
        transaction.on_commit(threading.Thread(target=_deliver_in_thread, daemon=True).start)


def _deliver_in_thread() -> None:
    if not _one_sender.acquire(blocking=False):
        return  # another thread is at it, and a later call looks again
    try:
        deliver_due(Clock().now())
    finally:
        _one_sender.release()
        connection.close()


def _deliver(pk: int, now: datetime, send: Send) -> bool:
    delivery = HookDelivery.objects.select_related("subscription__workspace").get(pk=pk)
    if delivery.due_at is None:
        return False
    subscription = delivery.subscription
    secret = HookSecret.objects.filter(workspace=subscription.workspace).last()
    if secret is None:
        return False
    body = json.dumps(delivery.payload).encode()
    timestamp = str(int(now.timestamp())) if behaviour().hook_timestamp == "seconds" else now.isoformat()
    headers = {
        "Content-Type": "application/json",
        "X-Event-ID": delivery.event_id,
        "X-Timestamp": delivery.happened_at.isoformat(),
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": sign(secret.value, timestamp, body),
    }
    copies = 2 if Kind.DOUBLE_DELIVERY in misbehaving.strike("deliver_event") else 1
    statuses = [send(subscription.target_url, headers, body) for _ in range(copies)]
    is_taken = all(200 <= status < 300 for status in statuses)
    _note(delivery, is_taken, now)
    return is_taken


def _note(delivery: HookDelivery, is_taken: bool, now: datetime) -> None:
    subscription = delivery.subscription
    delivery.tries += 1
    delivery.due_at = None if is_taken else _next_try(delivery, now)
    delivery.delivered_at = now if is_taken else None
    delivery.save()
    if is_taken and subscription.failing_since is not None:
        subscription.failing_since = None
        subscription.save()
    elif not is_taken:
        subscription.failing_since = subscription.failing_since or now
        subscription.is_enabled = now - subscription.failing_since < FAILS_FOR
        subscription.save()


def _next_try(delivery: HookDelivery, now: datetime) -> datetime | None:
    """Return when to try again: later and later, so that twelve tries fill a day."""
    if delivery.tries >= MOST_TRIES:
        return None
    return now + RETRIES_WITHIN / float(2 ** (MOST_TRIES - delivery.tries))
