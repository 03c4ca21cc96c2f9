"""Shows assignments, and one as its worker answered it; approves by hand (one, or all undecided), rejects, and asks for
work to be given back."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.budgeting import empty_submissions, summarise_waiting, waiting_for_decision
from hits.crowds import check_may_change, crowd_of, fees_of, offered_marketplaces, open_crowd
from hits.models import Assignment, Offering, Payment, Study, Submission
from hits.models.money import money
from hits.models.submission import SubmissionQuerySet
from hits.monitoring import (
    ASSIGNMENT_STATES,
    TO_DECIDE,
    assignment_rows,
    find_assignments,
    flags_by_worker,
    payment_state,
)
from hits.paying import ReasonRefused, approve_by_hand, reject
from hits.paying import reject_empty as reject_if_empty
from hits.paying import request_return as ask_for_return
from hits.views.answered_work import answered_dialogs
from hits.views.refused import STATUS, Refused, refused_form
from hits.views.study_pages import (
    ATTEMPTS_WHILE_SOMEONE_WAITS,
    find_offering,
    page_address,
    surroundings,
    tells_refusals,
    user_of,
)

ASSIGNMENTS_PER_PAGE = 50


@require_GET
def show_assignments(request: HttpRequest, name: str) -> HttpResponse:
    return _render_list(request, find_offering(request, name))


def _render_list(request: HttpRequest, offering: Offering, refused: Refused | None = None) -> HttpResponse:
    state = request.GET.get("state", "")
    state = state if state in ASSIGNMENT_STATES or state == TO_DECIDE else ""
    page = Paginator(find_assignments(offering, state), ASSIGNMENTS_PER_PAGE)
    found = page.get_page(request.GET.get("page"))
    abilities = crowd_of(offering).abilities
    context = {
        **surroundings(offering),
        "page": found,
        "assignments": assignment_rows(offering.study, list(found)),
        "states": [*ASSIGNMENT_STATES, TO_DECIDE],
        "state": state,
        "undecided": _undecided(offering).count() if _is_by_hand(offering.study) else 0,
        "to_decide": summarise_waiting(offering),
        "to_decide_state": TO_DECIDE,
        "empty": list(empty_submissions(offering).values_list("pk", flat=True)) if abilities.can_reject else [],
        "rejection": abilities.rejection,
        "refused": refused,
    }
    return render(request, "hits/assignments.html", context, status=STATUS if refused else 200)


@require_GET
def show_assignment(request: HttpRequest, name: str, key: int) -> HttpResponse:
    study = find_offering(request, name).study
    return _render(request, study, _assignment(study, key))


def _render(request: HttpRequest, study: Study, assignment: Assignment, refused: Refused | None = None) -> HttpResponse:
    submission = getattr(assignment, "submission", None)
    dialogs = answered_dialogs(assignment)
    payments = list(submission.payments.all()) if submission else []
    context = {
        **surroundings(assignment.offering),
        "row": assignment_rows(study, [assignment])[0],
        "assignment": assignment,
        "submission": submission,
        "dialogs": dialogs,
        "hidden_minutes": sum(dialog.hidden_seconds for dialog in dialogs) / 60,
        "checkpoints": sum(dialog.item.is_checkpoint for dialog in dialogs),
        "payments": [(one, payment_state(one), money(one.cents, study.currency)) for one in payments],
        "flags": _flags(study, assignment),
        **_decision(study, assignment, submission, payments),
        "refused": refused,
    }
    return render(request, "hits/assignment.html", context, status=STATUS if refused else 200)


@require_POST
@tells_refusals
def approve_assignment(request: HttpRequest, name: str, key: int) -> HttpResponse:
    study = find_offering(request, name).study
    assignment = _assignment(study, key)
    check_may_change(assignment.offering)
    count = approve_by_hand(_submissions(study).filter(assignment=assignment), timezone.now(), user_of(request))
    _tell_approved(request, count)
    return _back(study, assignment)


@require_POST
@tells_refusals
def approve_waiting(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_offering(request, name)
    check_may_change(offering)
    waiting = _undecided(offering)
    if request.POST.get("count") != str(len(waiting)):
        messages.error(request, "More work has come in since you looked. Look again, and approve then.")
    else:
        _tell_approved(request, approve_by_hand(waiting, timezone.now(), user_of(request)))
    return _back_to_list(offering)


@require_http_methods(["GET", "POST"])
@tells_refusals
def reject_assignment(request: HttpRequest, name: str, key: int) -> HttpResponse:
    study = find_offering(request, name).study
    assignment = _assignment(study, key)
    if request.method == "GET":
        return _back(study, assignment)
    submission = get_object_or_404(_submissions(study), assignment=assignment)
    check_may_change(assignment.offering)
    reason, category = _typed_rejection(request)
    try:
        if request.POST.get("is_meant") != "yes":
            raise EvalPlatformError("Tick that you mean it: a rejection takes the worker's pay, and hurts their name.")
        market = open_crowd(assignment.offering, ATTEMPTS_WHILE_SOMEONE_WAITS)
        reject(submission, reason, market, user_of(request), timezone.now(), category)
        messages.success(request, "The assignment is rejected. The worker reads your reason.")
    except EvalPlatformError as error:
        return _render(request, study, _assignment(study, key), _refused_reason(request, "reject", error))
    return _back(study, assignment)


@require_http_methods(["GET", "POST"])
@tells_refusals
def request_return(request: HttpRequest, name: str, key: int) -> HttpResponse:
    """Ask the worker to give the work back, where the crowd can do that."""
    study = find_offering(request, name).study
    assignment = _assignment(study, key)
    if request.method == "GET":
        return _back(study, assignment)
    submission = get_object_or_404(_submissions(study), assignment=assignment)
    check_may_change(assignment.offering)
    reason = request.POST.get("reason", "")
    try:
        market = open_crowd(assignment.offering, ATTEMPTS_WHILE_SOMEONE_WAITS)
        if ask_for_return(submission, reason, market, user_of(request), timezone.now()):
            messages.success(request, "The worker is asked to give it back, and reads your reason.")
        else:
            messages.info(request, "The worker was asked before. You can still approve or reject it.")
    except EvalPlatformError as error:
        return _render(request, study, _assignment(study, key), _refused_reason(request, "return", error))
    return _back(study, assignment)


@require_http_methods(["GET", "POST"])
@tells_refusals
def reject_empty(request: HttpRequest, name: str) -> HttpResponse:
    """Reject, with one reason, the submissions that the page has shown as empty: each only if it still is."""
    offering = find_offering(request, name)
    if request.method == "GET":
        return _back_to_list(offering)
    check_may_change(offering)
    shown = {key for key in request.POST.get("shown", "").split(",") if key}
    empty = empty_submissions(offering).select_related("assignment__hit__study")
    wanted = [submission for submission in empty if str(submission.pk) in shown]
    reason, category = _typed_rejection(request)
    try:
        if not wanted:
            raise EvalPlatformError("Something has changed since you looked. Look again, and reject them then.")
        if request.POST.get("is_meant") != "yes":
            raise EvalPlatformError("Tick that you mean it: a rejection takes the worker's pay, and hurts their name.")
        market = open_crowd(offering, ATTEMPTS_WHILE_SOMEONE_WAITS)
        rejected = reject_if_empty(offering, wanted, reason, market, user_of(request), timezone.now(), category)
        if rejected.troubles:
            # Each rejection is saved by itself. The rest stays on the list; sending the form again goes on with it.
            done = count_of(rejected.count, "submission is", "submissions are")
            raise EvalPlatformError(" ".join([f"{done} rejected, and not all:", *rejected.troubles]))
    except EvalPlatformError as error:
        return _render_list(request, offering, _refused_reason(request, "reject-empty", error, "reason"))
    if rejected.count:
        done = count_of(rejected.count, "submission is", "submissions are")
        messages.success(request, f"{done} rejected. Workers read your reason.")
    if left := len(shown) - rejected.count:
        messages.info(
            request,
            f"{count_of(left, 'was', 'were')} decided, or had answers after all, since you looked, and "
            f"{'is' if left == 1 else 'are'} left alone.",
        )
    return _back_to_list(offering)


def _typed_rejection(request: HttpRequest) -> tuple[str, str]:
    return request.POST.get("reason", ""), request.POST.get("category", "")


def _refused_reason(request: HttpRequest, form: str, error: EvalPlatformError, part: str = "") -> Refused:
    """Say at the field what is wrong with a reason or its category; `part` is where anything else stands."""
    part = error.part if isinstance(error, ReasonRefused) else part
    return refused_form(form, error, request.POST.dict(), f"{form}-{part}" if part else "")


def _back_to_list(offering: Offering) -> HttpResponse:
    return redirect(page_address("assignments", offering))


def _tell_approved(request: HttpRequest, count: int) -> None:
    if count:
        done = count_of(count, "assignment is", "assignments are")
        messages.success(request, f"{done} approved, and in the ledger: the next sync pays.")
    else:
        messages.error(request, "There was nothing to approve: it was decided before.")


def _decision(
    study: Study, assignment: Assignment, submission: Submission | None, payments: Sequence[Payment]
) -> dict[str, Any]:
    """Tell what can still be decided: approving if nobody has approved it, rejecting if it is not paid."""
    design = study.parsed_design
    is_waiting = submission is not None and submission.status == Submission.Status.SUBMITTED
    reward = design.pay.reward_cents
    has_reward = any(one.kind == Payment.Kind.REWARD for one in payments)
    waiting, fees = waiting_for_decision(assignment.offering), fees_of(assignment.offering)
    abilities = crowd_of(assignment.offering).abilities
    is_undecided = is_waiting and not has_reward
    return {
        "waits_because": submission is not None and waiting.get(submission.pk, ""),
        "can_approve": is_undecided,
        "can_reject": is_waiting and abilities.can_reject,
        "can_request_return": is_undecided and abilities.can_request_returns,
        "is_asked_back": submission is not None and submission.return_asked_at is not None,
        "rejection": abilities.rejection,
        "reward": money(reward, study.currency),
        "reward_with_fee": money(reward + fees.reward_fee_cents(reward, assignment.hit.assignments), study.currency),
    }


def _flags(study: Study, assignment: Assignment) -> list[Any]:
    found = flags_by_worker(assignment.offering, assignment.crowd_worker_id)
    flags = found.get(assignment.crowd_worker_id, [])
    return [flag for flag in flags if flag.assignment_pk in (None, assignment.pk)]


def _assignment(study: Study, key: int) -> Assignment:
    """Find the assignment, on a marketplace that this server may use."""
    found = Assignment.objects.filter(hit__study=study).select_related("hit__study", "offering__study", "submission")
    assignment = get_object_or_404(found.defer("submission__answer_xml"), pk=key)
    if assignment.offering.marketplace not in offered_marketplaces():
        raise Http404
    return assignment


def _submissions(study: Study) -> SubmissionQuerySet:
    return Submission.objects.filter(assignment__hit__study=study).select_related("assignment__hit__study")


def _undecided(offering: Offering) -> SubmissionQuerySet:
    """Return the submissions that can be approved in one go. Those with a problem, or beyond the cap, need a look
    each."""
    undecided = _submissions(offering.study).filter(assignment__offering=offering).undecided()
    return undecided.exclude(pk__in=waiting_for_decision(offering))


def _is_by_hand(study: Study) -> bool:
    return study.parsed_design.pay.approval == "by hand"


def _back(study: Study, assignment: Assignment) -> HttpResponse:
    return redirect("assignment", name=study.name, key=assignment.pk)
