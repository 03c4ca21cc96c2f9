"""Create participants to try studies with: people of different countries, ages and histories."""

from typing import Any

from localprolific.hex_ids import new_id
from localprolific.models import Participant

# The filters of localprolific/filter_catalogue.py look at these answers. So Ines lives in Germany, Finn has only just
# begun, and Gita's work was often rejected.
PEOPLE: list[tuple[str, str, str, int, int, int]] = [
    ("5f00a1c3b2d4e6f708192a01", "Asha", "0", 34, 99, 1210),
    ("5f00a1c3b2d4e6f708192a02", "Ben", "1", 27, 97, 402),
    ("5f00a1c3b2d4e6f708192a03", "Cora", "2", 51, 100, 88),
    ("5f00a1c3b2d4e6f708192a04", "Dewi", "0", 63, 98, 2300),
    ("5f00a1c3b2d4e6f708192a05", "Eli", "6", 22, 96, 310),
    ("5f00a1c3b2d4e6f708192a06", "Finn", "1", 19, 100, 2),
    ("5f00a1c3b2d4e6f708192a07", "Gita", "0", 45, 81, 640),
    ("5f00a1c3b2d4e6f708192a08", "Ines", "3", 38, 99, 970),
]

USUAL_ANSWERS: dict[str, Any] = {
    "sex": "1",
    "handedness": "1",
    "first-language": "0",
    "bilingual": "1",
    "highest-education-level-completed": "2",
    "employment-status": "0",
    "student-status": "1",
    "vision": "0",
    "dyslexia": "1",
    "mental-health-ongoing": "1",
    "ai-chatbots-use": "1",
    "webcam": "0",
    "hours-online": 25,
}


def ensure_participants() -> list[Participant]:
    """Create the participants that are missing, and leave the others as they are."""
    return [_ensure(*person) for person in PEOPLE]


def new_participant(name: str, answers: dict[str, Any] | None = None, is_simulated: bool = True) -> Participant:
    """Create somebody new, who answers Prolific's questions as a usual participant would, but for these answers."""
    given = {**_answers("0", 30, 99, 200), **(answers or {})}
    return Participant.objects.create(participant_id=new_id(), name=name, answers=given, is_simulated=is_simulated)


def is_simulated_participant(participant_id: str) -> bool:
    """Return whether a participant is made up. Nothing that a participant sends may change the answer."""
    return Participant.objects.filter(participant_id=participant_id, is_simulated=True).exists()


def _ensure(participant_id: str, name: str, country: str, age: int, rate: int, count: int) -> Participant:
    defaults = {"name": name, "answers": _answers(country, age, rate, count)}
    return Participant.objects.get_or_create(participant_id=participant_id, defaults=defaults)[0]


def _answers(country: str, age: int, rate: int, count: int) -> dict[str, Any]:
    return {
        **USUAL_ANSWERS,
        "current-country-of-residence": country,
        "nationality": country,
        "country-of-birth": country,
        "fluent-languages": ["0"] if country != "3" else ["0", "1"],
        "age": age,
        "approval_rate": rate,
        "approval_numbers": count,
    }
