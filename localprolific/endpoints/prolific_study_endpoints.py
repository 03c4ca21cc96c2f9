"""Create, show, list, change, publish, pause, start, stop, delete and test studies."""

from datetime import timedelta
from typing import Any

from localprolific.behaviour import behaviour
from localprolific.endpoints.account_endpoints import own_project
from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, endpoint
from localprolific.endpoints.page_links import numbered_page
from localprolific.endpoints.study_rules import COLUMNS, check_live_change, check_study, store_fields, usual_maximum
from localprolific.errors import Invalid, NotFound, Unprocessable, wrong
from localprolific.hex_ids import new_id
from localprolific.lifecycle_rules import (
    cost_to_hold,
    count_by_status,
    lock_study,
    places_taken,
    refresh,
    set_study_status,
)
from localprolific.models import Participant, Project, ProlificStudy
from localprolific.wallet import cost_cents, hold_for_study

Status = ProlificStudy.Status
STATE_PARAMS = {"active": Status.ACTIVE, "completed": Status.COMPLETED, "scheduled": Status.SCHEDULED}
AVAILABLE_ACTIONS = {
    Status.UNPUBLISHED: ["PUBLISH"],
    Status.ACTIVE: ["PAUSE", "STOP"],
    Status.PAUSED: ["START", "STOP"],
}


@endpoint("POST", "studies/")
def create_study(call: ApiCall) -> ApiAnswer:
    fields = call.fields()
    check_study(fields, call.workspace, is_new=True)
    study = ProlificStudy(
        study_id=new_id(),
        workspace=call.workspace,
        project=_project_of(call, fields.get("project")),
        created_at=call.now,
        maximum_minutes=usual_maximum(fields["estimated_completion_time"]),
    )
    store_fields(study, fields)
    study.save()
    return ApiAnswer(study_shape(study), 201)


@endpoint("GET", "studies/")
def list_studies(call: ApiCall) -> ApiAnswer:
    studies = call.workspace.studies.undeleted().order_by("-created_at", "-pk")
    if state := call.params.get("state"):
        studies = studies.filter(status=state.upper().replace("_", " "))
    for name, status in STATE_PARAMS.items():
        if call.params.get(name) == "1":
            studies = studies.filter(status=status)
    if call.params.get("published") == "0":
        studies = studies.filter(status=Status.UNPUBLISHED)
    rows, links = numbered_page(call, studies)
    return ApiAnswer({"results": [short_shape(study) for study in rows], **links})


@endpoint("GET", "projects/{project_id}/studies/")
def list_project_studies(call: ApiCall, project_id: str) -> ApiAnswer:
    studies = own_project(call, project_id).studies.undeleted().order_by("-created_at", "-pk")
    rows, links = numbered_page(call, studies)
    return ApiAnswer({"results": [short_shape(study) for study in rows], **links})


@endpoint("GET", "studies/{study_id}/")
def show_study(call: ApiCall, study_id: str) -> ApiAnswer:
    return ApiAnswer(study_shape(own_study(call, study_id)))


@endpoint("PATCH", "studies/{study_id}/", moves_money=True)
def change_study(call: ApiCall, study_id: str) -> ApiAnswer:
    """Change a draft as one likes, and a published study in little but its places, which are an absolute number."""
    study = lock_study(own_study(call, study_id).pk)
    fields = call.fields()
    if study.status == Status.UNPUBLISHED:
        merged = {"access_details": study.access_details, "total_available_places": study.total_available_places}
        check_study({**(merged if study.access_details else {}), **fields}, study.workspace, is_new=False)
        if "project" in fields:
            study.project = _project_of(call, fields["project"])
        store_fields(study, fields)
        study.save()
        return ApiAnswer(study_shape(study))
    check_live_change(study, fields)
    check_study(fields, study.workspace, is_new=False)
    had_places = study.total_available_places
    store_fields(study, fields)
    if study.total_available_places > had_places and study.status in (Status.AWAITING_REVIEW, Status.COMPLETED):
        set_study_status(study, Status.ACTIVE if behaviour().are_more_places_reopening else Status.PAUSED, call.now)
    hold_for_study(study, max(study.held_cents, cost_to_hold(study, count_by_status(study))))
    refresh(study, call.now)
    return ApiAnswer(study_shape(study))


@endpoint("POST", "studies/{study_id}/transition/", moves_money=True)
def transition_study(call: ApiCall, study_id: str) -> ApiAnswer:
    study = lock_study(own_study(call, study_id).pk)
    match call.text("action"):
        case "PUBLISH":
            _publish(study, call)
        case "PAUSE":
            _switch(study, Status.ACTIVE, Status.PAUSED, call)
        case "START":
            _switch(study, Status.PAUSED, Status.ACTIVE, call)
        case "STOP":
            _stop(study, call)
        case other:
            raise wrong("action", f'"{other}" is not a valid choice.')
    return ApiAnswer(study_shape(study))


