import socket

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from hits.localturk.errors import ConnectionDropped
from hits.localturk.wire import handle, operation_of


@csrf_exempt
@login_not_required
@require_POST
def call_api(request: HttpRequest) -> HttpResponse:
    """The Requester API in the web process. Signatures are not looked at, as everywhere in the local marketplace."""
    try:
        status, headers, body = handle(operation_of(request.headers.get("X-Amz-Target")), request.body)
    except ConnectionDropped:
        _drop(request)
        return HttpResponse(status=502)
    return HttpResponse(body, status=status, headers=headers)


def _drop(request: HttpRequest) -> None:
    """Django knows no way to say nothing; gunicorn lends its socket. Other servers say 502."""
    connection = request.META.get("gunicorn.socket")
    if isinstance(connection, socket.socket):
        connection.shutdown(socket.SHUT_RDWR)
