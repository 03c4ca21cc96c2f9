"""Note what webhooks have to be told: one delivery for each enabled subscription to this type of event."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from localprolific import misbehaving
from localprolific.behaviour import behaviour
from localprolific.misbehaving import Kind
from localprolific.models import HookDelivery, HookSubscription, ProlificStudy, ProlificSubmission, Workspace

SUBMISSION_STATUS = "submission.status.change"
STUDY_STATUS = "study.status.change"
STUDY_PROGRESS = "study.progress.change"
HIGH_RETURN_RATE = "study.has_high_return_rate"
EVENT_TYPES = {
    SUBMISSION_STATUS: "The status of a submission has changed.",
    STUDY_STATUS: "The status of a study has changed.",
    STUDY_PROGRESS: "Places of a study were taken or became free.",
    HIGH_RETURN_RATE: "Many participants return their submissions of a study.",
}
LEAST_SUBMISSIONS, HIGH_RATE = 10, 0.2  # chosen by us: Prolific publishes no threshold


def tell_of_submission(submission: ProlificSubmission, now: datetime) -> None:
    body = {
        "resource_id": submission.submission_id,
        "participant_id": submission.participant.participant_id,
        "study_id": submission.study.study_id,
    }
    _tell(submission.study.workspace, SUBMISSION_STATUS, {**body, "status": submission.status}, now)


def tell_of_study(study: ProlificStudy, now: datetime) -> None:
    _tell(study.workspace, STUDY_STATUS, {"resource_id": study.study_id, "status": study.status}, now)


def tell_of_progress(study: ProlificStudy, taken: int, returned: int, all_count: int, now: datetime) -> None:
    places = study.total_available_places
    progress = {"resource_id": study.study_id, "places_taken": taken, "total_available_places": places}
    _tell(study.workspace, STUDY_PROGRESS, {**progress, "progress_percentage": taken * 100 // max(places, 1)}, now)
    if all_count >= LEAST_SUBMISSIONS and returned >= HIGH_RATE * all_count:
        _tell(study.workspace, HIGH_RETURN_RATE, {"resource_id": study.study_id}, now)


def _tell(workspace: Workspace, event_type: str, body: dict[str, Any], now: datetime) -> None:
    open_ones = HookSubscription.objects.filter(workspace=workspace, event_type=event_type, is_enabled=True)
    subscriptions = list(open_ones)
    if subscriptions and behaviour().are_unconfirmed_hooks_silent:
        subscriptions = [one for one in subscriptions if one.is_confirmed]
    if not subscriptions:
        return
    late = timedelta(seconds=misbehaving.strike("tell_of_event").get(Kind.LATE_DELIVERY, 0))
    HookDelivery.objects.bulk_create(
        HookDelivery(
            event_id=str(uuid.uuid4()),
            subscription=one,
            payload={"event_type": event_type, **body},
            happened_at=now,
            due_at=now + late,
        )
        for one in subscriptions
    )


def is_anyone_told(workspace: Workspace) -> bool:
    return HookSubscription.objects.filter(is_enabled=True, workspace=workspace).exists()
