"""Answer for users, workspaces, their balance and projects, recommended rewards, and test participants."""

from typing import Any

from localprolific.behaviour import behaviour
from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, endpoint
from localprolific.endpoints.page_links import whole_list
from localprolific.errors import NotFound, Unprocessable, missing, wrong
from localprolific.hex_ids import new_id
from localprolific.models import Participant, Project, Workspace
from localprolific.wallet import fee_cents

RATES_AN_HOUR = {"GBP": (600, 900), "USD": (800, 1200)}  # the least and the recommended, in pence or cents


@endpoint("GET", "users/me/")
def show_me(call: ApiCall) -> ApiAnswer:
    workspace = call.workspace
    shape = {
        "id": workspace.owner_id,
        "email": "researcher@localprolific.invalid",
        "first_name": "Local",
        "last_name": "Researcher",
        "name": "Local Researcher",
        "username": "researcher@localprolific.invalid",
        "user_type": "researcher",
        "currency_code": workspace.currency,
        "balance": workspace.balance_cents,
        "available_balance": workspace.available_cents,
    }
    return ApiAnswer(shape)


@endpoint("GET", "workspaces/")
def list_workspaces(call: ApiCall) -> ApiAnswer:
    return ApiAnswer(whole_list([_workspace_shape(call.workspace)]))


@endpoint("GET", "workspaces/{workspace_id}/")
def show_workspace(call: ApiCall, workspace_id: str) -> ApiAnswer:
    return ApiAnswer(_workspace_shape(own_workspace(call, workspace_id)))


@endpoint("GET", "workspaces/{workspace_id}/balance/")
def show_balance(call: ApiCall, workspace_id: str) -> ApiAnswer:
    workspace = own_workspace(call, workspace_id)
    if not behaviour().is_balance_told:
        raise NotFound("There is nothing at this address.")
    shape = {
        "currency_code": workspace.currency,
        "total_balance": workspace.balance_cents,
        "balance_breakdown": _split(workspace, workspace.balance_cents),
        "available_balance": workspace.available_cents,
        "available_balance_breakdown": _split(workspace, workspace.available_cents),
    }
    return ApiAnswer(shape)


@endpoint("GET", "workspaces/{workspace_id}/projects/")
def list_projects(call: ApiCall, workspace_id: str) -> ApiAnswer:
    workspace = own_workspace(call, workspace_id)
    return ApiAnswer(whole_list([_project_shape(one) for one in workspace.projects.all()]))


@endpoint("POST", "workspaces/{workspace_id}/projects/")
def create_project(call: ApiCall, workspace_id: str) -> ApiAnswer:
    workspace = own_workspace(call, workspace_id)
    project = Project.objects.create(project_id=new_id(), workspace=workspace, title=call.text("title"))
    return ApiAnswer(_project_shape(project), 201)


@endpoint("GET", "projects/{project_id}/")
def show_project(call: ApiCall, project_id: str) -> ApiAnswer:
    return ApiAnswer(_project_shape(own_project(call, project_id)))


@endpoint("GET", "reward-recommendations/")
def recommend_rewards(call: ApiCall) -> ApiAnswer:
    currency = call.params.get("currency_code") or call.params.get("currency") or call.workspace.currency
    if currency not in RATES_AN_HOUR:
        raise wrong("currency", "Choose GBP or USD.")
    least, recommended = RATES_AN_HOUR[currency]
    shape = {"currency": currency, "min_reward_per_hour": least, "recommended_reward_per_hour": recommended}
    return ApiAnswer(shape)


@endpoint("POST", "researchers/participants/")
def create_test_participant(call: ApiCall) -> ApiAnswer:
    if not call.workspace.has_test_participants:
        raise Unprocessable("Test participants are not enabled for this workspace.")
    email = call.text("email")
    if "@" not in email:
        raise wrong("email", "Enter a valid email address.")
    found = Participant.objects.filter(email=email).first()
    one = found or Participant.objects.create(participant_id=new_id(), name=email.split("@")[0], email=email)
    return ApiAnswer({"participant_id": one.participant_id}, 200 if found else 201)


def own_workspace(call: ApiCall, workspace_id: str) -> Workspace:
    """Return the caller's workspace, if that is the one in question. Its sums are read anew."""
    if workspace_id != call.workspace.workspace_id:
        raise NotFound("Workspace not found.")
    return Workspace.objects.get(pk=call.workspace.pk)


def named_workspace(call: ApiCall, given: Any) -> Workspace:
    if not given:
        raise missing("workspace_id")
    return own_workspace(call, str(given))


def own_project(call: ApiCall, project_id: str) -> Project:
    project = call.workspace.projects.filter(project_id=project_id).first()
    if project is None:
        raise NotFound("Project not found.")
    return project


def _split(workspace: Workspace, cents: int) -> dict[str, int]:
    """Return which part of a balance can go to participants, and what fee and VAT then take of it."""
    rewards = cents * 100_000_000 // (100_000_000 + workspace.fee_bps * (10_000 + workspace.vat_bps))
    fees = min(fee_cents(workspace, rewards), cents - rewards)
    return {"rewards": rewards, "fees": fees, "vat": cents - rewards - fees}


def _workspace_shape(workspace: Workspace) -> dict[str, Any]:
    return {
        "id": workspace.workspace_id,
        "title": workspace.title,
        "description": "",
        "owner": workspace.owner_id,
        "users": [_owner_shape(workspace, "WORKSPACE_ADMIN")],
        "projects": [{"id": one.project_id} for one in workspace.projects.all()],
        "wallet": workspace.owner_id,
        "naivety_distribution_rate": 0.5,
    }


def _project_shape(project: Project) -> dict[str, Any]:
    return {
        "id": project.project_id,
        "title": project.title,
        "description": "",
        "owner": project.workspace.owner_id,
        "users": [_owner_shape(project.workspace, "PROJECT_EDITOR")],
        "workspace": project.workspace.workspace_id,
        "naivety_distribution_rate": 0.5,
    }


def _owner_shape(workspace: Workspace, role: str) -> dict[str, Any]:
    email = "researcher@localprolific.invalid"
    return {"id": workspace.owner_id, "name": "Local Researcher", "email": email, "roles": [role]}
