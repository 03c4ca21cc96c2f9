"""Shows results through a share link, read-only, to people without an account.

Whoever has the link sees what the last computation found: no forms, no workers' names, no links into pages that need an
account. A look at interim results is a look, as on the results page. Unknown, expired and revoked links get the same
answer; guessing is slowed down by address.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET

from evalplatform.client_address import client_address
from evalplatform.throttling import Limit, TooManyAttempts, begin_attempt, end_well
from hits.access import open_share_link
from hits.analysing import describe_origin, find_results, note_look, origin_of_work, source_of
from hits.models import ShareLink
from hits.screening import screening_warning
from hits.views.dialogs_page import dialogs_context
from hits.views.results_page import found_results

LAYOUT = "hits/shared_page.html"

SharedView = Callable[[HttpRequest, ShareLink, str], HttpResponse]


def for_link_holders(view: SharedView) -> Callable[[HttpRequest, str], HttpResponse]:
    """Open the link, or say that it opens nothing. No answer may be kept, indexed, or named to another site."""

    @login_not_required
    @require_GET
    @never_cache
    @wraps(view)
    def show(request: HttpRequest, token: str) -> HttpResponse:
        response = _answer(view, request, token)
        response.headers["Referrer-Policy"] = "no-referrer"  # the address is the key
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    return show


def _answer(view: SharedView, request: HttpRequest, token: str) -> HttpResponse:
    limits = [Limit("share link", client_address(request), free=20, most_seconds=300)]
    try:
        begin_attempt(limits, timezone.now())
    except TooManyAttempts as too_many:
        context = {"problem": str(too_many)}
        response = render(request, "hits/shared_closed.html", context, status=429)
        response.headers["Retry-After"] = str(too_many.seconds)
        return response
    link = open_share_link(token, timezone.now())
    if link is None:
        return render(request, "hits/shared_closed.html", status=404)
    end_well(limits)
    return view(request, link, token)


@gzip_page
@for_link_holders
def show_results(request: HttpRequest, link: ShareLink, token: str) -> HttpResponse:
    offering, row = link.offering, find_results(link.offering)
    dialogs = f"{reverse('shared-dialogs', args=[token])}?" if link.shows_dialogs else ""
    context = {
        **_surroundings(link),
        "row": row,
        "is_stale": bool(row.results) and row.source != source_of(offering),
        "screening_warning": screening_warning(offering),
        **(found_results(row, request.GET, dialogs) if row.results else {}),
    }
    if row.results:
        note_look(offering, context["progress"], row.source, None, timezone.now(), by_link=True)
    return render(request, "hits/results.html", context)


@for_link_holders
def show_dialogs(request: HttpRequest, link: ShareLink, token: str) -> HttpResponse:
    if not link.shows_dialogs:
        return render(request, "hits/shared_closed.html", status=404)
    context = {
        **_surroundings(link),
        **dialogs_context(link.offering, request.GET, names_workers=False),
        "results_address": reverse("shared-results", args=[token]),
    }
    return render(request, "hits/dialogs.html", context)


def _surroundings(link: ShareLink) -> dict[str, Any]:
    return {
        "layout": LAYOUT,
        "is_shared": True,
        "link": link,
        "study": link.offering.study,
        "market": link.offering.marketplace,
        "origin_words": describe_origin(origin_of_work(link.offering)),
    }
