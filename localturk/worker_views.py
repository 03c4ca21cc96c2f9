"""Serve the marketplace's worker pages: choose a worker, see offers, preview, accept, work, submit and return.

These pages need no researcher's log-in, and exist only while the marketplace is the local one. If workers must sign in,
they do that instead of choosing a worker (sign_in_views.py).
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ObjectDoesNotExist, RequestDataTooBig, TooManyFieldsSent
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evalplatform.middleware import CONTENT_SECURITY_POLICY
from localturk import page_rows as rows
from localturk import worker_notices as notices
from localturk.clock import Clock
from localturk.lifecycle import settle
from localturk.models import TurkAssignment, TurkHit, WorkerAccount
from localturk.openness import is_open
from localturk.page_rows import money
from localturk.seeding import SIMULATED, ensure_worker_accounts
from localturk.sign_in_views import show_sign_in
from localturk.signing_in import remember_worker, worker_of
from localturk.worker_frame import Frame, preview_frame, work_frame
from localturk.worker_notices import Notice
from localturk.working import (
    Reason,
    Refusal,
    Refused,
    accept,
    can_accept,
    can_preview,
    earnings,
    return_assignment,
    submit,
)

MOST_BYTES = 1_000_000
IN_OUR_FRAME = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")

View = Callable[..., HttpResponse]
WorkerView = Callable[Concatenate[HttpRequest, WorkerAccount, ...], HttpResponse]


def market_page(view: View) -> View:
    @login_not_required
    @wraps(view)
    def show(request: HttpRequest, **ids: str) -> HttpResponse:
        if not is_open():
            raise Http404
        return view(request, **ids)

    return show


def worker_page(view: WorkerView) -> View:
    """Call the view with the worker who was chosen or signed in; if there is none, go to that page first."""

    @market_page
    @wraps(view)
    def show(request: HttpRequest, **ids: str) -> HttpResponse:
        worker = worker_of(request)
        if worker is None:
            return redirect("market")
        try:
            return view(request, worker, **ids)
        except ObjectDoesNotExist:
            return _show_notice(request, worker, notices.NOT_FOUND)

    return show


@market_page
@require_http_methods(["GET", "HEAD", "POST"])
def choose_worker(request: HttpRequest) -> HttpResponse:
    if settings.MUST_WORKERS_SIGN_IN:
        return show_sign_in(request)
    ensure_worker_accounts()
    workers = WorkerAccount.objects.all()
    chosen = workers.filter(worker_id=request.POST.get("worker", "").replace("\0", "")).first()
    if chosen is None:
        simulated = workers.filter(worker_id__startswith=SIMULATED)
        context = {
            "rows": [rows.worker_row(worker) for worker in workers.exclude(pk__in=simulated)],
            "simulated": [rows.worker_row(worker) for worker in simulated],
            "worker": worker_of(request),
        }
        return render(request, "localturk/workers.html", context)
    response = redirect("market-hits")
    remember_worker(request, response, chosen)
    return response


@worker_page
@require_GET
def show_hits(request: HttpRequest, worker: WorkerAccount) -> HttpResponse:
    now = Clock().now()
    on_offer = rows.offer_rows(worker, now)
    earned, past = earnings(worker), rows.past_rows(worker)
    context = {
        "worker": worker,
        "row": rows.worker_row(worker),
        "queue": rows.queue_rows(worker, now),
        "offers": on_offer,
        "hidden": rows.hidden_rows(worker),
        "earned": {
            "approved": money(earned.reward_cents),
            "pending": money(earned.pending_cents),
            "bonuses": money(earned.bonus_cents),
        },
        "past": past,
        "past_is_cut": len(past) == rows.MOST_PAST_ROWS,
    }
    return render(request, "localturk/hits.html", context)


@worker_page
@require_GET
def preview_hit(request: HttpRequest, worker: WorkerAccount, hit_id: str) -> HttpResponse:
    now = Clock().now()
    settle(now)
    hit = _find_hit(hit_id)
    if refusal := can_preview(worker, hit):
        return _show_refusal(request, worker, hit, refusal)
    context = {"offer": rows.offer_row(worker, hit, can_accept(worker, hit, now))}
    return _show_framed(request, "localturk/preview.html", preview_frame(hit), {"worker": worker, **context})


@worker_page
@require_POST
def accept_hit(request: HttpRequest, worker: WorkerAccount, hit_id: str) -> HttpResponse:
    hit = _find_hit(hit_id)
    try:
        assignment = accept(worker, hit, Clock().now())
    except Refused as refused:
        return _show_refusal(request, worker, hit, refused.refusal)
    return redirect("market-work", assignment_id=assignment.assignment_id)


@worker_page
@require_GET
def work(request: HttpRequest, worker: WorkerAccount, assignment_id: str) -> HttpResponse:
    now = Clock().now()
    settle(now)
    assignment = _find_assignment(assignment_id, worker)
    if refusal := _find_refusal(assignment, worker):
        return _show_notice(request, worker, refusal)
    kind = assignment.hit.hit_type
    context = {
        "worker": worker,
        "assignment": assignment,
        "title": kind.title,
        "reward": money(kind.reward_cents),
        "clock": rows.clock_row(assignment, now),
    }
    submit_to = request.build_absolute_uri(reverse("market")).rstrip("/")
    return _show_framed(request, "localturk/work.html", work_frame(assignment, submit_to), context)


@worker_page
@require_http_methods(["GET", "HEAD", "POST"])
def return_hit(request: HttpRequest, worker: WorkerAccount, assignment_id: str) -> HttpResponse:
    """Return a HIT, after asking, because the work in the frame is lost."""
    now = Clock().now()
    settle(now)
    assignment = _find_assignment(assignment_id, worker)
    if refusal := _find_refusal(assignment, worker):
        return _show_notice(request, worker, refusal)
    if request.method != "POST":
        context = {"worker": worker, "assignment": assignment, "title": assignment.hit.hit_type.title}
        return render(request, "localturk/return.html", context)
    try:
        return_assignment(assignment_id, worker, now)
    except Refused as refused:
        return _show_notice(request, worker, notices.NOT_HELD_NOW[refused.refusal.reason])
    return redirect("market-hits")


# --- Small steps of these pages --------------------------------------------------------------------------------------


def _find_hit(hit_id: str) -> TurkHit:
    return TurkHit.objects.select_related("hit_type").get(hit_id=hit_id)


def _find_assignment(assignment_id: str, worker: WorkerAccount) -> TurkAssignment:
    """Return the worker's own assignment with this id or, if there is none, the latest: an id that was given back may
    have been given to someone else."""
    found = TurkAssignment.objects.filter(assignment_id=assignment_id).select_related("worker", "hit__hit_type")
    return found.filter(worker=worker).order_by("pk").last() or found.latest("pk")


def _find_refusal(assignment: TurkAssignment, worker: WorkerAccount) -> Notice | None:
    if assignment.worker != worker and settings.MUST_WORKERS_SIGN_IN:
        return notices.NOT_FOUND
    if assignment.worker != worker:
        return notices.someone_elses(assignment.worker.name)
    reasons = {"Returned": Reason.NOT_HELD, "Abandoned": Reason.TOO_LATE}
    if assignment.status == TurkAssignment.Status.ACCEPTED:
        return None
    return notices.NOT_HELD_NOW[reasons.get(assignment.status, Reason.ALREADY_DONE)]


def _show_refusal(request: HttpRequest, worker: WorkerAccount, hit: TurkHit, refusal: Refusal) -> HttpResponse:
    if refusal.reason == Reason.ALREADY_HELD:
        # This is a second click on Accept, so show the assignment that the first one brought.
        held = worker.assignments.live().get(hit=hit)
        return redirect("market-work", assignment_id=held.assignment_id)
    asked = rows.requirement_rows(worker, hit.hit_type) if refusal.reason == Reason.NOT_QUALIFIED else []
    return _show_notice(request, worker, notices.ACCEPT_REFUSED[refusal.reason], requirements=asked)


def _show_notice(request: HttpRequest, worker: WorkerAccount, notice: Notice, **context: Any) -> HttpResponse:
    context = {"worker": worker, "notice": notice, **context}
    return render(request, "localturk/notice.html", context, status=notice.status)


def _show_framed(request: HttpRequest, template: str, frame: Frame | None, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, {"frame": frame, **context})
    if frame is not None:
        response.headers["Content-Security-Policy"] = frame.policy
    return response


# --- externalSubmit --------------------------------------------------------------------------------------------------


@csrf_exempt
@market_page
@xframe_options_sameorigin
@require_POST
def external_submit(request: HttpRequest) -> HttpResponse:
    fields = _read_fields(request)
    notice = notices.TOO_LARGE if fields is None else _submit_form(request, fields)
    response = render(request, "localturk/framed_notice.html", {"notice": notice}, status=notice.status)
    response.headers["Content-Security-Policy"] = IN_OUR_FRAME
    return response


def _read_fields(request: HttpRequest) -> dict[str, list[str]] | None:
    """Return all values of each field, or None if the form is too large. Files are left out, since MTurk takes none."""
    length = request.headers.get("Content-Length", "")
    if length.isdecimal() and int(length) > MOST_BYTES:
        _drain(request)
        return None
    try:
        return dict(request.POST.lists())
    except (RequestDataTooBig, TooManyFieldsSent):
        return None


def _drain(request: HttpRequest) -> None:
    """Read the rest of the request. A browser that is answered while it still sends shows a lost connection instead of
    the answer."""
    for _ in range(100):
        if not request.read(MOST_BYTES):
            return


def _submit_form(request: HttpRequest, fields: dict[str, list[str]]) -> Notice:
    assignment_id = fields.pop("assignmentId", [""])[-1].replace("\0", "")
    found = TurkAssignment.objects.filter(assignment_id=assignment_id).select_related("worker", "hit__hit_type")
    # Take the latest: a worker who returned the assignment must not submit it for the one who has the same id now.
    assignment = found.order_by("pk").last()
    is_theirs = not settings.MUST_WORKERS_SIGN_IN or (assignment and assignment.worker == worker_of(request))
    if assignment is None or not is_theirs:
        return notices.UNKNOWN_ASSIGNMENT
    if not fields:
        return notices.NO_FURTHER_FIELD
    try:
        submit(assignment_id, assignment.worker, fields, Clock().now())
    except Refused as refused:
        return notices.NOT_HELD_NOW[refused.refusal.reason]
    return notices.submitted(money(assignment.hit.hit_type.reward_cents))
