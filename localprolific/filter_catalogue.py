"""List the filters by which studies choose participants here, and tell whether one lets a participant in.

A small selection with Prolific's shapes. Clients must read the list, because ids and choices differ over time.
"""

from typing import Any

from localprolific.behaviour import behaviour
from localprolific.models import GroupMember, Participant, ProlificSubmission


def _numbered(*titles: str) -> dict[str, str]:
    """Return choices as Prolific has them: numbers as texts, with what people read."""
    return {str(number): title for number, title in enumerate(titles)}


COUNTRIES = _numbered(
    *("United Kingdom", "United States", "Ireland", "Germany", "France", "Spain", "Australia", "New Zealand"),
    *("Canada", "Austria", "Belgium", "Brazil", "Chile", "Czech Republic", "Denmark", "Estonia", "Finland", "Greece"),
    *("Hungary", "Iceland", "India", "Israel", "Italy", "Japan", "Kenya", "Korea", "Latvia", "Luxembourg", "Mexico"),
    *("Netherlands", "Nigeria", "Norway", "Poland", "Portugal", "Singapore", "Slovenia", "South Africa", "Sweden"),
    *("Switzerland", "Turkey"),
)
LANGUAGES = _numbered(
    *("English", "German", "French", "Spanish", "Arabic", "Bengali", "Chinese", "Czech", "Danish", "Dutch", "Finnish"),
    *("Greek", "Hebrew", "Hindi", "Italian", "Japanese", "Korean", "Polish", "Portuguese", "Russian", "Swedish"),
    *("Turkish", "Urdu", "Vietnamese"),
)
YES_NO = _numbered("Yes", "No", "Rather not say")
ABOUT_YOU, LANGUAGE, WORK, HEALTH, USE = "About you", "Languages", "Education and work", "Health", "Technology"
SELECT: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "current-country-of-residence": (
        "Current country of residence",
        "In what country do you currently reside?",
        ABOUT_YOU,
        COUNTRIES,
    ),
    "nationality": ("Nationality", "What is your nationality?", ABOUT_YOU, COUNTRIES),
    "country-of-birth": ("Country of birth", "In which country were you born?", ABOUT_YOU, COUNTRIES),
    "sex": ("Sex", "What is your sex, as recorded on legal documents?", ABOUT_YOU, _numbered("Male", "Female")),
    "handedness": (
        "Handedness",
        "Which hand do you write with?",
        ABOUT_YOU,
        _numbered("Left-handed", "Right-handed", "Ambidextrous"),
    ),
    "fluent-languages": ("Fluent languages", "Which of these languages are you fluent in?", LANGUAGE, LANGUAGES),
    "first-language": ("First language", "What is your first language?", LANGUAGE, LANGUAGES),
    "bilingual": ("Bilingual", "Were you raised with two languages or more?", LANGUAGE, YES_NO),
    "highest-education-level-completed": (
        "Highest education level completed",
        "Which of these is the highest level of education you have completed?",
        WORK,
        _numbered("No formal qualifications", "Secondary education", "Undergraduate degree", "Graduate degree", "PhD"),
    ),
    "employment-status": (
        "Employment status",
        "What is your employment status?",
        WORK,
        _numbered("Full-time", "Part-time", "Unemployed", "Not in paid work", "Other"),
    ),
    "student-status": ("Student status", "Are you a student?", WORK, _numbered("Yes", "No")),
    "vision": ("Vision", "Do you have normal or corrected-to-normal vision?", HEALTH, YES_NO),
    "dyslexia": ("Dyslexia", "Have you been diagnosed with dyslexia?", HEALTH, YES_NO),
    "mental-health-ongoing": ("Ongoing mental health condition", "Do you have one?", HEALTH, YES_NO),
    "ai-chatbots-use": (
        "Use of AI chatbots",
        "How often do you use conversational AI, such as chatbots?",
        USE,
        _numbered("Every day", "Several times a week", "Less often", "Never"),
    ),
    "webcam": ("Webcam", "Do you have a webcam that you are willing to use?", USE, YES_NO),
}
RANGE: dict[str, tuple[str, str, str, int, int]] = {
    "age": ("Age", "What is your date of birth?", ABOUT_YOU, 18, 100),
    "approval_rate": ("Approval rate", "In percent of the submissions so far", "Participation", 0, 100),
    "approval_numbers": ("Number of previous submissions", "Approved ones", "Participation", 0, 10_000),
    "hours-online": ("Hours online", "How many hours do you spend online, a week?", USE, 0, 168),
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
        _shape(key, "select", title, {"choices": choices, "data_type": "ChoiceID"}, question, category)
        for key, (title, question, category, choices) in SELECT.items()
    ]
    found += [
        _shape(key, "range", title, {"min": least, "max": most, "data_type": "integer"}, question, category)
        for key, (title, question, category, least, most) in RANGE.items()
    ]
    data_types = {"custom": "ParticipantID", "previous": "StudyID"}  # else about groups
    lists = {**LISTS, behaviour().blocklist_filter: "Nobody in these groups"}
    return found + [
        _shape(
            key, "select", title, {"choices": {}, "data_type": data_types.get(key.split("_")[0], "ParticipantGroupID")}
        )
        for key, title in lists.items()
    ]


def _shape(
    key: str, kind: str, title: str, attributes: dict[str, Any], question: str = "", category: str = "Lists"
) -> dict[str, Any]:
    return {
        "filter_id": key,
        "title": title,
        "description": "",
        "question": question or title,
        "type": kind,
        "researcher_help_text": "",
        "participant_help_text": "",
        "category": category,
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
