"""Shows the page "Ratings from elsewhere": upload a file, check what its columns are, and read the same results."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evalplatform.background_work import send_task
from evalplatform.errors import EvalPlatformError
from hits.analysing import report_of, results_from_json
from hits.elsewhere import (
    FACETS,
    ROLES,
    TITLES,
    ColumnMapping,
    FirstLook,
    delete_upload,
    find_upload,
    guess_mapping,
    keep_upload,
    look_at_upload,
    request_analysis,
    too_large,
    upload_bundle_file,
    uploads_of,
)
from hits.models import RatingsUpload
from hits.models.ratings_upload import most_upload_bytes
from hits.tasks import analyse_ratings_upload
from hits.views.drawn_figures import drawn_figures
from hits.views.leaderboard import leaderboard_file, leaderboard_of
from hits.views.refused import STATUS, refused_form
from hits.views.result_sections import page_sections
from hits.views.study_pages import user_of
from hits.views.waiting import wait_for

SHOWN_ROWS, SHOWN_COLUMNS, SHOWN_CELL = 5, 30, 80
HINTS = {
    "item": "what was replied to; without it, each line is an item",
    "worker": "who rated; without it, raters are not identified",
    "generator": "which model replied; without it, nothing is compared",
    "dataset": "if there are several",
    "criterion": "if each line says what was asked",
}
KINDS = {
    "": "recognise them",
    "numbers": "numbers, the higher the better",
    "words": "words with an order, named below",
    "labels": "labels without an order",
}


@require_http_methods(["GET", "POST"])
def list_or_upload(request: HttpRequest) -> HttpResponse:
    user, refused = _researcher(request), None
    if request.method == "POST":
        file = request.FILES.get("file")
        try:
            if file is None:
                raise EvalPlatformError(f"Choose a file. {too_large()}")
            upload, is_new = keep_upload(user, file.name or "", file.chunks(), timezone.now())
        except EvalPlatformError as error:
            refused = refused_form("upload", error, {}, "file")
        else:
            if not is_new:
                messages.info(request, "You have uploaded this file before: here it is.")
            return redirect("ratings-upload", key=upload.key)
    context = {"uploads": uploads_of(user), "refused": refused, "limit": too_large(), "most_bytes": most_upload_bytes()}
    return render(request, "hits/ratings_uploads.html", context, status=STATUS if refused else 200)


@gzip_page
@require_http_methods(["GET", "POST"])
def show_or_analyse(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    upload, refused = _find(request, key), None
    try:
        look = look_at_upload(upload)
    except EvalPlatformError as error:
        messages.error(request, f"The file can't be read any more: {error}")
        return redirect("ratings-uploads")
    mapping = ColumnMapping.model_validate(upload.mapping) if upload.mapping else guess_mapping(look)
    if request.method == "POST":
        mapping = _mapping_of(request.POST, look)
        try:
            if not request_analysis(upload, mapping, look, _send, timezone.now()):
                messages.info(request, "These results are there already, or are being computed.")
        except EvalPlatformError as error:
            refused = refused_form("mapping", error, {}, "form")
        else:
            return redirect("ratings-upload", key=upload.key)
    context = {**_state(upload), **_form(look, mapping), "refused": refused, **_found(upload, request.GET)}
    return render(request, "hits/ratings_upload.html", context, status=STATUS if refused else 200)


@require_GET
def show_live(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Render how far the computation is; the page polls this, and reloads once it is done."""
    upload = _find(request, key)
    response = render(request, "hits/_upload_state.html", _state(upload))
    if not upload.is_under_way:
        response.headers["HX-Refresh"] = "true"
    return response


