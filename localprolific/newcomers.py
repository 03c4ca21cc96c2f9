"""Let somebody new begin to work on a study, for the fault that adds rows between two pages of a list."""

from datetime import datetime

from django.db.models import QuerySet

from localprolific.hex_ids import new_id
from localprolific.models import Participant, ProlificSubmission


def let_somebody_begin(rows: QuerySet[ProlificSubmission], now: datetime) -> None:
    """Add a submission to the study of these, as if its place had been taken a moment ago and given back at once."""
    latest = rows.order_by("pk").last()
    if latest is None:
        return
    stranger = Participant.objects.create(participant_id=new_id(), name="Passer-by", is_simulated=True)
    ProlificSubmission.objects.create(
        submission_id=new_id(),
        study=latest.study,
        participant=stranger,
        status=ProlificSubmission.Status.RETURNED,
        url=latest.url,
        reserved_at=now,
        started_at=now,
        ended_at=now,
    )
