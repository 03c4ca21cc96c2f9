"""Tokens for programs that ask the API in a researcher's name.

In: a user. Out: a token, told once. Guaranteed: only its hash is kept; a revoked token, or one of a user who may not
log in any more, opens nothing.
"""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from evalplatform.errors import EvalPlatformError
from hits.models import ApiToken
from hits.models.api_token import hash_of

MOST_TOKENS = 20
NOTED_EVERY = timedelta(hours=1)  # so that asking does not mean writing


def make_token(user: User, label: str, now: datetime) -> str:
    label = label.strip()
    if not 1 <= len(label) <= 60:
        raise EvalPlatformError("Say in up to 60 letters what the token is for, to know it again.")
    if ApiToken.objects.valid().filter(user=user).count() >= MOST_TOKENS:
        raise EvalPlatformError(f"You have {MOST_TOKENS} tokens already; revoke one that you don't need.")
    token = secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, label=label, token_hash=hash_of(token), made_at=now)
    return token


def revoke_token(user: User, key: int, now: datetime) -> None:
    ApiToken.objects.filter(user=user, pk=key, revoked_at=None).update(revoked_at=now)


def user_of_token(token: str, now: datetime) -> User | None:
    found = ApiToken.objects.valid().filter(token_hash=hash_of(token)).select_related("user").first()
    if found is None:
        return None
    if found.used_at is None or now - found.used_at > NOTED_EVERY:
        ApiToken.objects.filter(pk=found.pk).update(used_at=now)
    return found.user
