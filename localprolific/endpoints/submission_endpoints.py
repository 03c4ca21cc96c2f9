"""Show, list, count and review submissions."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db.models import F, QuerySet

from localprolific import lifecycle_rules, misbehaving
from localprolific.behaviour import behaviour
from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, endpoint
from localprolific.endpoints.page_links import numbered_page, page_by_offset
from localprolific.endpoints.prolific_study_endpoints import own_study
from localprolific.errors import Invalid, NotFound, missing, wrong
from localprolific.lifecycle_rules import count_by_status, lock_submission
from localprolific.misbehaving import Kind
from localprolific.models import ProlificSubmission
from localprolific.newcomers import let_somebody_begin
from localprolific.passing_time import approve_later

Status = ProlificSubmission.Status
CATEGORIES = {"TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK"} | {
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
}
LEAST_MESSAGE = 100
ORDERINGS = {"started_at": "reserved_at", "-started_at": "-reserved_at"}


@endpoint("GET", "submissions/")
def list_submissions(call: ApiCall) -> ApiAnswer:
    rows = ProlificSubmission.objects.filter(study__workspace=call.workspace, study__deleted_at=None)
    if study_id := call.params.get("study"):
        rows = own_study(call, study_id).submissions.all()
    shown, links = numbered_page(call, _in_order(call, rows, call.params.get("page", "1") != "1"))
    return ApiAnswer({"results": [_row_shape(one) for one in shown], **links})


@endpoint("GET", "studies/{study_id}/submissions/")
def list_study_submissions(call: ApiCall, study_id: str) -> ApiAnswer:
    rows = own_study(call, study_id).submissions.all()
    shown, links = page_by_offset(call, _in_order(call, rows, call.params.get("offset", "0") != "0"))
    return ApiAnswer({"results": [_row_shape(one) for one in shown], **links})


@endpoint("GET", "studies/{study_id}/submissions/counts/")
def count_submissions(call: ApiCall, study_id: str) -> ApiAnswer:
    counts = count_by_status(own_study(call, study_id))
    return ApiAnswer({**counts, "TOTAL": sum(counts.values())})


@endpoint("GET", "submissions/{submission_id}/")
def show_submission(call: ApiCall, submission_id: str) -> ApiAnswer:
    return ApiAnswer(_whole_shape(_own_submission(call, submission_id), call))


@endpoint("POST", "submissions/{submission_id}/transition/", moves_money=True)
def transition_submission(call: ApiCall, submission_id: str) -> ApiAnswer:
    """Approve, reject or complete a submission. Asking for what is already so changes nothing."""
    submission = lock_submission(_own_submission(call, submission_id).pk)
    match call.text("action"):
        case "APPROVE":
            _approve(submission, call)
        case "REJECT":
            _reject(submission, call)
        case "COMPLETE":
            _complete(submission, call)
        case other:
            raise wrong("action", f'"{other}" is not a valid choice.')
    return ApiAnswer(_whole_shape(submission, call))


@endpoint("POST", "submissions/bulk-approve/", moves_money=True)
def approve_in_bulk(call: ApiCall) -> ApiAnswer:
    """Ask for the approval of many submissions. It happens a little later; who can't be approved is passed over."""
    approve_later(_asked_for(call), call.now)
    return ApiAnswer({"message": "The request to bulk approve has been made successfully."})


@endpoint("POST", "submissions/{submission_id}/request-return/")
def request_return(call: ApiCall, submission_id: str) -> ApiAnswer:
    submission = lock_submission(_own_submission(call, submission_id).pk)
    reasons = call.texts("request_return_reasons")
    if not reasons:
        raise missing("request_return_reasons")
    if submission.status not in (Status.ACTIVE, Status.AWAITING_REVIEW, Status.TIMED_OUT):
        raise Invalid(f"A return can't be requested, because the status is {submission.status}.")
    submission.return_requested_at = submission.return_requested_at or call.now
    submission.request_reasons = reasons
    submission.save()
    shape = {
        "id": submission.submission_id,
        "status": submission.status,
        "participant": submission.participant.participant_id,
        "return_requested": submission.return_requested_at,
    }
    return ApiAnswer(shape)


def _approve(submission: ProlificSubmission, call: ApiCall) -> None:
    allowed = {Status.AWAITING_REVIEW, Status.TIMED_OUT}
    if behaviour().can_approve_rejected:
        allowed.add(Status.REJECTED)
    if submission.status == Status.APPROVED:
        return
    if submission.status not in allowed:
        raise Invalid(f"The submission can't be approved, because its status is {submission.status}.")
    lifecycle_rules.approve(submission, call.now)


def _reject(submission: ProlificSubmission, call: ApiCall) -> None:
    message, category = call.text("message"), call.text("rejection_category")
    if len(message) < LEAST_MESSAGE:
        raise wrong("message", f"Ensure this field has at least {LEAST_MESSAGE} characters.")
    if category not in CATEGORIES:
        raise wrong("rejection_category", f'"{category}" is not a valid choice.')
    if submission.status == Status.REJECTED:
        return
    if submission.status != Status.AWAITING_REVIEW:
        raise Invalid(f"The submission can't be rejected, because its status is {submission.status}.")
    lifecycle_rules.reject(submission, category, message, call.now)


