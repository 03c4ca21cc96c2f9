"""Give simulated work its simulated times: what took us a moment stands for a quarter of an hour.

Without this, our own clock would show that every simulated worker claims minutes but took none (hits.collecting), and
all would be screened out.
"""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from hits.models import Answer, Assignment
from simulated_crowd.working_times import Pace


def date_work(assignments: "QuerySet[Assignment]", pace: Pace, starts_at: datetime, ends_at: datetime) -> None:
    """Set the times of an assignment and its answers. Call this before anybody collects it with the real times."""
    answers = list(Answer.objects.filter(assignment__in=assignments).select_related("item"))
    for answer in answers:
        answer.saved_at = starts_at + timedelta(seconds=pace.seconds(answer.item.position + 1))
    Answer.objects.bulk_update(answers, ["saved_at"])
    assignments.update(opened_at=starts_at, held_at=starts_at, submitted_at=ends_at)
