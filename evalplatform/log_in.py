"""Show the log-in page, also for the admin, and decide which limits on failed attempts apply to whom.

Attempts are limited by account and by address. A browser that has logged in to the account before has a cookie that
says so, and has a limit of its own: a stranger who fails on purpose does not lock the owner out.
"""

import hashlib
import secrets
import unicodedata
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from evalplatform.client_address import client_address
from evalplatform.throttling import Limit, TooManyAttempts, begin_attempt, end_well

COOKIE = "known_browser"
COOKIE_SECONDS = 180 * 86_400
NO_DATABASE = (
    "The database does not answer, so nobody can log in now. Your password may be right; please try again soon."
)


class LogInForm(AuthenticationForm):
    wait_seconds = 0

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if not name or not self.cleaned_data.get("password"):
            return super().clean()
        limits = limits_of(self.request, name)
        try:
            begin_attempt(limits, timezone.now())
        except TooManyAttempts as too_many:
            self.wait_seconds = too_many.seconds
            raise ValidationError(str(too_many), "wait") from None
        cleaned = super().clean()
        end_well(limits)
        return cleaned


def limits_of(request: HttpRequest | None, name: str) -> list[Limit]:
    account = _account_hash(name)
    if request is not None and (browser := _known_browser(request, account)):
        return [Limit("browser", browser, free=10, most_seconds=300)]
    limits = [Limit("account", account, free=10, most_seconds=60)]
    if request is not None and (address := client_address(request)):
        limits.append(Limit("address", address, free=20, most_seconds=300))
    return limits


class LogInView(LoginView):
    form_class = LogInForm

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().post(request, *args, **kwargs)
        except DatabaseError:
            form = AuthenticationForm(request, initial={"username": request.POST.get("username", "")})
            return self.render_to_response(self.get_context_data(form=form, problem=NO_DATABASE), status=503)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        account = _account_hash(form.get_user().get_username())
        response = super().form_valid(form)
        if not _known_browser(self.request, account):
            _remember_browser(self.request, response, account)
        return response

    def form_invalid(self, form: LogInForm) -> HttpResponse:  # type: ignore[override]
        if not form.wait_seconds:
            return super().form_invalid(form)
        context = self.get_context_data(form=form, problem=form.non_field_errors()[0])
        return self.render_to_response(context, status=429, headers={"Retry-After": str(form.wait_seconds)})


@login_not_required
def go_to_log_in(request: HttpRequest) -> HttpResponse:
    """Redirect the admin's log-in to ours."""
    query = urlencode({"next": request.GET.get("next") or reverse("admin:index")})
    return redirect(f"{reverse('login')}?{query}")


def _account_hash(name: str) -> str:
    """Return the same key for a user name however it is typed. It is a hash, because a cookie can't hold all
    letters."""
    return hashlib.sha256(unicodedata.normalize("NFKC", name).casefold().encode()).hexdigest()[:32]


def _known_browser(request: HttpRequest, account: str) -> str:
    """Return the browser's own id if it has logged in to this account before, else ""."""
    value = request.get_signed_cookie(COOKIE, default="", max_age=COOKIE_SECONDS)
    browser, _, known_account = (value or "").partition(" ")
    return browser if known_account == account else ""


def _remember_browser(request: HttpRequest, response: HttpResponse, account: str) -> None:
    response.set_signed_cookie(
        COOKIE,
        f"{secrets.token_urlsafe(12)} {account}",
        max_age=COOKIE_SECONDS,
        path=reverse("login"),
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )
