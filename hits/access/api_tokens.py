"""Makes, checks and revokes API tokens (20 a user at most), and notes once an hour when each was last used.

What comes in: a user. What goes out: a token, shown once. What is guaranteed: we store only its hash; a revoked token
opens nothing, and neither does one of a user who may no longer log in.
"""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from evalplatform.errors import EvalPlatformError
from hits.models import ApiToken
from hits.models.api_token import hash_of

MOST_TOKENS = 20
NOTED_EVERY = timedelta(hours=1)  # so that not every call to the API writes a row


def make_token(user: User, label: str, now: datetime) -> str:
    """Make a token and return its text, which nobody can see again."""
    label = label.strip()
    if not 1 <= len(label) <= 60:
        raise EvalPlatformError("Describe in up to 60 letters what the token is for, so that you recognise it later.")
    if ApiToken.objects.valid().filter(user=user).count() >= MOST_TOKENS:
        raise EvalPlatformError(f"You have {MOST_TOKENS} tokens already; revoke one that you don't need.")
    token = secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, label=label, token_hash=hash_of(token), made_at=now)
    return token


def revoke_token(user: User, token_id: int, now: datetime) -> None:
    ApiToken.objects.filter(user=user, pk=token_id, revoked_at=None).update(revoked_at=now)


def user_of_token(token: str, now: datetime) -> User | None:
    """Return the user whose token this is, or None if the token is not valid; note that it was used."""
    found = ApiToken.objects.valid().filter(token_hash=hash_of(token)).select_related("user").first()
    if found is None:
        return None
    if found.used_at is None or now - found.used_at > NOTED_EVERY:
        ApiToken.objects.filter(pk=found.pk).update(used_at=now)
    return found.user