def _complete(submission: ProlificSubmission, call: ApiCall) -> None:
    code = call.text("completion_code")
    known = [one for one in submission.study.completion_codes if one["code"] == code]
    if not known or known[0].get("actor") != "researcher":
        raise wrong("completion_code", "This is not a code of this study that researchers may use.")
    if submission.completed_at and submission.entered_code == code:
        return
    if submission.status != Status.ACTIVE or submission.completed_at:
        raise Invalid(f"The submission can't be completed, because its status is {submission.status}.")
    lifecycle_rules.finish(submission, code, call.now, actor="researcher")
    if any(action["action"] == "DYNAMIC_PAYMENT" for action in known[0]["actions"]):
        _pay_share(submission, call)


def _pay_share(submission: ProlificSubmission, call: ApiCall) -> None:
    data = call.fields().get("completion_code_data") or {}
    share = data.get("percentage_of_reward") if isinstance(data, dict) else None
    if not isinstance(share, int | float) or not 0 < share <= 100:
        raise wrong("completion_code_data", "percentage_of_reward must be above 0 and up to 100.")
    lifecycle_rules.approve_partially(submission, share, call.now)


def _asked_for(call: ApiCall) -> Iterable[ProlificSubmission]:
    own = ProlificSubmission.objects.filter(study__workspace=call.workspace, study__deleted_at=None).order_by("pk")
    fields = call.fields()
    if fields.get("study_id") and fields.get("participant_ids"):
        study, participants = own_study(call, call.text("study_id")), call.texts("participant_ids")
        ids = list(study.submissions.filter(participant__participant_id__in=participants).values_list("pk", flat=True))
        return list(own.filter(pk__in=ids))
    asked = call.texts("submission_ids")
    if len(asked) > behaviour().most_bulk_approvals:
        raise wrong("submission_ids", f"At most {behaviour().most_bulk_approvals} submissions at a time.")
    found = list(own.filter(submission_id__in=asked))
    if unknown := set(asked) - {one.submission_id for one in found}:
        raise wrong("submission_ids", f"There is no submission {min(unknown)}.")
    return found


def _own_submission(call: ApiCall, submission_id: str) -> ProlificSubmission:
    own = ProlificSubmission.objects.filter(study__workspace=call.workspace, study__deleted_at=None)
    found = own.select_related("participant", "study").filter(submission_id=submission_id).first()
    if found is None:
        raise NotFound("Submission not found.")
    return found


def _in_order(call: ApiCall, rows: QuerySet[ProlificSubmission], is_further_page: bool) -> QuerySet[ProlificSubmission]:
    if is_further_page and misbehaving.amount_of(Kind.ROWS_BETWEEN_PAGES) is not None:
        let_somebody_begin(rows, call.now)
    lag = misbehaving.amount_of(Kind.LIST_LAG)
    if lag is not None:
        rows = rows.filter(reserved_at__lte=call.now - timedelta(seconds=lag))
    if status := call.params.get("status"):
        rows = rows.filter(status=status)
    usual = "-started_at" if behaviour().are_newest_first else "started_at"
    column = ORDERINGS.get(call.params.get("ordering", ""), ORDERINGS[usual])
    return rows.select_related("participant", "study").order_by(column, "-pk" if column.startswith("-") else "pk")


# --- Shapes ----------------------------------------------------------------------------------------------------------


def _row_shape(submission: ProlificSubmission) -> dict[str, Any]:
    seconds = None
    if submission.completed_at and submission.started_at:
        seconds = int((submission.completed_at - submission.started_at).total_seconds())
    return {
        "id": submission.submission_id,
        "participant_id": submission.participant.participant_id,
        "status": submission.status,
        "started_at": submission.started_at or submission.reserved_at,
        "completed_at": submission.completed_at,
        "study_code": submission.entered_code or None,
        "has_siblings": submission.study.max_submissions_per_participant != 1,
        "is_complete": submission.completed_at is not None,
        "time_taken": seconds,
        "reward": submission.study.reward_cents,
        "return_requested": submission.return_requested_at,
        "star_awarded": False,
        "strata": {},
    }


def _whole_shape(submission: ProlificSubmission, call: ApiCall) -> dict[str, Any]:
    shown = submission.bonuses.filter(visible_at__lte=call.now).order_by(F("paid_at"), "pk")
    return {
        "id": submission.submission_id,
        "participant": submission.participant.participant_id,
        "study_id": submission.study.study_id,
        "status": submission.status,
        "started_at": submission.started_at or submission.reserved_at,
        "completed_at": submission.completed_at,
        "entered_code": submission.entered_code or None,
        "return_requested": submission.return_requested_at,
        "rejection_category": submission.rejection_category or None,
        "bonus_payments": [bonus.amount_cents for bonus in shown],
    }
