"""Opens the worker's page or refuses, by what the crowd says in the address; sets which sites may frame the page."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET

from evalplatform.client_address import client_address
from hits.crowds import CROWDS, USUAL_WORDS, CrowdWords, Preview, Visit, Word, arrival
from hits.models import Hit, Study
from hits.models.design import StudyDesign
from hits.serving import (
    FrozenHit,
    Refusal,
    Ticket,
    WorkRefused,
    frozen_hit,
    handed_in,
    open_assignment,
    preview_page,
    sign_token,
    submitted_page,
    work_page,
)

HELD_AGAIN = "held-again"
CAN_BE_HELD_AGAIN = {Refusal.TAKEN_OVER, Refusal.TIME_OVER}


@login_not_required
@never_cache
@gzip_page
@xframe_options_exempt  # frame-ancestors below does it instead, since it can name the marketplaces
@require_GET
def show_hit(request: HttpRequest, study_key: UUID, number: int) -> HttpResponse:
    try:
        hit = frozen_hit(study_key, number)
    except (Study.DoesNotExist, Hit.DoesNotExist):
        raise Http404 from None
    visit = arrival(request)
    words = CROWDS[visit.crowd].words if visit else USUAL_WORDS
    try:
        if visit is None:
            raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
        page = preview_page(hit, words) if isinstance(visit, Preview) else _work(request, hit, study_key, visit, words)
        response = render(request, "work/hit.html", page_context(hit.study.design, page))
    except WorkRefused as refused:
        response = _refuse(request, refused, words)
    response.headers["Content-Security-Policy"] = _policy(request)
    return response


def page_context(design: StudyDesign, page: dict[str, Any]) -> dict[str, Any]:
    """Return what work/hit.html needs to begin with this page's data."""
    return {
        "title": page["title"],
        "language": design.task.language,
        "protocol": design.protocol,
        "crowd": page["crowd"],
        "page": page,
    }


def _work(request: HttpRequest, hit: FrozenHit, study_key: UUID, visit: Visit, words: CrowdWords) -> dict[str, Any]:
    now = timezone.now()
    assignment = open_assignment(hit, visit, now, HELD_AGAIN in request.GET, client_address(request))
    if assignment.submitted_at is not None:
        held = CROWDS[visit.crowd].ask_holder(visit)
        return submitted_page(hit, words, handed_in(hit, assignment, visit.submit_to, held.word == Word.HOLDS))
    token = sign_token(Ticket(study_key, hit.number, visit))
    return work_page(hit, assignment, token, (now - assignment.held_at).total_seconds())


def _refuse(request: HttpRequest, refused: WorkRefused, crowd: CrowdWords) -> HttpResponse:
    again = request.GET.copy()
    again[HELD_AGAIN] = "1"
    words = refused.words(crowd)
    context = {
        "code": refused.refusal,
        "heading": words.heading,
        "message": words.message,
        "crowd": crowd,
        "continue_url": f"?{again.urlencode()}" if refused.refusal in CAN_BE_HELD_AGAIN else None,
    }
    return render(request, "work/refused.html", context, status=403)


def _policy(request: HttpRequest) -> str:
    """Allow only the crowds' sites to frame the page, and the page to hand in work only to them."""
    sites = [crowd.sites(request) for crowd in CROWDS.values()]
    local = " ".join(site for one in sites for site in one.local)
    receiving = " ".join(site for one in sites for site in one.receiving)
    framing = " ".join(site for one in sites for site in one.framing)
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        f"base-uri 'none'; form-action 'self' {receiving} {local}; frame-ancestors 'self' {framing} {local}"
    )
