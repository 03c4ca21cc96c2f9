"""Opens the worker's page or refuses, by what the crowd says in the address; sets which sites may frame the page."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
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
from hits.crowds import CROWDS, USUAL_WORDS, CrowdWords, HandBack, Preview, Visit, Word, arrival, planned_crowd
from hits.models import Assignment, Hit, Study
from hits.serving import (
    FrozenHit,
    Paid,
    Refusal,
    Ticket,
    WorkRefused,
    ask_crowd,
    frozen_hit,
    frozen_offering,
    handed_in,
    open_assignment,
    open_free_assignment,
    page_context,
    preview_page,
    sign_token,
    submitted_page,
    way_back,
    who_pays,
    work_page,
)

OpenIt = Callable[[FrozenHit, Visit, datetime, bool, str], Assignment]

HELD_AGAIN = "held-again"
CAN_BE_HELD_AGAIN = {Refusal.TAKEN_OVER, Refusal.TIME_OVER}


@login_not_required
@never_cache
@gzip_page
@xframe_options_exempt  # frame-ancestors below does it instead, since it can name the marketplaces
@require_GET
def show_hit(request: HttpRequest, study_key: UUID, number: int) -> HttpResponse:
    try:
        visit = arrival(request)
        offering = frozen_offering(study_key, visit) if isinstance(visit, Visit) else None
        hit = frozen_hit(study_key, number, offering)
    except (Study.DoesNotExist, Hit.DoesNotExist):
        raise Http404 from None
    return _answer(request, hit, open_assignment)


@login_not_required
@never_cache
@gzip_page
@xframe_options_exempt
@require_GET
def show_study(request: HttpRequest, study_key: UUID) -> HttpResponse:
    """Open the page for a crowd that sends its workers to the study: the visitor is given a HIT. A preview shows the
    first one."""
    try:
        first = frozen_hit(study_key, 0)
    except (Study.DoesNotExist, Hit.DoesNotExist):
        raise Http404 from None

    def open_free(hit: FrozenHit, visit: Visit, now: datetime, is_held_again: bool, address: str) -> Assignment:
        return open_free_assignment(hit.study, visit, now, is_held_again, address)

    return _answer(request, first, open_free)


def _answer(request: HttpRequest, hit: FrozenHit, open_it: OpenIt) -> HttpResponse:
    visit = arrival(request)
    words = CROWDS[visit.crowd].words if visit else USUAL_WORDS
    environment = visit.environment if isinstance(visit, Visit) else ""
    paid = who_pays(hit.study.design, CROWDS[visit.crowd] if visit else planned_crowd(hit.study.design), environment)
    try:
        if visit is None:
            raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
        page = (
            preview_page(hit, words, paid) if isinstance(visit, Preview) else _work(request, hit, open_it, visit, words)
        )
        response = render(request, "work/hit.html", page_context(hit.study.design, page, paid))
    except WorkRefused as refused:
        back = way_back(hit.study.key, visit, refused.refusal) if isinstance(visit, Visit) else None
        response = _refuse(request, refused, words, back, paid)
    response.headers["Content-Security-Policy"] = _policy(request)
    return response


def _work(request: HttpRequest, hit: FrozenHit, open_it: OpenIt, visit: Visit, words: CrowdWords) -> dict[str, Any]:
    now, study_key = timezone.now(), hit.study.key
    assignment = open_it(hit, visit, now, HELD_AGAIN in request.GET, client_address(request))
    if assignment.hit_id != hit.pk:
        hit = frozen_hit(study_key, assignment.hit.number, frozen_offering(study_key, visit))
    if assignment.submitted_at is not None:
        held = ask_crowd(study_key, visit)
        told = handed_in(hit, assignment, visit.submit_to, held.word == Word.HOLDS)
        return submitted_page(hit, assignment.offering, told)
    token = sign_token(Ticket(study_key, hit.number, visit))
    return work_page(hit, assignment, token, (now - assignment.held_at).total_seconds())


def _refuse(
    request: HttpRequest, refused: WorkRefused, crowd: CrowdWords, back: HandBack | None, paid: Paid
) -> HttpResponse:
    again = request.GET.copy()
    again[HELD_AGAIN] = "1"
    # Whoever is sent back has a button for it below, instead of the crowd's advice how to leave.
    words = refused.words(replace(crowd, return_it=back.note) if back else crowd, paid)
    context = {
        "code": refused.refusal,
        "heading": words.heading,
        "message": words.message,
        "crowd": crowd,
        "back": back,
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
