"""Reads what Prolific says of submissions: which were handed in, in which state, by whom, and when."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from hits.crowds.market import MarketAssignment
from hits.models import Submission

Status = Submission.Status
# Prolific writes these with a space; a hyphen or an underscore in its place means the same.
HANDED_IN = {
    "AWAITING REVIEW": Status.SUBMITTED,
    "APPROVED": Status.APPROVED,
    "PARTIALLY APPROVED": Status.APPROVED,
    "REJECTED": Status.REJECTED,
}
WORKING = ("RESERVED", "ACTIVE")
LATE = "TIMED OUT"
RETURNED = "RETURNED"
FREED = (RETURNED, LATE)  # whose places Prolific gives to others
APPROVED_AFTER = timedelta(days=21)  # Prolific approves by itself what nobody has reviewed


def status_word(found: Mapping[str, Any]) -> str:
    return str(found.get("status", "")).upper().replace("-", " ").replace("_", " ")


def participant_of(found: Mapping[str, Any]) -> str:
    """Return who it is: one object has `participant`, and rows of a list have `participant_id`."""
    return str(found.get("participant") or found.get("participant_id") or "")


def code_of(found: Mapping[str, Any]) -> str:
    return str(found.get("entered_code") or found.get("study_code") or "")


def is_decided(found: Mapping[str, Any]) -> bool:
    return status_word(found) != "AWAITING REVIEW"


def time_of(value: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def assignment_from(found: Mapping[str, Any], crowd_hit_id: str) -> MarketAssignment:
    submitted_at = time_of(found.get("completed_at"))
    accepted_at = time_of(found.get("started_at")) or submitted_at or datetime.now(UTC)
    return MarketAssignment(
        crowd_assignment_id=str(found["id"]),
        crowd_hit_id=crowd_hit_id,
        crowd_worker_id=participant_of(found),
        status=HANDED_IN.get(status_word(found), Status.RETURNED),
        accepted_at=accepted_at,
        submitted_at=submitted_at,
        auto_approval_at=submitted_at + APPROVED_AFTER if submitted_at else None,
        answer="",
    )