@endpoint("DELETE", "studies/{study_id}/")
def delete_study(call: ApiCall, study_id: str) -> ApiAnswer:
    study = lock_study(own_study(call, study_id).pk)
    if study.status != Status.UNPUBLISHED:
        raise Invalid("Only unpublished studies can be deleted.")
    study.deleted_at = call.now
    study.save()
    return ApiAnswer(None, 204)


@endpoint("GET", "studies/{study_id}/access-details-progress/")
def show_progress(call: ApiCall, study_id: str) -> ApiAnswer:
    study = own_study(call, study_id)
    urls = list(
        study.submissions.exclude(status__in=["RETURNED", "REJECTED", "TIMED-OUT"]).values_list("url", flat=True)
    )
    return ApiAnswer([{**one, "allocated": urls.count(one["external_url"])} for one in study.access_details])


@endpoint("POST", "studies/{study_id}/test-study/")
def try_study(call: ApiCall, study_id: str) -> ApiAnswer:
    """Make a copy of a draft that costs nothing, and that test participants only can take part in."""
    draft = own_study(call, study_id)
    testers = list(Participant.objects.exclude(email="").values_list("participant_id", flat=True))
    if draft.status != Status.UNPUBLISHED:
        raise Invalid("Only a draft can be tested.")
    if not testers:
        raise Unprocessable("Create a test participant first.")
    test = ProlificStudy.objects.get(pk=draft.pk)
    test.pk, test.study_id, test.is_test = None, new_id(), True
    test.status, test.created_at, test.published_at = Status.ACTIVE, call.now, call.now
    test.filters = [{"filter_id": "custom_allowlist", "selected_values": testers}]
    test.save()
    return ApiAnswer({"study_id": test.study_id, "study_url": f"{call.base_url}/studies/{test.study_id}/"}, 201)


def own_study(call: ApiCall, study_id: str) -> ProlificStudy:
    """Return a study of the caller's workspace. One that was deleted is not found, whatever it was."""
    study = call.workspace.studies.undeleted().filter(study_id=study_id).first()
    if study is None:
        raise NotFound("Study not found.")
    return study


def _project_of(call: ApiCall, project_id: Any) -> Project:
    if project_id:
        return own_project(call, str(project_id))
    first = call.workspace.projects.first()
    return first or Project.objects.create(project_id=new_id(), workspace=call.workspace, title="Project")


def _publish(study: ProlificStudy, call: ApiCall) -> None:
    """Hold the money, and begin to publish. The study is on offer a little later."""
    if study.status != Status.UNPUBLISHED:
        if behaviour().second_publish == "ignored" and not study.is_stopped:
            return
        raise Invalid(f"The study can't be published, because its status is {study.status}.")
    hold_for_study(study, study.total_available_places * cost_cents(study.workspace, study.reward_cents))
    study.published_at = call.now
    study.due_at = call.now + timedelta(seconds=behaviour().publishing_seconds)
    passing = Status.PROCESSING if behaviour().is_processing_shown else Status.PUBLISHING
    set_study_status(study, passing, call.now)


def _switch(study: ProlificStudy, was: str, becomes: str, call: ApiCall) -> None:
    if study.status == becomes:
        return
    if study.status != was or study.is_stopped:
        raise Invalid(f"This is not possible, because the status of the study is {study.status}.")
    set_study_status(study, becomes, call.now)
    refresh(study, call.now)


def _stop(study: ProlificStudy, call: ApiCall) -> None:
    if study.is_stopped:
        return
    if study.status in (Status.UNPUBLISHED, Status.PUBLISHING, Status.PROCESSING):
        raise Invalid(f"This is not possible, because the status of the study is {study.status}.")
    study.is_stopped = True
    set_study_status(study, Status.AWAITING_REVIEW, call.now)
    refresh(study, call.now)


# --- Shapes ----------------------------------------------------------------------------------------------------------


def study_shape(study: ProlificStudy) -> dict[str, Any]:
    counts = count_by_status(study)
    return {
        **study.fields,
        **{name: getattr(study, column) for name, column in COLUMNS.items()},
        **short_shape(study, counts),
        "submissions_config": {
            "max_submissions_per_participant": study.max_submissions_per_participant,
            "max_concurrent_submissions": study.max_concurrent_submissions,
        },
        "presentment_currency_code": study.workspace.currency,
        "currency_code": study.workspace.currency,
        "researcher": {"id": study.workspace.owner_id},
        "project": study.project.project_id,
    }


def short_shape(study: ProlificStudy, counts: dict[str, int] | None = None) -> dict[str, Any]:
    counts = counts or count_by_status(study)
    return {
        "id": study.study_id,
        "name": study.name,
        "internal_name": study.internal_name,
        "status": study.status,
        "study_type": "SINGLE",
        "total_available_places": study.total_available_places,
        "places_taken": places_taken(counts),
        "number_of_submissions": sum(counts.values()),
        "reward": study.reward_cents,
        "total_cost": study.total_available_places * cost_cents(study.workspace, study.reward_cents),
        "date_created": study.created_at,
        "published_at": study.published_at,
        "publish_at": None,
        "is_reallocated": False,
        "study_actions": [] if study.is_stopped else AVAILABLE_ACTIONS.get(Status(study.status), []),
    }
