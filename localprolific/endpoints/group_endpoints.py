"""Create, show and list participant groups, and change who is in one."""

from typing import Any

from django.db.models import Count, QuerySet

from localprolific.endpoints.account_endpoints import named_workspace, own_project
from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, endpoint
from localprolific.endpoints.page_links import page_by_offset
from localprolific.errors import NotFound, missing, wrong
from localprolific.hex_ids import new_id
from localprolific.models import GroupMember, Participant, ParticipantGroup


@endpoint("POST", "participant-groups/")
def create_group(call: ApiCall) -> ApiAnswer:
    fields = call.fields()
    project = own_project(call, str(fields["project_id"])) if fields.get("project_id") else None
    group = ParticipantGroup.objects.create(
        group_id=new_id(),
        workspace=project.workspace if project else named_workspace(call, fields.get("workspace_id")),
        project=project,
        name=call.text("name"),
        description=str(fields.get("description") or ""),
    )
    if fields.get("participant_ids"):
        _add(group, call)
    return ApiAnswer(_shape(group), 201)


@endpoint("GET", "participant-groups/")
def list_groups(call: ApiCall) -> ApiAnswer:
    groups = ParticipantGroup.objects.filter(workspace=call.workspace, is_deleted=False)
    if call.params.get("project_id"):
        groups = groups.filter(project=own_project(call, call.params["project_id"]))
    elif call.params.get("workspace_id"):
        named_workspace(call, call.params["workspace_id"])
    else:
        raise missing("workspace_id")
    rows, links = page_by_offset(call, groups.annotate(member_count=Count("members")).order_by("pk"))
    return ApiAnswer({"results": [_shape(group) for group in rows], **links})


@endpoint("GET", "participant-groups/{group_id}/")
def show_group(call: ApiCall, group_id: str) -> ApiAnswer:
    return ApiAnswer(_shape(_own_group(call, group_id)))


@endpoint("PATCH", "participant-groups/{group_id}/")
def rename_group(call: ApiCall, group_id: str) -> ApiAnswer:
    group = _own_group(call, group_id)
    group.name = call.text("name")
    group.save()
    return ApiAnswer(_shape(group))


@endpoint("DELETE", "participant-groups/{group_id}/")
def delete_group(call: ApiCall, group_id: str) -> ApiAnswer:
    group = _own_group(call, group_id)
    group.is_deleted = True
    group.save()
    return ApiAnswer(None, 204)


@endpoint("GET", "participant-groups/{group_id}/participants/")
def list_members(call: ApiCall, group_id: str) -> ApiAnswer:
    return ApiAnswer(_members_shape(_own_group(call, group_id)))


@endpoint("POST", "participant-groups/{group_id}/participants/")
def add_members(call: ApiCall, group_id: str) -> ApiAnswer:
    group = _own_group(call, group_id)
    _add(group, call)
    return ApiAnswer(_members_shape(group))


@endpoint("DELETE", "participant-groups/{group_id}/participants/")
def remove_members(call: ApiCall, group_id: str) -> ApiAnswer:
    group = _own_group(call, group_id)
    group.members.filter(participant__participant_id__in=call.texts("participant_ids")).delete()
    return ApiAnswer(_members_shape(group))


def _add(group: ParticipantGroup, call: ApiCall) -> None:
    asked = call.texts("participant_ids")
    found = {one.participant_id: one for one in Participant.objects.filter(participant_id__in=asked)}
    if unknown := [one for one in asked if one not in found]:
        raise wrong("participant_ids", f"There is no participant {unknown[0]}.")
    for one in found.values():
        GroupMember.objects.get_or_create(group=group, participant=one, defaults={"joined_at": call.now})


def _own_group(call: ApiCall, group_id: str) -> ParticipantGroup:
    group = ParticipantGroup.objects.filter(workspace=call.workspace, group_id=group_id, is_deleted=False).first()
    if group is None:
        raise NotFound("Participant group not found.")
    return group


def _members_shape(group: ParticipantGroup) -> dict[str, Any]:
    members: QuerySet[GroupMember] = group.members.select_related("participant")
    return {
        "results": [
            {"participant_id": one.participant.participant_id, "datetime_created": one.joined_at} for one in members
        ]
    }


def _shape(group: ParticipantGroup) -> dict[str, Any]:
    return {
        "id": group.group_id,
        "name": group.name,
        "description": group.description,
        "project_id": group.project.project_id if group.project else None,
        "workspace_id": group.workspace.workspace_id,
        "participant_count": group.members.count(),
        "is_deleted": group.is_deleted,
        "feeder_studies": [],
    }
