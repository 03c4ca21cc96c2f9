"""List the filters by which studies choose participants here, and tell whether one lets a participant in.

A small selection with Prolific's shapes. Clients must read the list, because ids and choices differ over time.
"""

from typing import Any

from localprolific.behaviour import behaviour
from localprolific.models import GroupMember, Participant, ProlificSubmission

COUNTRIES = {"0": "United Kingdom", "1": "United States", "2": "Ireland", "3": "Germany", "4": "France"} | {
    "5": "Spain",
    "6": "Australia",
    "7": "New Zealand",
    "8": "Canada",
}
LANGUAGES = {"0": "English", "1": "German", "2": "French", "3": "Spanish"}
SELECT: dict[str, tuple[str, dict[str, str]]] = {
    "current-country-of-residence": ("Current country of residence", COUNTRIES),
    "fluent-languages": ("Fluent languages", LANGUAGES),
    "sex": ("Sex", {"0": "Male", "1": "Female"}),
}
RANGE: dict[str, tuple[str, int, int]] = {
    "age": ("Age", 18, 100),
    "approval_rate": ("Approval rate", 0, 100),
    "approval_numbers": ("Number of previous submissions", 0, 10_000),
}
LISTS = {
    "custom_allowlist": "Custom allowlist",
    "custom_blocklist": "Custom blocklist",
    "participant_group_allowlist": "Participants in these groups",
    "previous_studies_allowlist": "Participants of these studies",
    "previous_studies_blocklist": "Nobody who took part in these studies",
}


def all_filters() -> list[dict[str, Any]]:
    found = [
        _shape(key, "select", title, {"choices": choices, "data_type": "ChoiceID"})
        for key, (title, choices) in SELECT.items()
    ]
    found += [
        _shape(key, "range", title, {"min": least, "max": most, "data_type": "integer"})
        for key, (title, least, most) in RANGE.items()
    ]
    data_types = {"custom": "ParticipantID", "participant": "ParticipantGroupID", "previous": "StudyID"}
    lists = {**LISTS, behaviour().blocklist_filter: "Nobody in these groups"}
    return found + [
        _shape(key, "select", title, {"choices": {}, "data_type": data_types[key.split("_")[0]]})
        for key, title in lists.items()
    ]


def _shape(key: str, kind: str, title: str, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "filter_id": key,
        "title": title,
        "description": "",
        "question": title,
        "type": kind,
        "researcher_help_text": "",
        "participant_help_text": "",
        "category": "Local",
        "subcategory": "",
        "display_order": 0,
        "tags": [],
        **attributes,
    }


def filter_problem(one: dict[str, Any]) -> str:
    """Return what is wrong with a filter of a study; empty if nothing is."""
    known = {found["filter_id"]: found for found in all_filters()}
    found = known.get(one.get("filter_id", ""))
    if found is None:
        return f"{one.get('filter_id')} is not a filter."
    if found["type"] == "range":
        bounds = one.get("selected_range")
        return "" if isinstance(bounds, dict) and bounds.keys() <= {"lower", "upper"} else "selected_range is missing."
    values = one.get("selected_values")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return "selected_values is missing."
    unknown = [value for value in values if found["choices"] and value not in found["choices"]]
    return f"{unknown[0]} is not a choice of {one['filter_id']}." if unknown else ""


def lets_in(one: dict[str, Any], participant: Participant) -> bool:
    key, values = one["filter_id"], one.get("selected_values", [])
    if key in RANGE:
        answer: int | None = participant.answers.get(key)
        lower: int | None = one["selected_range"].get("lower")
        upper: int | None = one["selected_range"].get("upper")
        return answer is not None and (lower is None or lower <= answer) and (upper is None or answer <= upper)
    if key in SELECT:
        given = participant.answers.get(key, [])
        return bool(set(given if isinstance(given, list) else [given]) & set(values))
    is_blocking = key.endswith("_blocklist") or key == behaviour().blocklist_filter
    return _is_on_list(key, values, participant) is not is_blocking


def _is_on_list(key: str, values: list[str], participant: Participant) -> bool:
    if key.startswith("custom"):
        return participant.participant_id in values
    if key.startswith("previous"):
        return ProlificSubmission.objects.filter(participant=participant, study__study_id__in=values).exists()
    return GroupMember.objects.filter(participant=participant, group__group_id__in=values).exists()
