"""Shows the results page: figures, numbers and intervals that a background process has computed."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST

from evalplatform.errors import EvalPlatformError
from hits.access import can_invite
from hits.analysing import (
    Results,
    describe_progress,
    find_results,
    note_look,
    refresh_results,
    report_of,
    results_from_json,
    source_of,
)
from hits.deciding import describe_fourth_votes
from hits.models import Offering, Scope, ScreeningRun, StudyResults
from hits.views.bundle import bundle_panel
from hits.views.drawn_figures import drawn_figures
from hits.views.leaderboard import leaderboard_file, leaderboard_of
from hits.views.pooled_pages import find_scope, screening_of_scope, send_results_task, surroundings_of
from hits.views.result_sections import page_sections, variant_in_words, variant_tables
from hits.views.screening_rows import funnel_table
from hits.views.study_pages import page_address, tells_refusals, user_of
from hits.views.waiting import wait_for

FIRST = ("shares", "offerings", "comparisons", "ranking", "agreement")  # shown above the panel "What is left out"


@gzip_page  # the figures are a third of a megabyte, and a tenth of that packed
@require_GET
@tells_refusals
def show_results(request: HttpRequest, name: str) -> HttpResponse:
    scope = find_scope(request, name)
    try:
        row = refresh_results(scope, send_results_task, timezone.now())
    except EvalPlatformError as error:
        messages.error(request, str(error))
        row = find_results(scope)
    context = {
        **surroundings_of(scope),
        **_state(row),
        "is_read": bool(row.results),
        **(_found(scope, row, request) if row.results else {}),
        "can_share": isinstance(scope, Offering) and can_invite(scope.study, user_of(request)),
    }
    if row.results:
        note_look(scope, context["progress"], row.source, user_of(request), timezone.now())
    return render(request, "hits/results.html", context)


@require_GET
@tells_refusals
def show_live(request: HttpRequest, name: str) -> HttpResponse:
    """Render how far the computation is; the page polls this. Once it is done the page reloads, unless someone is
    reading earlier results."""
    scope = find_scope(request, name)
    row = find_results(scope)
    is_done, is_read = not row.is_under_way, "reading" in request.GET
    context = {**surroundings_of(scope), **_state(row), "is_new": is_done, "is_read": is_read}
    response = render(request, "hits/_results_state.html", context)
    if is_done and not is_read:
        response.headers["HX-Refresh"] = "true"
    return response


@require_GET
@tells_refusals
def download_leaderboard(request: HttpRequest, name: str) -> HttpResponse:
    """Send the table that the page shows under the same address, as CSV."""
    scope = find_scope(request, name)
    row = find_results(scope)
    if not row.results:
        messages.error(request, "There are no results yet: the table can be downloaded as soon as they are computed.")
        return redirect(page_address("results", scope))
    results = results_from_json(row.results)
    shown = report_of(results, _variant(results, request.GET))
    board = leaderboard_of(shown, request.GET)
    if board is None:
        raise Http404("Nothing was compared.")
    note_look(scope, results.progress, row.source, user_of(request), timezone.now())
    return leaderboard_file(board, shown, scope.study.name)


@require_POST
@tells_refusals
def compute_again(request: HttpRequest, name: str) -> HttpResponse:
    scope = find_scope(request, name)
    try:
        refresh_results(scope, send_results_task, timezone.now(), is_forced=True)
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect(page_address("results", scope))


def _state(row: StudyResults) -> dict[str, Any]:
    source = source_of(row.scope)
    return {
        "row": row,
        "has_ratings": bool(source),
        "is_stale": bool(row.results) and (row.source != source or bool(row.problem)),
        **screening_of_scope(row.scope),
        "is_quiet": row.is_quiet(timezone.now()),
        "wait": wait_for("Computing the results", row),
    }


def _found(scope: Scope, row: StudyResults, request: HttpRequest) -> dict[str, Any]:
    is_of_one = isinstance(scope, Offering)  # dialogs are listed for one offering, with its workers
    dialogs = f"{reverse('dialogs', args=[scope.study.name])}?market={scope.marketplace}&" if is_of_one else ""
    found = found_results(row, request.GET, dialogs)
    csv_address = reverse("leaderboard-csv", args=[scope.study.name])
    fourth_votes = describe_fourth_votes(scope) if isinstance(scope, Offering) else ""
    return {**found, "bundle": bundle_panel(scope), "csv_address": csv_address, "fourth_votes": fourth_votes}


def found_results(row: StudyResults, query: QueryDict, dialogs: str) -> dict[str, Any]:
    """Return the report for the template, under the chosen screening variant if it exists. `dialogs` is the beginning
    of the address that lists the dialogs behind a cell; "" if they are not shown."""
    results = results_from_json(row.results)
    names = [variant.name for variant in results.main.variants]
    variant = _variant(results, query)
    shown = report_of(results, variant)
    board = leaderboard_of(shown, query, "" if variant else dialogs)
    criterion = board.criterion if board else shown.criteria[0]
    figures = drawn_figures(row.figures.get("", [])) | drawn_figures(row.figures.get(variant, []) if variant else [])
    run = ScreeningRun.objects.current(row.offering) if row.offering else None
    sections = [(section, figures.get(section.key, [])) for section in page_sections(shown, criterion.criterion)]
    first = {f"{criterion.prefix}{key}" for key in FIRST}
    return {
        "board": board,
        "size": criterion.size,
        "progress": results.progress,
        "interim": describe_progress(results.progress),
        "variants": [
            {"name": name, "words": variant_in_words(name), "is_shown": name == (variant or names[0])} for name in names
        ],
        "variant": variant_in_words(variant),
        "variant_tables": variant_tables(report_of(results), criterion.criterion),
        "screening": run and funnel_table(run),
        "funnel_figures": figures.get("funnel", []),
        "first_sections": [one for one in sections if one[0].key in first],
        "more_sections": [one for one in sections if one[0].key not in first],
        # Dialogs are counted under the study's own screening: a variant's cells would count others.
        "dialogs_address": "" if variant else dialogs,
        "all_dialogs": dialogs,
    }


def _variant(results: Results, query: QueryDict) -> str:
    """Return the screening variant that the address names; "" for the study's own results."""
    asked = query.get("screening", "")
    return asked if asked in [variant.name for variant in results.main.variants][1:] else ""
