"""Shows a study's workers under their pseudonyms, blocks and unblocks them, and reveals a worker's id (logged)."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from evalplatform.errors import EvalPlatformError
from hits.access import note_event
from hits.crowds import check_may_change
from hits.models import Offering, Standing
from hits.monitoring import WorkerRow, assignment_rows, find_assignments, find_worker, list_workers
from hits.publishing import block, unblock
from hits.views.study_pages import find_offering, page_address, surroundings, tells_refusals, user_of

WORKERS_PER_PAGE = 50
ASSIGNMENTS_PER_PAGE = 30

ORDERS: dict[str, tuple[str, Callable[[WorkerRow], Any]]] = {
    "submitted": ("most submitted", lambda row: (-row.submitted, row.name)),
    "flags": ("most flags", lambda row: (-len(row.flags), row.name)),
    "fast": ("fastest", lambda row: (row.median_minutes is None, row.median_minutes, row.name)),
    "passed": (
        "fewest checkpoints passed",
        lambda row: (row.passed.percent is None, row.passed.percent, row.name),
    ),
    "given-up": ("most given up", lambda row: (-row.given_up, row.name)),
}
SHOWN: dict[str, tuple[str, Callable[[WorkerRow], bool]]] = {
    "": ("all", lambda row: True),
    "flagged": ("with flags", lambda row: bool(row.flags)),
    "blocked": ("blocked", lambda row: bool(row.blocks)),
}


@require_GET
def show_workers(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_offering(request, name)
    order = request.GET.get("order", "")
    shown = request.GET.get("show", "")
    order, shown = order if order in ORDERS else "submitted", shown if shown in SHOWN else ""
    rows = sorted(filter(SHOWN[shown][1], list_workers(offering)), key=ORDERS[order][1])
    context = {
        **surroundings(offering),
        "page": Paginator(rows, WORKERS_PER_PAGE).get_page(request.GET.get("page")),
        "orders": [(key, label) for key, (label, _) in ORDERS.items()],
        "order": order,
        "shows": [(key, label) for key, (label, _) in SHOWN.items()],
        "show": shown,
    }
    return render(request, "hits/workers.html", context)


@require_GET
def show_worker(request: HttpRequest, name: str, worker: str) -> HttpResponse:
    offering = find_offering(request, name)
    return _render(request, offering, worker)


@require_POST
@never_cache
@tells_refusals
def reveal_worker(request: HttpRequest, name: str, worker: str) -> HttpResponse:
    """Show the worker's own id in the answer to this request only: there is no address under which it can be seen."""
    offering = find_offering(request, name)
    worker_id = _worker_id(offering, worker)
    text = f"looked at the marketplace's own id of {worker}"
    note_event(offering.study, text, user_of(request), timezone.now())
    return _render(request, offering, worker, worker_id)


@require_POST
@tells_refusals
def block_worker(request: HttpRequest, name: str, worker: str) -> HttpResponse:
    offering = find_offering(request, name)
    worker_id = _worker_id(offering, worker)
    reason = request.POST.get("reason", "")
    try:
        check_may_change(offering)
        block(offering, worker_id, Standing.Kind.SOFT, reason, user_of(request), timezone.now())
        messages.success(request, f"{worker} gets no more HITs of this study. The next sync tells the marketplace.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return _back(offering, worker)


@require_POST
@tells_refusals
def unblock_worker(request: HttpRequest, name: str, worker: str) -> HttpResponse:
    offering = find_offering(request, name)
    worker_id = _worker_id(offering, worker)
    try:
        check_may_change(offering)
        unblock(offering, worker_id, request.POST.get("reason", ""), user_of(request), timezone.now())
        messages.success(request, f"{worker} may work on this study again. The next sync tells the marketplace.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return _back(offering, worker)


def _render(request: HttpRequest, offering: Offering, worker: str, revealed_id: str = "") -> HttpResponse:
    worker_id = _worker_id(offering, worker)
    assignments = find_assignments(offering, worker_id=worker_id)
    page = Paginator(assignments, ASSIGNMENTS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **surroundings(offering),
        "row": list_workers(offering, worker_id)[0],
        "revealed_id": revealed_id,
        "page": page,
        "assignments": assignment_rows(offering.study, list(page)),
    }
    return render(request, "hits/worker.html", context)


def _worker_id(offering: Offering, worker: str) -> str:
    found = find_worker(offering, worker)
    if found is None:
        raise Http404(f"No worker of {offering.study} is called {worker}.")
    return found


def _back(offering: Offering, worker: str) -> HttpResponse:
    return redirect(page_address("worker", offering, worker))