@require_GET
def download_leaderboard(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Send the table that the page shows under the same address, as CSV."""
    upload = _find(request, key)
    report = report_of(results_from_json(upload.results)) if upload.results else None
    board = leaderboard_of(report, request.GET) if report else None
    if report is None or board is None:
        raise Http404("There is no table to download.")
    return leaderboard_file(board, report, f"ratings-{upload.sha256[:12]}")


@require_POST
def delete(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    upload = _find(request, key)
    delete_upload(upload)
    messages.success(request, f"{upload.name} and its results are deleted.")
    return redirect("ratings-uploads")


@require_GET
def download(request: HttpRequest, key: uuid.UUID) -> FileResponse:
    upload = _find(request, key)
    file = upload_bundle_file(upload)
    if not upload.results or not file.exists():
        raise Http404("There is no bundle yet.")
    return FileResponse(file.open("rb"), as_attachment=True, filename=f"ratings-{upload.sha256[:12]}.zip")


def _researcher(request: HttpRequest) -> User:
    user = user_of(request)
    if user is None:
        raise Http404
    return user


def _find(request: HttpRequest, key: uuid.UUID) -> RatingsUpload:
    upload = find_upload(user_of(request), key)
    if upload is None:
        raise Http404("There is no such file of yours.")
    return upload


def _send(upload: RatingsUpload) -> None:
    send_task(analyse_ratings_upload, upload.pk)


# --- What the templates show ------------------------------------------------------------------------------------------


def _state(upload: RatingsUpload) -> dict[str, Any]:
    return {
        "upload": upload,
        "percent": round(100 * upload.done_share),
        "is_quiet": upload.is_quiet(timezone.now()),
        "wait": wait_for("Computing the results", upload),
    }


@dataclass(frozen=True)
class _Choice:
    role: str
    title: str
    hint: str
    value: str


def _form(look: FirstLook, mapping: ColumnMapping) -> dict[str, Any]:
    has_pattern = bool(mapping.values) and "{" in mapping.values[0]
    shown = look.columns[:SHOWN_COLUMNS]
    return {
        "look": look,
        "shown_columns": shown,
        "hidden_columns": len(look.columns) - len(shown),
        "sample": [
            [cell if len(cell) <= SHOWN_CELL else f"{cell[:SHOWN_CELL]}…" for cell in row[:SHOWN_COLUMNS]]
            for row in look.sample[:SHOWN_ROWS]
        ],
        "mapping": mapping,
        "roles": [_Choice(role, TITLES[role], HINTS[role], getattr(mapping, role)) for role in ROLES],
        "worker_pattern": mapping.worker if "{" in mapping.worker else "",
        "pattern": mapping.values[0] if has_pattern else "",
        "facets": [(facet, TITLES[facet]) for facet in FACETS],
        "kinds": KINDS.items(),
        "words": "\n".join(mapping.words),
    }


def _mapping_of(typed: QueryDict, look: FirstLook) -> ColumnMapping:
    """Read the form. A pattern wins over columns that are ticked."""
    pattern, worker_pattern = typed.get("pattern", "").strip(), typed.get("worker_pattern", "").strip()
    roles = {role: typed.get(role, "") for role in ROLES}
    if worker_pattern and "{" in worker_pattern:
        roles["worker"] = worker_pattern
    ticked = [name for name in typed.getlist("values") if name in look.columns]
    each_is, kind = typed.get("each_is", ""), typed.get("kind", "")
    return ColumnMapping(
        **roles,
        values=(pattern,) if pattern else tuple(ticked),
        each_is=next((facet for facet in FACETS if facet == each_is), "criterion"),
        kind=kind if kind in KINDS else "",
        words=tuple(word.strip() for word in typed.get("words", "").splitlines() if word.strip())
        if kind in ("", "words")
        else (),
        is_unidentified="is_unidentified" in typed,
    )


def _found(upload: RatingsUpload, query: QueryDict) -> dict[str, Any]:
    if not upload.results:
        return {}
    results = results_from_json(upload.results)
    report = report_of(results)
    board = leaderboard_of(report, query)
    criterion = board.criterion if board else report.criteria[0]
    is_nominal = any(one.is_nominal for one in results.criteria if one.criterion == criterion.criterion)
    figures = drawn_figures(upload.figures)
    # Without a first table there is no switch from criterion to criterion, so that all of them are shown.
    sections = page_sections(report, "" if is_nominal else criterion.criterion)
    file = upload_bundle_file(upload)
    return {
        "board": None if is_nominal or not board else board,  # labels without an order have no best model
        "size": criterion.size,
        "sections": [(section, figures.get(section.key, [])) for section in sections if section.tables],
        "csv_address": reverse("ratings-upload-csv", args=[upload.key]),
        "bundle_bytes": file.stat().st_size if file.exists() else 0,
    }
