"""Tell which worker is in a browser: accounts, invitations (7 days), passwords and the cookie.

In a rehearsal anyone may be any worker, and the cookie only remembers the choice. If workers must sign in, an account
is opened by an invitation: a link that works once, with which the worker chooses a password. Guaranteed: tokens and
passwords are stored as hashes; if a link is used several times at once, one use succeeds; a new password ends all
sessions.
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
from localturk.seeding import is_simulated_worker

COOKIE = "market_worker"
INVITATION_LIFE = timedelta(days=7)
SESSION_SECONDS = 30 * 86_400


def new_account(name: str, country: str, approved_count: int = 0) -> WorkerAccount:
    worker_id = "A" + ids.new_id(14)[1:]
    while is_simulated_worker(worker_id):  # one id in 46,656 by chance
        worker_id = "A" + ids.new_id(14)[1:]
    return WorkerAccount.objects.create(worker_id=worker_id, name=name, country=country, approved_count=approved_count)


def invite_worker(worker: WorkerAccount, now: datetime) -> str:
    """Return the token for a link. It replaces an earlier invitation; a password stays until the link is used."""
    token = secrets.token_urlsafe(24)
    WorkerAccount.objects.filter(pk=worker.pk).update(invitation_hash=_hash(token), invited_at=now)
    return token


def invited_worker(token: str, now: datetime) -> WorkerAccount | None:
    open_ones = WorkerAccount.objects.filter(invited_at__gt=now - INVITATION_LIFE)
    return open_ones.filter(invitation_hash=_hash(token)).first()


def choose_password(token: str, password: str, now: datetime) -> WorkerAccount:
    worker = invited_worker(token, now)
    if worker is None:
        raise EvalPlatformError("This invitation was used already or is too old. Ask the sender for another.")
    try:
        validate_password(password)
    except ValidationError as error:
        raise EvalPlatformError(" ".join(error.messages)) from None
    unused = WorkerAccount.objects.filter(pk=worker.pk, invitation_hash=_hash(token))
    if not unused.update(password=make_password(password), invitation_hash=""):
        return choose_password(token, password, now)  # it was used just now, so this raises the error above
    worker.refresh_from_db()
    return worker


def worker_with_password(request: HttpRequest, worker_id: str, password: str, now: datetime) -> WorkerAccount | None:
    """Return the worker, or None if id and password don't match. Raise TooManyAttempts after too many failures."""
    worker_id = worker_id.strip()
    limits = [Limit("worker", worker_id, free=10, most_seconds=60)]
    if address := client_address(request):
        limits.append(Limit("address", address, free=20, most_seconds=300))
    begin_attempt(limits, now)
    worker = WorkerAccount.objects.filter(worker_id=worker_id.replace("\0", "")).exclude(password="").first()
    # Checking an unknown id must take as long as a known one, or the time would tell which ids exist.
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
    """Return a salt that depends on the mode, so that a worker chosen in a rehearsal does not count as signed in."""
    return "localturk.signed-in" if settings.MUST_WORKERS_SIGN_IN else "localturk.chosen"


def _proof(worker: WorkerAccount) -> str:
    """Return a hash that changes with the password, so that a new password ends all sessions."""
    return _hash(worker.password)[:16]


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()
