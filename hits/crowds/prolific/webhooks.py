"""Checks that a call to this server comes from Prolific: base64 of HMAC-SHA256 over its timestamp and the raw body.

It may come twice, late, and in any order. So it is believed in one thing only: that it is time to look at Prolific.
"""

import base64
import hashlib
import hmac
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from hits.crowds.hooks import HookRefused

TIMESTAMP, SIGNATURE = "x-prolific-request-timestamp", "x-prolific-request-signature"
SENT_WITHIN = timedelta(hours=26)  # Prolific tries for 24 hours; an older call was recorded and is played again
MOST_SECONDS = 1e11  # the year 5138: a larger number counts smaller units


def read_hook(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> str:
    """Return a name of what was signed, the same each time it is played again. Raises HookRefused."""
    if not secret:
        raise HookRefused("PROLIFIC_HOOK_SECRET is not set")
    given = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = (given.get(name, "") for name in (TIMESTAMP, SIGNATURE))
    expected = base64.b64encode(hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest())
    if not hmac.compare_digest(expected, signature.encode()):
        raise HookRefused("the signature is wrong")
    sent_at = _time_of(timestamp)
    if sent_at is not None and abs(now - sent_at) > SENT_WITHIN:
        raise HookRefused(f"it was sent at {sent_at}")
    # The header with the event's id is not signed, so anybody could play one call again under many ids.
    return hashlib.sha256(timestamp.encode() + body).hexdigest()


def _time_of(timestamp: str) -> datetime | None:
    """Return when it was sent, if the timestamp is Unix time in any unit, or ISO 8601; documentation shows no form."""
    try:
        seconds = float(timestamp)
        while MOST_SECONDS < seconds < math.inf:
            seconds /= 1000
        return datetime.fromtimestamp(seconds, tz=UTC)
    except (ValueError, OverflowError, OSError):
        pass
    try:
        found = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
