"""The researcher's pages on studies: the list, one study, its HITs, and building and copying it."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from kombu.exceptions import OperationalError

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.batching import build_hits
from hits.designing.checking import problems_of
from hits.designing.selecting import select_dialogs
from hits.designing.studies import checked_design, copy_study, start_draft
from hits.designing.summarising import check_study_style, summarise, summarise_frozen
from hits.manifest import manifest_lines
from hits.models import Study
from hits.models.design import StudyDesign
from hits.sharing import can_invite, study_for, visible_studies
from hits.tasks import build_hits_of_study
from hits.views.publishing import publishing_panel
from hits.views.setting_fields import in_short
from hits.views.study_pages import user_of
from hits.views.study_steps import STEPS
from hits.views.worker_preview import preview_hit, preview_texts

HITS_PER_PAGE = 30
MOST_DIALOGS_BUILT_AT_ONCE = 3_000


@require_http_methods(["GET", "POST"])
def list_or_create(request: HttpRequest) -> HttpResponse:
    if request.method == "GET":
        return render(request, "hits/studies.html", {"studies": visible_studies(request.user)})
    try:
        study = start_draft(request.POST.get("name", "").strip(), user_of(request))
    except EvalPlatformError as error:
        messages.error(request, str(error))
        return redirect("studies")
    return redirect("edit-study", name=study.name, step="data")


@require_GET
def show_study(request: HttpRequest, name: str) -> HttpResponse:
    study = study_for(request.user, name=name)
    problems = [] if study.is_frozen else problems_of(study.design)
    design = None if problems else StudyDesign.model_validate(study.design)
    summary = summarise_frozen(study) if study.is_frozen else design and summarise(design)
    hits = study.hits.annotate(item_count=Count("items")).order_by("number")
    context = {
        "study": study,
        "problems": problems,
        "summary": summary,
        "style": study.style_report if study.is_frozen else design and _style_of_draft(design),
        "page": Paginator(hits, HITS_PER_PAGE).get_page(request.GET.get("page")),
        "design": _design_rows(study),
        "publishing": study.is_frozen and publishing_panel(study, request.GET),
        "memberships": study.memberships.select_related("user"),
        "can_invite": can_invite(study, user_of(request)),
    }
    return render(request, "hits/study.html", context)


def _style_of_draft(design: StudyDesign) -> dict[str, Any]:
    return check_study_style(design, select_dialogs(design)).as_json()


@require_POST
def build(request: HttpRequest, name: str) -> HttpResponse:
    study = study_for(request.user, name=name)
    try:
        design = checked_design(study.design)
        if sum(part.dialog_count for part in design.datasets) > MOST_DIALOGS_BUILT_AT_ONCE:
            _build_on_worker(study)
        else:
            built = build_hits(study)
            messages.success(
                request, f"{count_of(built.hit_count, 'HIT is', 'HITs are')} built, and the design is frozen."
            )
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect("study", name=name)


def _build_on_worker(study: Study) -> None:
    """A large study takes longer than a browser and a web server wait."""
    Study.objects.filter(pk=study.pk).update(build_requested_at=timezone.now())
    try:
        build_hits_of_study.delay(study.pk)
    except OperationalError:
        Study.objects.filter(pk=study.pk).update(build_requested_at=None)
        raise EvalPlatformError("Building can't start: the broker does not answer. See the Health page.") from None


@require_POST
def copy(request: HttpRequest, name: str) -> HttpResponse:
    study = study_for(request.user, name=name)
    try:
        copied = copy_study(study, request.POST.get("name", "").strip(), user_of(request))
    except EvalPlatformError as error:
        messages.error(request, str(error))
        return redirect("study", name=name)
    return redirect("edit-study", name=copied.name, step="data")


@require_GET
def download_manifest(request: HttpRequest, name: str) -> StreamingHttpResponse:
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    headers = {"Content-Disposition": f'attachment; filename="{study.name}-manifest.jsonl"'}
    return StreamingHttpResponse(manifest_lines(study), content_type="application/jsonl", headers=headers)


@require_GET
def show_hit(request: HttpRequest, name: str, number: int) -> HttpResponse:
    study = study_for(request.user, name=name)
    hit = get_object_or_404(study.hits, number=number)
    design = StudyDesign.model_validate(study.design)
    context = {
        "study": study,
        "hit": hit,
        "texts": preview_texts(design.task),
        "items": preview_hit(hit, design),
        "previous_number": number - 1,
        "next_number": number + 1,
        "has_next": study.hits.filter(number=number + 1).exists(),
    }
    return render(request, "hits/hit.html", context)


def _design_rows(study: Study) -> list[dict[str, Any]]:
    return [
        {
            "title": step.title,
            "rows": [
                {"label": field.label, "value": _in_words(field.value_in(study.design))} for field in step.fields()
            ],
        }
        for step in STEPS
    ]


def _in_words(value: Any) -> Any:
    """Lists of settings a line each, their parts apart; all else as the form shows it."""
    if isinstance(value, dict):
        return " · ".join(str(_in_words(part)) for part in value.values())
    if isinstance(value, list):
        return ("\n" if any(isinstance(one, dict) for one in value) else ", ").join(
            str(_in_words(one)) for one in value
        )
    return "none" if value == "" else in_short(value)
