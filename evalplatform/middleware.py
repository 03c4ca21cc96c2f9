"""Handle every request: log line, log-in, Content-Security-Policy, refusals as a page, no NUL characters.

After these, requests of workers, for the health page and by share links go straight to their views.
"""

import time
from collections.abc import Callable
from typing import Any

import structlog
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase
from django.shortcuts import render
from django.template.response import SimpleTemplateResponse
from django.urls import get_resolver

from evalplatform.errors import EvalPlatformError
from evalplatform.logs import without_secrets

log = structlog.get_logger("evalplatform.requests")

Handler = Callable[[HttpRequest], HttpResponse]

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)


SHARED = "/shared/"


def log_requests(get_response: Handler) -> Handler:
    def handle(request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = get_response(request)
        if not request.path.startswith("/static/"):
            milliseconds = round((time.perf_counter() - started) * 1000, 1)
            # A worker's page saves after every move of a card, so successful saves are logged at level DEBUG only.
            is_usual = request.path.startswith("/work/api/") and response.status_code == 200
            note = log.debug if is_usual else log.info
            note(
                "request",
                method=request.method,
                path=without_secrets(request.path),
                status=response.status_code,
                ms=milliseconds,
            )
        return response

    return handle


def content_security_policy(get_response: Handler) -> Handler:
    def handle(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response

    return handle


class LogInRequired(LoginRequiredMiddleware):
    """Requires a log-in, except for views that need none. Django's own asks the database for the user in any case; this
    does not, so that the log-in page is shown even if the database is away."""

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase], view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        if not getattr(view_func, "login_required", True):
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)


class TellRefusals:
    """Show an EvalPlatformError that no view has caught as a page with its one line, instead of a 500."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, EvalPlatformError):
            return None
        log.warning("refused", path=without_secrets(request.path), error=str(error))
        return render(request, "409.html", {"message": str(error)}, status=409)


READ_BY_THEMSELVES = (
    "/work/api/",
    "/localturk/",
    "/localprolific/api/",
    "/market/mturk/",
)  # these views read the raw body themselves, so nobody may read it before
MOST_BYTES = 20_000_000
UPLOADS = "/ratings/"  # the one page that takes files: larger ones than MOST_BYTES, from those who are logged in


def refuse_nul(get_response: Handler) -> Handler:
    """Refuse requests with the character NUL. No form of ours sends it, and PostgreSQL would end with an error."""

    def handle(request: HttpRequest) -> HttpResponse:
        if _is_large(request) and not _is_upload(request):
            return _refuse_large()
        if _has_nul(request):
            return HttpResponseBadRequest("The request has the character NUL in it, which is not allowed.\n")
        return get_response(request)

    return handle


def limit_uploads(get_response: Handler) -> Handler:
    """Refuse large files from strangers, before any code reads them.

    A researcher's file of any size is read to its end: the upload handler drops what is beyond UPLOAD_MB, and the page
    says so. A browser whose file is not read shows a lost connection instead of an answer.
    """

    def handle(request: HttpRequest) -> HttpResponse:
        if _is_large(request) and not request.user.is_authenticated:
            return _refuse_large()
        return get_response(request)

    return handle


def _is_large(request: HttpRequest) -> bool:
    length = request.META.get("CONTENT_LENGTH") or ""
    return length.isdecimal() and int(length) > MOST_BYTES


def _is_upload(request: HttpRequest) -> bool:
    return request.path_info == UPLOADS and request.content_type == "multipart/form-data"


def _refuse_large() -> HttpResponse:
    return HttpResponse("The request is larger than any page here accepts.\n", status=413)


def _has_nul(request: HttpRequest) -> bool:
    if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
        return True
    if request.content_type == "application/x-www-form-urlencoded":
        return b"%00" in request.body or b"\0" in request.body
    if _is_upload(request):
        return False  # nothing is read of it before the log-in is known (limit_uploads); the view reads only the file
    if request.content_type == "multipart/form-data" and not request.path_info.startswith(READ_BY_THEMSELVES):
        return any("\0" in text for name, texts in request.POST.lists() for text in (name, *texts))
    return False  # JSON is checked by the code that reads it


def skip_sessions(get_response: Handler) -> Handler:
    """Skip sessions, users, CSRF cookies and messages for requests that need none of them.

    A worker's page has a token instead, and about fifteen requests a HIT, of which these would take a good part. And
    the health page must be shown even if the database, which holds sessions and users, does not answer. Whoever has a
    share link sees the same, with or without an account.
    """
    prefixes = ("/work/", "/join/", SHARED, "/health/")

    def call_view(request: HttpRequest) -> HttpResponse:
        found = get_resolver("evalplatform.open_urls").resolve(request.path_info)
        request.resolver_match = found
        try:
            response: HttpResponse = found.func(request, *found.args, **found.kwargs)
        except EvalPlatformError as error:  # for the researcher, who finds it in the log; workers read "try again"
            log.error("refused", path=without_secrets(request.path), error=str(error))
            return render(request, "500.html", status=503)
        return response.render() if isinstance(response, SimpleTemplateResponse) else response

    straight: Handler = convert_exception_to_response(call_view)  # type: ignore[assignment]  # it is never async here

    def handle(request: HttpRequest) -> HttpResponse:
        return straight(request) if request.path_info.startswith(prefixes) else get_response(request)

    return handle
