"""Requests, shows and downloads a study's bundle on its results page."""

from typing import Any

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from evalplatform.errors import EvalPlatformError
from hits.exporting import bundle_file, bundle_source, find_bundle, request_bundle
from hits.models import Offering
from hits.publishing import describe_public_orders
from hits.tasks import make_bundle_of_offering
from hits.views.study_pages import delay, find_offering, page_address, surroundings, tells_refusals, user_of
from hits.views.waiting import wait_for


def bundle_panel(offering: Offering) -> dict[str, Any]:
    """Return what `hits/_bundle.html` shows."""
    row, file = find_bundle(offering), bundle_file(offering)
    is_there = row.made_at is not None and file.exists()
    return {
        "row": row,
        "bytes": file.stat().st_size if is_there else 0,
        "is_there": is_there,
        "has_texts": row.is_with_texts and not row.is_under_way and not row.problem,
        "is_stale": is_there and row.source != bundle_source(offering),
        "is_quiet": row.is_quiet(timezone.now()),
        "wait": wait_for("Making the bundle", row),
        "are_orders_public": bool(describe_public_orders(offering.study)),
    }


@require_http_methods(["GET", "POST"])
@tells_refusals
def show_or_make(request: HttpRequest, name: str) -> HttpResponse:
    """GET returns the panel alone, which the page polls while the bundle is made; POST requests a bundle."""
    offering = find_offering(request, name)
    if request.method == "GET":
        context = {**surroundings(offering), "bundle": bundle_panel(offering)}
        return render(request, "hits/_bundle.html", context)
    fragment = "#bundle"
    try:
        request_bundle(offering, _send, user_of(request), timezone.now(), "texts" in request.POST)
    except EvalPlatformError as error:
        messages.error(request, str(error))
        fragment = ""  # the message is at the top
    return redirect(page_address("results", offering) + fragment)


@require_GET
def download(request: HttpRequest, name: str) -> FileResponse:
    offering = find_offering(request, name)
    file = bundle_file(offering)
    if not bundle_panel(offering)["is_there"]:
        raise Http404("There is no bundle yet.")
    name = f"{offering.study.name}-{offering.marketplace}.zip"
    return FileResponse(file.open("rb"), as_attachment=True, filename=name)


def _send(offering: Offering) -> None:
    delay(make_bundle_of_offering, offering)
