"""Serve the API and the key set at web addresses, for programs that have a token."""

import socket

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from localprolific.api_calls import handle
from localprolific.errors import AnswerLost
from localprolific.hook_sending import send_soon
from localprolific.openness import is_open_to
from localprolific.signed_links import key_set

PREFIX = "/localprolific"


@csrf_exempt
@login_not_required
def call_api(request: HttpRequest, rest: str) -> HttpResponse:
    """Answer a call to the API."""
    if not is_open_to(request):
        raise Http404
    query = request.META.get("QUERY_STRING", "")
    path = f"/api/v1/{rest}" + (f"?{query}" if query else "")
    base_url = request.build_absolute_uri(PREFIX)
    try:
        answer = handle(request.method or "GET", path, request.body, dict(request.headers), base_url=base_url)
    except AnswerLost:
        _drop_connection(request)
        return HttpResponse(status=502)
    send_soon()
    return HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))


@login_not_required
@require_GET
def show_keys(request: HttpRequest) -> HttpResponse:
    if not is_open_to(request):
        raise Http404
    return JsonResponse(key_set(), headers={"Cache-Control": "max-age=86400"})


def _drop_connection(request: HttpRequest) -> None:
    """Close the connection without an answer. Django can't do that, but gunicorn gives us its socket. Under other
    servers, the caller answers with 502."""
    connection = request.META.get("gunicorn.socket")
    if isinstance(connection, socket.socket):
        connection.shutdown(socket.SHUT_RDWR)
