"""Serve the marketplace's Requester API at a web address, for programs that have its keys."""

import socket

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from localturk.errors import ConnectionDropped
from localturk.openness import is_open
from localturk.requester_api import handle_call
from localturk.signatures import Call


@csrf_exempt
@login_not_required
@require_POST
def call_api(request: HttpRequest) -> HttpResponse:
    """Answer a call to the Requester API."""
    if not is_open():
        raise Http404
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        status, headers, body = handle_call(Call(request.path, headers, request.body))
    except ConnectionDropped:
        _drop_connection(request)
        return HttpResponse(status=502)
    return HttpResponse(body, status=status, headers=headers)


def _drop_connection(request: HttpRequest) -> None:
    """Close the connection without an answer. Django can't do that, but gunicorn gives us its socket. Under other
    servers, the caller answers with 502."""
    connection = request.META.get("gunicorn.socket")
    if isinstance(connection, socket.socket):
        connection.shutdown(socket.SHUT_RDWR)
