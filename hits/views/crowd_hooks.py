"""Takes calls of crowds that tell of news (webhooks), and lets a background process look for them."""

from typing import cast

import structlog
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from hits.collecting import note_event
from hits.crowds import CROWDS, HookRefused, ListensToHooks
from hits.tasks import look_at_crowd_soon

MOST_BYTES = 100_000

log = structlog.get_logger("hits.views.crowd_hooks")


@csrf_exempt
@login_not_required
@require_POST
def take_hook(request: HttpRequest, crowd: str) -> HttpResponse:
    listener = CROWDS.get(crowd)
    if listener is None or not listener.abilities.has_hooks:
        raise Http404
    body, now = request.read(MOST_BYTES + 1), timezone.now()
    if len(body) > MOST_BYTES:
        return HttpResponse(status=413)
    try:
        event_id = cast(ListensToHooks, listener).read_hook(dict(request.headers), body, now)
    except HookRefused as refused:
        log.warning("hook_refused", crowd=crowd, reason=str(refused))
        return HttpResponse(status=403)
    if note_event(crowd, event_id, now):
        look_at_crowd_soon(crowd)
    return HttpResponse(status=204)
