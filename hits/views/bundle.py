"""A study's bundle on its results page: asked for, waited for, downloaded."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from evalplatform.errors import EvalPlatformError
from hits.exporting.kept_bundles import bundle_file, bundle_source, find_bundle, request_bundle
from hits.models import Study
from hits.tasks import make_bundle_of_study
from hits.views.study_pages import delay, find_study, surroundings, tells_refusals, user_of
from hits.views.waiting import wait_for


def bundle_panel(study: Study, environment: str) -> dict[str, Any]:
    """What `hits/_bundle.html` shows."""
    row, file = find_bundle(study, environment), bundle_file(study, environment)
    is_there = row.made_at is not None and file.exists()
    return {
        "row": row,
        "bytes": file.stat().st_size if is_there else 0,
        "is_there": is_there,
        "is_stale": is_there and row.source != bundle_source(study, environment),
        "is_quiet": row.is_quiet(timezone.now()),
        "wait": wait_for("Making the bundle", row.requested_at, row.started_at),
    }


@require_http_methods(["GET", "POST"])
@tells_refusals
def show_or_make(request: HttpRequest, name: str) -> HttpResponse:
    """GET returns the panel alone, which the page polls while the bundle is made; POST requests a bundle."""
    study, environment = find_study(request, name)
    if request.method == "GET":
        context = {**surroundings(study, environment), "bundle": bundle_panel(study, environment)}
        return render(request, "hits/_bundle.html", context)
    place = "#bundle"
    try:
        request_bundle(study, environment, _send, user_of(request), timezone.now())
    except EvalPlatformError as error:
        messages.error(request, str(error))
        place = ""  # the message is at the top
    return redirect(f"{reverse('results', args=[study.name])}?{urlencode({'market': environment})}{place}")


@require_GET
def download(request: HttpRequest, name: str) -> FileResponse:
    study, environment = find_study(request, name)
    file = bundle_file(study, environment)
    if not bundle_panel(study, environment)["is_there"]:
        raise Http404("There is no bundle yet.")
    return FileResponse(file.open("rb"), as_attachment=True, filename=f"{study.name}-{environment}.zip")


def _send(study_id: int, environment: str) -> None:
    delay(make_bundle_of_study, study_id, environment)
