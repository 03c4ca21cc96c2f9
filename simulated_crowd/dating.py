"""Give simulated work its simulated times: what took us a moment stands for a quarter of an hour.

Without this, our own clock would show that every simulated worker claims minutes but took none (hits.collecting), and
all would be screened out.
"""

from datetime import datetime, timedelta

from hits.models import USUAL_CROWD, Answer, Assignment
from simulated_crowd.scheduling import Stint


def date_work(assignment_id: str, stint: Stint, starts_at: datetime, ends_at: datetime) -> None:
    """Set the times of an assignment and its answers. Call this before the marketplace gets the submission, so that
    nobody collects it with the real times."""
    assignments = Assignment.objects.filter(
        offering__crowd=USUAL_CROWD,
        offering__environment="local",
        crowd_assignment_id=assignment_id,
        crowd_worker_id=stint.worker.worker_id,
    )
    answers = list(Answer.objects.filter(assignment__in=assignments).select_related("item"))
    for answer in answers:
        answer.saved_at = starts_at + timedelta(seconds=stint.pace.seconds(answer.item.position + 1))
    Answer.objects.bulk_update(answers, ["saved_at"])
    assignments.update(opened_at=starts_at, held_at=starts_at, submitted_at=ends_at)
