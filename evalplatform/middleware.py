"""What every response passes through: one log line, and a Content-Security-Policy without inline script."""

import time
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse

log = structlog.get_logger("evalplatform.requests")

Handler = Callable[[HttpRequest], HttpResponse]

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)


def log_requests(get_response: Handler) -> Handler:
    def handle(request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = get_response(request)
        if not request.path.startswith("/static/"):
            milliseconds = round((time.perf_counter() - started) * 1000, 1)
            log.info("request", method=request.method, path=request.path, status=response.status_code, ms=milliseconds)
        return response

    return handle


def content_security_policy(get_response: Handler) -> Handler:
    def handle(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response

    return handle
