"""Shows the list of studies, one study and its HITs; builds (large ones in the background) and copies a study."""

from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access import study_for, visible_studies
from hits.background import send_once
from hits.batching import build_hits, has_large_manifest, manifest_file, manifest_lines
from hits.crowds import crowd_of
from hits.designing import checked_design, copy_study, start_draft
from hits.models import Offering, Study
from hits.monitoring import listed_studies
from hits.tasks import build_hits_of_study, write_manifest_of_study
from hits.views.previewed_hit import previewed_items
from hits.views.refused import STATUS, refused_form
from hits.views.study_overview import render_study
from hits.views.study_pages import user_of

MOST_DIALOGS_BUILT_AT_ONCE = 3_000


@require_http_methods(["GET", "POST"])
def list_or_create(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {"listed": listed_studies(visible_studies(request.user))}
    if request.method == "GET":
        return render(request, "hits/studies.html", context)
    try:
        study = start_draft(request.POST.get("name", "").strip(), user_of(request))
    except EvalPlatformError as error:
        context["refused"] = refused_form("start", error, request.POST.dict(), "study-name")
        return render(request, "hits/studies.html", context, status=STATUS)
    return redirect("edit-study", name=study.name, step="data")


@require_GET
def show_study(request: HttpRequest, name: str) -> HttpResponse:
    return render_study(request, study_for(request.user, name=name))


@require_POST
def build(request: HttpRequest, name: str) -> HttpResponse:
    study = study_for(request.user, name=name)
    try:
        design = checked_design(study.design)
        if sum(part.dialog_count for part in design.datasets) > MOST_DIALOGS_BUILT_AT_ONCE:
            send_once(build_hits_of_study, study)  # this takes longer than browsers and web servers wait
        else:
            built = build_hits(study)
            messages.success(
                request, f"{count_of(built.hit_count, 'HIT is', 'HITs are')} built, and the design is frozen."
            )
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect("study", name=name)


@require_http_methods(["GET", "POST"])
def copy(request: HttpRequest, name: str) -> HttpResponse:
    study = study_for(request.user, name=name)
    if request.method == "GET":
        return redirect("study", name=name)
    try:
        copied = copy_study(study, request.POST.get("name", "").strip(), user_of(request))
    except EvalPlatformError as error:
        return render_study(request, study, refused_form("copy", error, request.POST.dict(), "copy-name"))
    return redirect("edit-study", name=copied.name, step="data")


@require_GET
def download_manifest(request: HttpRequest, name: str) -> FileResponse | HttpResponse | StreamingHttpResponse:
    """Download the manifest. A small study's is made on the fly; a large one's takes half a minute, so it is a file."""
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    if has_large_manifest(study):
        file = manifest_file(study)
        if file.exists():
            return FileResponse(file.open("rb"), as_attachment=True, filename=f"{study.name}-manifest.jsonl")
        return _write_manifest(request, study)
    headers = {"Content-Disposition": f'attachment; filename="{study.name}-manifest.jsonl"'}
    return StreamingHttpResponse(manifest_lines(study), content_type="application/jsonl", headers=headers)


def _write_manifest(request: HttpRequest, study: Study) -> HttpResponse:
    try:
        send_once(write_manifest_of_study, study)
        messages.info(request, "The manifest is being written to a file. Download it when that is done.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect("study", name=study.name)


def _latest_offering(study: Study) -> dict[str, Any]:
    """Return where the study's tabs lead from a page that belongs to no marketplace: to the one that came last."""
    offering = Offering.objects.filter(study=study).order_by("-pk").first()
    if offering is None:
        return {}
    return {"market": offering.marketplace, "has_links": crowd_of(offering).abilities.comes_by_links}


@require_GET
def show_hit(request: HttpRequest, name: str, number: int) -> HttpResponse:
    study = study_for(request.user, name=name)
    hit = get_object_or_404(study.hits, number=number)
    context = {
        "study": study,
        "hit": hit,
        **_latest_offering(study),
        "items": previewed_items(hit),
        "previous_number": number - 1,
        "next_number": number + 1,
        "has_next": study.hits.filter(number=number + 1).exists(),
    }
    return render(request, "hits/hit.html", context)
