"""The worker's page: opened in the marketplace's frame, with its four parameters in the address."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET

from evalplatform.client_address import client_address
from hits.crowds.mturk.holding import Word, ask_holder
from hits.crowds.mturk.worker_sites import IN_THIS_PROCESS, SUBMIT_SITES, WORKER_SITES
from hits.models import Hit, Study
from hits.serving.assignment_tokens import Ticket, sign_token
from hits.serving.frozen import FrozenHit, frozen_hit
from hits.serving.opening import Visit, open_assignment, origin_of
from hits.serving.page_data import as_json_in_html, preview_page, submitted_page, work_page
from hits.serving.saving import handed_in
from hits.serving.work_refusals import Refusal, WorkRefused

HELD_AGAIN = "held-again"
CAN_BE_HELD_AGAIN = {Refusal.TAKEN_OVER, Refusal.TIME_OVER}


@login_not_required
@never_cache
@gzip_page
@xframe_options_exempt  # by frame-ancestors below instead, which can name the marketplaces
@require_GET
def show_hit(request: HttpRequest, study_key: UUID, number: int) -> HttpResponse:
    try:
        hit = frozen_hit(study_key, number)
    except (Study.DoesNotExist, Hit.DoesNotExist):
        raise Http404 from None
    visit = Visit(*(request.GET.get(name, "") for name in ("assignmentId", "hitId", "workerId", "turkSubmitTo")))
    try:
        page = preview_page(hit) if visit.is_preview else _work(request, hit, study_key, visit)
        task = hit.study.design.task
        context = {
            "title": task.title,
            "language": task.language,
            "protocol": hit.study.design.protocol,
            "data": as_json_in_html(page),
        }
        response = render(request, "work/hit.html", context)
    except WorkRefused as refused:
        response = _refuse(request, refused)
    response.headers["Content-Security-Policy"] = _policy(request)
    return response


def _work(request: HttpRequest, hit: FrozenHit, study_key: UUID, visit: Visit) -> dict[str, Any]:
    now = timezone.now()
    assignment = open_assignment(
        hit, visit, _local_origins(request), now, HELD_AGAIN in request.GET, client_address(request)
    )
    submit_to = visit.submit_to.rstrip("/")
    if assignment.submitted_at is not None:
        held = ask_holder(assignment.environment, visit.hit_id, visit.assignment_id, visit.worker_id)
        return submitted_page(hit, handed_in(hit, assignment, submit_to, held.word == Word.HOLDS))
    ids = visit.assignment_id, visit.worker_id, visit.hit_id
    ticket = Ticket(study_key, hit.number, assignment.environment, *ids, submit_to)
    return work_page(hit, assignment, sign_token(ticket), (now - assignment.held_at).total_seconds())


def _refuse(request: HttpRequest, refused: WorkRefused) -> HttpResponse:
    again = request.GET.copy()
    again[HELD_AGAIN] = "1"
    context = {
        "code": refused.refusal,
        "heading": refused.words.heading,
        "message": str(refused),
        "continue_url": f"?{again.urlencode()}" if refused.refusal in CAN_BE_HELD_AGAIN else None,
    }
    return render(request, "work/refused.html", context, status=403)


def _local_origins(request: HttpRequest) -> list[str]:
    """Where a marketplace of our own may be: on this very server, if it is open there, or where the settings say.

    Where it is closed, nobody can come from it, whatever a visitor claims; but a simulated crowd in this process may
    (no header that a visitor sends gets into META under such a name)."""
    here = [f"{request.scheme}://{request.get_host()}", origin_of(settings.PUBLIC_URL)]
    is_here = settings.LOCAL_MARKET or IN_THIS_PROCESS in request.META
    return [*(here if is_here else ["", ""]), origin_of(settings.MTURK_LOCAL_URL)]


def _policy(request: HttpRequest) -> str:
    """Framed by the marketplaces only, and handing in to them only."""
    local = " ".join(origin for origin in _local_origins(request)[1:] if origin)
    submit_sites = " ".join(site for sites in SUBMIT_SITES.values() for site in sites)
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        f"base-uri 'none'; form-action 'self' {submit_sites} {local}; "
        f"frame-ancestors 'self' {' '.join(WORKER_SITES.values())} {local}"
    )
