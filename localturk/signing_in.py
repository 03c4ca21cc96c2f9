"""Who a worker of this marketplace is, in a browser.

In a rehearsal anyone may be any worker, and the cookie only remembers the choice. Where workers must sign in, an
account is opened by an invitation: a link that works once, with which its worker chooses a password. Guaranteed: tokens
and passwords are kept as hashes; of several uses of a link at once, one succeeds; another password ends all sessions.
"""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from evalplatform.client_address import client_address
from evalplatform.errors import EvalPlatformError
from evalplatform.throttling import Limit, begin_attempt, end_well
from localturk import ids
from localturk.models import WorkerAccount

COOKIE = "market_worker"
INVITATION_LIFE = timedelta(days=7)
SESSION_SECONDS = 30 * 86_400


def new_account(name: str, country: str, approved_count: int = 0) -> WorkerAccount:
    worker_id = "A" + ids.new_id(14)[1:]
    return WorkerAccount.objects.create(worker_id=worker_id, name=name, country=country, approved_count=approved_count)


def invite_worker(worker: WorkerAccount, now: datetime) -> str:
    """The token for a link. An earlier invitation ends; a password stays until the link is used."""
    token = secrets.token_urlsafe(24)
    WorkerAccount.objects.filter(pk=worker.pk).update(invitation_hash=_hash(token), invited_at=now)
    return token


def invited_worker(token: str, now: datetime) -> WorkerAccount | None:
    open_ones = WorkerAccount.objects.filter(invited_at__gt=now - INVITATION_LIFE)
    return open_ones.filter(invitation_hash=_hash(token)).first()


def choose_password(token: str, password: str, now: datetime) -> WorkerAccount:
    worker = invited_worker(token, now)
    if worker is None:
        raise EvalPlatformError("This invitation is used up or too old. Ask whoever sent it for another.")
    try:
        validate_password(password)
    except ValidationError as error:
        raise EvalPlatformError(" ".join(error.messages)) from None
    unused = WorkerAccount.objects.filter(pk=worker.pk, invitation_hash=_hash(token))
    if not unused.update(password=make_password(password), invitation_hash=""):
        return choose_password(token, password, now)  # used in this very moment, which is said above
    worker.refresh_from_db()
    return worker


def worker_with_password(request: HttpRequest, worker_id: str, password: str, now: datetime) -> WorkerAccount | None:
    """None if they don't match. Raises TooManyAttempts."""
    worker_id = worker_id.strip()
    limits = [Limit("worker", worker_id, free=10, most_seconds=60)]
    if address := client_address(request):
        limits.append(Limit("address", address, free=20, most_seconds=300))
    begin_attempt(limits, now)
    worker = WorkerAccount.objects.filter(worker_id=worker_id.replace("\0", "")).exclude(password="").first()
    # An unknown name takes as long as a known one.
    if not check_password(password, worker.password if worker else make_password(secrets.token_urlsafe())):
        return None
    end_well(limits)
    return worker


def worker_of(request: HttpRequest) -> WorkerAccount | None:
    cookie = request.get_signed_cookie(COOKIE, default="", salt=_salt(), max_age=SESSION_SECONDS) or ""
    worker_id, _, proof = cookie.partition(" ")
    worker = WorkerAccount.objects.filter(worker_id=worker_id).first()
    if worker is None or (settings.MUST_WORKERS_SIGN_IN and (not worker.password or proof != _proof(worker))):
        return None
    return worker


def remember_worker(request: HttpRequest, response: HttpResponse, worker: WorkerAccount) -> None:
    response.set_signed_cookie(
        COOKIE,
        f"{worker.worker_id} {_proof(worker)}" if settings.MUST_WORKERS_SIGN_IN else worker.worker_id,
        salt=_salt(),
        max_age=SESSION_SECONDS if settings.MUST_WORKERS_SIGN_IN else None,
        path=reverse("market"),
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def forget_worker(response: HttpResponse) -> None:
    response.delete_cookie(COOKIE, path=reverse("market"), samesite="Lax")


def _salt() -> str:
    """A worker who was chosen in a rehearsal has not signed in."""
    return "localturk.signed-in" if settings.MUST_WORKERS_SIGN_IN else "localturk.chosen"


def _proof(worker: WorkerAccount) -> str:
    """Another password makes another one."""
    return _hash(worker.password)[:16]


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()
