"""Requests, shows and downloads a study's bundle on its results page."""

from typing import Any

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from evalplatform.errors import EvalPlatformError
from hits.exporting import bundle_file, bundle_source, find_bundle, request_bundle
from hits.models import Pool, Scope
from hits.publishing import describe_public_orders
from hits.tasks import make_bundle_of_offering, make_bundle_of_pool
from hits.views.pooled_pages import find_scope, surroundings_of
from hits.views.study_pages import delay, page_address, tells_refusals, user_of
from hits.views.waiting import wait_for


def bundle_panel(scope: Scope) -> dict[str, Any]:
    """Return what `hits/_bundle.html` shows."""
    row, file = find_bundle(scope), bundle_file(scope)
    is_there = row.made_at is not None and file.exists()
    return {
        "row": row,
        "bytes": file.stat().st_size if is_there else 0,
        "is_there": is_there,
        "has_texts": row.is_with_texts and not row.is_under_way and not row.problem,
        "is_stale": is_there and row.source != bundle_source(scope),
        "is_quiet": row.is_quiet(timezone.now()),
        "wait": wait_for("Making the bundle", row),
        "are_orders_public": bool(describe_public_orders(scope.study)),
    }


@require_http_methods(["GET", "POST"])
@tells_refusals
def show_or_make(request: HttpRequest, name: str) -> HttpResponse:
    """GET returns the panel alone, which the page polls while the bundle is made; POST requests a bundle."""
    scope = find_scope(request, name)
    if request.method == "GET":
        context = {**surroundings_of(scope), "bundle": bundle_panel(scope)}
        return render(request, "hits/_bundle.html", context)
    fragment = "#bundle"
    try:
        request_bundle(scope, _send, user_of(request), timezone.now(), "texts" in request.POST)
    except EvalPlatformError as error:
        messages.error(request, str(error))
        fragment = ""  # the message is at the top
    return redirect(page_address("results", scope) + fragment)


@require_GET
@tells_refusals
def download(request: HttpRequest, name: str) -> HttpResponseBase:
    scope = find_scope(request, name)
    file = bundle_file(scope)
    if not bundle_panel(scope)["is_there"]:
        raise Http404("There is no bundle yet.")
    name = f"{scope.study.name}-{scope.marketplace}.zip"
    return FileResponse(file.open("rb"), as_attachment=True, filename=name)


def _send(scope: Scope) -> None:
    delay(make_bundle_of_pool if isinstance(scope, Pool) else make_bundle_of_offering, scope)
