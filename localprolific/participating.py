"""Let a participant reserve a place, go to the study's page, come back with a code, or return the work.

In: a participant and a study. Out: a submission, or Refused with the reason. Guaranteed: never more participants in a
study than it has places, but for those who finish late; nobody more often than the study allows.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from localprolific.behaviour import behaviour
from localprolific.errors import Refused
from localprolific.filter_catalogue import lets_in
from localprolific.hex_ids import new_id
from localprolific.lifecycle_rules import (
    WORKING,
    Status,
    StudyStatus,
    count_by_status,
    due_at_of,
    finish,
    lock_study,
    lock_submission,
    move,
    places_taken,
    refresh,
)
from localprolific.models import Participant, ProlificStudy, ProlificSubmission
from localprolific.passing_time import settle
from localprolific.signed_links import visit_url


@dataclass(frozen=True)
class StudyOffer:
    study: ProlificStudy
    free_places: int


def studies_on_offer(participant: Participant, now: datetime) -> list[StudyOffer]:
    """Return the studies that this participant could reserve a place in, the newest first."""
    settle(now)
    active = ProlificStudy.objects.undeleted().filter(status=StudyStatus.ACTIVE).order_by("-published_at", "-pk")
    return [
        StudyOffer(study, study.total_available_places - places_taken(count_by_status(study)))
        for study in active.select_related("workspace")
        if not _why_not(participant, study)
    ]


def reserve(participant: Participant, study: ProlificStudy, now: datetime) -> ProlificSubmission:
    """Take a place, for ten minutes. Whoever has one already gets that one."""
    settle(now)
    with transaction.atomic():
        locked = lock_study(study.pk)
        held = locked.submissions.filter(participant=participant, status__in=WORKING).first()
        if held is not None:
            return held
        if reason := _why_not(participant, locked):
            raise Refused(reason)
        submission = ProlificSubmission(
            submission_id=new_id(), study=locked, participant=participant, url=_url_for(locked), reserved_at=now
        )
        submission.due_at = due_at_of(submission)
        submission.save()
        refresh(locked, now)
        return submission


def start(submission: ProlificSubmission, now: datetime) -> str:
    """Begin to work, or go on, and return the address that the participant's browser goes to."""
    settle(now)
    with transaction.atomic():
        locked = lock_submission(submission.pk)
        if locked.status == Status.RESERVED:
            locked.started_at = now
            move(locked, Status.ACTIVE, now)
        if locked.status != Status.ACTIVE or locked.completed_at:
            raise Refused(f"This place is not yours any more: the work is {locked.status.lower()}.")
        return visit_url(locked)


def complete(participant: Participant, code: str, now: datetime) -> ProlificSubmission:
    """Take a completion code for the work that this participant is at; the study whose code it is goes first."""
    settle(now)
    with transaction.atomic():
        submission = _work_for_code(participant, code)
        if submission is None:
            raise Refused("You have no work under way that this code could complete.")
        locked = lock_submission(submission.pk)
        if locked.completed_at is None:
            finish(locked, code, now)
        return locked


def return_submission(submission: ProlificSubmission, now: datetime) -> None:
    """Give the place back. Work that was handed in can be returned only if the researcher asked for it."""
    settle(now)
    with transaction.atomic():
        locked = lock_submission(submission.pk)
        is_asked_back = locked.status == Status.AWAITING_REVIEW and locked.return_requested_at is not None
        if locked.status == Status.RETURNED:
            return
        if not is_asked_back and (locked.status not in WORKING or locked.completed_at):
            raise Refused(f"This can't be returned any more: the work is {locked.status.lower()}.")
        locked.ended_at = now
        move(locked, Status.RETURNED, now)


def _why_not(participant: Participant, study: ProlificStudy) -> str:
    """Return why this participant can't reserve a place; empty if they can."""
    if study.status != StudyStatus.ACTIVE or study.deleted_at is not None:
        return "This study is not on offer now."
    if places_taken(count_by_status(study)) >= study.total_available_places:
        return "All places of this study are taken."
    own = list(study.submissions.filter(participant=participant).values_list("status", flat=True))
    if study.max_submissions_per_participant != -1 and len(own) >= study.max_submissions_per_participant:
        return "You have taken part in this study already."
    working = study.submissions.filter(status__in=WORKING).count()
    if study.max_concurrent_submissions != -1 and working >= study.max_concurrent_submissions:
        return "Too many people work on this study at the moment."
    if not all(lets_in(one, participant) for one in study.filters):
        return "This study looks for other participants."
    return ""


def _url_for(study: ProlificStudy) -> str:
    """Return the study's page; of several, the first with a free place."""
    if not study.access_details:
        return study.external_study_url
    taken = study.submissions.exclude(status__in=["RETURNED", "REJECTED", "TIMED-OUT"]).values_list("url", flat=True)
    urls = list(taken)
    for one in study.access_details:
        if urls.count(one["external_url"]) < one["total_allocation"]:
            return str(one["external_url"])
    return str(study.access_details[-1]["external_url"])


def _work_for_code(participant: Participant, code: str) -> ProlificSubmission | None:
    statuses = [Status.ACTIVE]
    if behaviour().can_finish_after_time_out:
        statuses.append(Status.TIMED_OUT)
    own = ProlificSubmission.objects.select_related("study").filter(participant=participant)
    under_way = list(own.filter(status__in=statuses).order_by("-status", "-started_at", "-pk"))
    under_way.sort(key=lambda one: one.status != Status.ACTIVE)
    fitting = [one for one in under_way if any(known["code"] == code for known in one.study.completion_codes)]
    done = own.filter(entered_code=code).exclude(entered_code="").order_by("-completed_at").first()
    return next(iter(fitting), None) or done or next(iter(under_way), None)
