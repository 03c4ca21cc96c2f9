"""The study that clients for Prolific publish here. Nothing here may import the project or its dependencies."""

from typing import Any

CODES: list[dict[str, Any]] = [
    {
        "code": "DONE1",
        "code_type": "COMPLETED",
        "actor": "participant",
        "actions": [{"action": "MANUALLY_REVIEW"}],
    },
]
STUDY: dict[str, Any] = {
    "name": "Rate replies",
    "internal_name": "rate-replies-1",
    "description": "Read dialogs and rate the replies.",
    "external_study_url": "https://eval.example.org/work/?SESSION_ID={{%SESSION_ID%}}",
    "prolific_id_option": "url_parameters",
    "total_available_places": 3,
    "estimated_completion_time": 10,
    "maximum_allowed_time": 40,
    "reward": 150,
    "device_compatibility": ["desktop"],
    "peripheral_requirements": [],
}
BONUS = "0.25"  # in pounds
BONUS_CENTS = 25
MESSAGE = (
    "You left all forty questions empty and handed in after nine seconds, although the task asked you to read the "
)
MESSAGE += "dialogs and to rate every reply."
