"""Refuse a UniqueRequestToken that was used in the last 24 hours; after that it is forgotten."""

from datetime import datetime, timedelta
from enum import StrEnum

from django.db import IntegrityError, transaction

from localturk.errors import RequestError
from localturk.models import RequestToken

LIFE = timedelta(hours=24)


class TokenKind(StrEnum):
    HIT = "HIT"
    ASSIGNMENTS = "Assignments"
    BONUS = "Bonus"


def use_token(kind: TokenKind, token: str | None, made: str, now: datetime) -> None:
    """Note that the token is used. Call this in the transaction that creates `made`, before it does: if two calls come
    at once, the second waits and is refused."""
    if token is None:
        return
    try:
        with transaction.atomic():
            RequestToken.objects.create(kind=kind, token=token, made=made, used_at=now)
    except IntegrityError:
        earlier = RequestToken.objects.filter(kind=kind, token=token)
        if not earlier.filter(used_at__lte=now - LIFE).update(made=made, used_at=now):
            raise _already_used(kind, earlier.get()) from None


def _already_used(kind: TokenKind, earlier: RequestToken) -> RequestError:
    if kind == TokenKind.HIT:
        message = f"A HIT was already created with this UniqueRequestToken: HIT {earlier.made}"
        return RequestError("AWS.MechanicalTurk.HitAlreadyExists", message)
    # AWS documents "an error with a message containing the request ID", but no code. This one is our guess.
    message = f"This UniqueRequestToken was already used, by request {earlier.made}"
    return RequestError("AWS.MechanicalTurk.DuplicateRequest", message)
