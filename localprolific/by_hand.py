"""Do what somebody can do at Prolific's own pages, behind the back of the API's client."""

from datetime import datetime

from django.db import transaction

from localprolific.lifecycle_rules import lock_study, refresh, set_study_status
from localprolific.models import ProlificStudy
from localprolific.passing_time import settle
from localprolific.wallet import hold_for_study


def delete_study(study: ProlificStudy, now: datetime) -> None:
    """Delete a study, whatever its status: the API does not find it any more, and its money is free."""
    settle(now)
    with transaction.atomic():
        locked = lock_study(study.pk)
        hold_for_study(locked, 0)
        locked.status = ProlificStudy.Status.COMPLETED
        locked.is_stopped = True
        locked.due_at = None
        locked.deleted_at = now
        locked.save()


def stop_study(study: ProlificStudy, now: datetime) -> None:
    """Stop a study for good. Participants who hold a place may finish."""
    settle(now)
    with transaction.atomic():
        locked = lock_study(study.pk)
        locked.is_stopped = True
        set_study_status(locked, ProlificStudy.Status.AWAITING_REVIEW, now)
        refresh(locked, now)
