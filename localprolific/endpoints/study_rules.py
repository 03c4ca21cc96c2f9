"""Check the fields of a study that somebody creates or changes, and put them where they are stored."""

from typing import Any
from urllib.parse import urlsplit

from localprolific.errors import Invalid, missing, wrong
from localprolific.filter_catalogue import filter_problem
from localprolific.models import ProlificStudy, Workspace

CODE_TYPES = {"COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE"} | {
    "NO_CONSENT",
    "OTHER",
    "FIXED_SCREENOUT",
}
ACTIONS = {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN", "ADD_TO_PARTICIPANT_GROUP"} | {
    "REMOVE_FROM_PARTICIPANT_GROUP",
    "FIXED_SCREEN_OUT_PAYMENT",
    "DYNAMIC_PAYMENT",
}
NEED_ENABLING = {"FIXED_SCREEN_OUT_PAYMENT", "DYNAMIC_PAYMENT"}
LISTS = {
    "device_compatibility": {"desktop", "tablet", "mobile"},
    "peripheral_requirements": {"audio", "camera", "download", "microphone"},
    "content_warnings": {"sensitive", "explicit"},
}
ID_OPTIONS = {"url_parameters", "question", "not_required"}
REQUIRED_NUMBERS = ("total_available_places", "estimated_completion_time", "reward")
REQUIRED = ("name", "description", "prolific_id_option", "completion_codes", *REQUIRED_NUMBERS)
# Where a field of the wire is a column. Everything else is kept as it came.
COLUMNS = {
    "name": "name",
    "internal_name": "internal_name",
    "description": "description",
    "external_study_url": "external_study_url",
    "access_details": "access_details",
    "completion_codes": "completion_codes",
    "total_available_places": "total_available_places",
    "reward": "reward_cents",
    "estimated_completion_time": "estimated_minutes",
    "maximum_allowed_time": "maximum_minutes",
    "filters": "filters",
    "is_external_study_url_secure": "is_url_secure",
}
WHOLE = (*REQUIRED_NUMBERS, "maximum_allowed_time")
NOT_STORED = ("id", "status", "project", "submissions_config")
LIVE_FIELDS = {"total_available_places", "reward", "internal_name"}


def check_study(fields: dict[str, Any], workspace: Workspace, is_new: bool) -> None:
    """Raise the first problem of these fields. A change of a study names only what changes."""
    for name in REQUIRED if is_new else ():
        if fields.get(name) in (None, "", []):
            raise missing(name)
    for name in WHOLE:
        _check_whole(name, fields.get(name))
    for name, known in LISTS.items():
        _check_list(name, fields.get(name), known)
    if (option := fields.get("prolific_id_option")) is not None and option not in ID_OPTIONS:
        raise wrong("prolific_id_option", f"Choose one of {', '.join(sorted(ID_OPTIONS))}.")
    if fields.get("filters") and fields.get("filter_set_id"):
        raise Invalid("Use filters or filter_set_id, not both.")
    for one in _dicts("filters", fields.get("filters")):
        if problem := filter_problem(one):
            raise wrong("filters", problem)
    _check_addresses(fields, is_new)
    for one in _dicts("completion_codes", fields.get("completion_codes")):
        _check_code(one, workspace)


def store_fields(study: ProlificStudy, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if name in COLUMNS:
            setattr(study, COLUMNS[name], value)
        elif name not in NOT_STORED:
            study.fields[name] = value
    if config := fields.get("submissions_config"):
        study.max_submissions_per_participant = config.get("max_submissions_per_participant", 1)
        study.max_concurrent_submissions = config.get("max_concurrent_submissions", -1)
    if "estimated_completion_time" in fields and not fields.get("maximum_allowed_time"):
        study.maximum_minutes = study.maximum_minutes or usual_maximum(study.estimated_minutes)


def usual_maximum(estimated_minutes: int) -> int:
    """Return the time that people are given if the researcher says nothing. How Prolific computes it is a guess."""
    return max(estimated_minutes * 2 + 15, 20)


def check_live_change(study: ProlificStudy, fields: dict[str, Any]) -> None:
    """Raise if this can't change any more once the study is published."""
    if study.is_stopped:
        raise Invalid("This study has been stopped and can't be changed.")
    for name in set(fields) - LIVE_FIELDS:
        raise wrong(name, "This can't be changed after the study is published.")
    if fields.get("total_available_places", study.total_available_places) < study.total_available_places:
        raise wrong("total_available_places", "Places can only be increased.")
    if fields.get("reward", study.reward_cents) < study.reward_cents:
        raise wrong("reward", "The reward can only be increased.")


def _check_whole(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise wrong(name, "A positive integer is required.")


def _check_list(name: str, value: Any, known: set[str]) -> None:
    if value is None:
        return
    if not isinstance(value, list) or not all(isinstance(one, str) and one in known for one in value):
        raise wrong(name, f"Choose from {', '.join(sorted(known))}.")


def _check_addresses(fields: dict[str, Any], is_new: bool) -> None:
    url, details = fields.get("external_study_url"), _dicts("access_details", fields.get("access_details"))
    if url and details:
        raise Invalid("Use external_study_url or access_details, not both.")
    if is_new and not url and not details:
        raise missing("external_study_url")
    for one in [url, *(detail.get("external_url") for detail in details)]:
        if one is not None and (not isinstance(one, str) or urlsplit(one).scheme not in ("http", "https")):
            raise wrong("external_study_url", "Enter a valid URL.")
    if details and sum(one.get("total_allocation", 0) for one in details) != fields.get("total_available_places"):
        raise wrong("access_details", "The allocations must add up to total_available_places.")


def _check_code(one: dict[str, Any], workspace: Workspace) -> None:
    code, actions = one.get("code"), _dicts("actions", one.get("actions"))
    if not isinstance(code, str) or not code:
        raise wrong("completion_codes", "Each needs a code.")
    if one.get("code_type") not in CODE_TYPES:
        raise wrong("completion_codes", f"code_type is one of {', '.join(sorted(CODE_TYPES))}.")
    names = [action.get("action") for action in actions]
    if not names or not set(names) <= ACTIONS:
        raise wrong("completion_codes", f"Each needs actions from {', '.join(sorted(ACTIONS))}.")
    if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= set(names):
        raise wrong("completion_codes", "A code can't both approve automatically and ask for a manual review.")
    if set(names) & NEED_ENABLING and not workspace.has_screen_outs:
        raise wrong("completion_codes", "Screen-out and dynamic payments are not enabled for this workspace.")
    for action in actions:
        _check_action(action)


def _check_action(action: dict[str, Any]) -> None:
    needed = {
        "REQUEST_RETURN": ["return_reason"],
        "ADD_TO_PARTICIPANT_GROUP": ["participant_group"],
        "REMOVE_FROM_PARTICIPANT_GROUP": ["participant_group"],
        "FIXED_SCREEN_OUT_PAYMENT": ["reward", "slots"],
    }
    for name in needed.get(action["action"], []):
        if not action.get(name):
            raise wrong("completion_codes", f"{action['action']} needs {name}.")


def _dicts(name: str, value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise wrong(name, "Expected a list of objects.")
    return value
