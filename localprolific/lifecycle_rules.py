"""Move submissions and studies from state to state, with the money that goes with it.

In: a locked study or one of its submissions, and the time. Out: true states, held and paid money, and events for
webhooks. Guaranteed: a reward is paid once; a study holds what its open places cost and nothing more.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count

from localprolific import hook_events, wallet
from localprolific.behaviour import behaviour
from localprolific.models import (
    TAKES_PLACE,
    GroupMember,
    ParticipantGroup,
    ProlificStudy,
    ProlificSubmission,
    WalletEntry,
)

Status = ProlificSubmission.Status
StudyStatus = ProlificStudy.Status
RESERVATION = timedelta(minutes=10)
UNREVIEWED_FOR = timedelta(days=21)
WORKING = (Status.RESERVED, Status.ACTIVE)
PUBLISHED = (StudyStatus.ACTIVE, StudyStatus.PAUSED, StudyStatus.AWAITING_REVIEW, StudyStatus.COMPLETED)


def lock_study(pk: int) -> ProlificStudy:
    """Return the study, locked: every change of it or of its submissions begins with this."""
    return ProlificStudy.objects.select_for_update().get(pk=pk)


def lock_submission(pk: int) -> ProlificSubmission:
    """Return the submission with its study, which is locked."""
    study_pk = ProlificSubmission.objects.values_list("study_id", flat=True).get(pk=pk)
    study = lock_study(study_pk)
    submission = ProlificSubmission.objects.select_related("participant").get(pk=pk)
    submission.study = study
    return submission


def count_by_status(study: ProlificStudy) -> dict[str, int]:
    """Return how many submissions are in each status, counted anew."""
    by_status = ProlificSubmission.objects.filter(study=study).order_by().values_list("status")
    return dict.fromkeys(Status.values, 0) | dict(by_status.annotate(count=Count("pk")))


def places_taken(counts: dict[str, int]) -> int:
    return sum(counts[status] for status in TAKES_PLACE)


# --- Studies ---------------------------------------------------------------------------------------------------------


def refresh(study: ProlificStudy, now: datetime) -> None:
    """Bring the study's status and its held money in line with its submissions."""
    if study.status not in (*PUBLISHED, StudyStatus.PUBLISHING):
        return
    counts = count_by_status(study)
    working = sum(counts[status] for status in WORKING)
    reviewing = counts[Status.AWAITING_REVIEW]
    is_full = places_taken(counts) >= study.total_available_places
    if study.status in PUBLISHED and not working and (study.is_stopped or is_full):
        set_study_status(study, StudyStatus.AWAITING_REVIEW if reviewing else StudyStatus.COMPLETED, now)
    _hold_enough(study, counts)
    study.save()


def cost_to_hold(study: ProlificStudy, counts: dict[str, int]) -> int:
    """Return what the study's unpaid places may still cost: all open ones, or, once it is over, those under way."""
    if study.is_test:
        return 0
    paid = counts[Status.APPROVED] + counts[Status.PARTIALLY_APPROVED]
    taken = places_taken(counts)
    is_over = study.is_stopped or study.status == StudyStatus.COMPLETED
    places = (taken if is_over else max(study.total_available_places, taken)) - paid
    return places * wallet.cost_cents(study.workspace, study.reward_cents)


def set_study_status(study: ProlificStudy, status: str, now: datetime) -> None:
    if study.status == status:
        return
    study.status = status
    study.save()
    hook_events.tell_of_study(study, now)


def _hold_enough(study: ProlificStudy, counts: dict[str, int]) -> None:
    """Hold what is needed, or what there is: a participant who comes late must not meet an empty wallet."""
    study.workspace.refresh_from_db()
    needed = cost_to_hold(study, counts)
    wallet.hold_for_study(study, min(needed, study.held_cents + study.workspace.available_cents))


# --- Submissions -----------------------------------------------------------------------------------------------------


def move(submission: ProlificSubmission, status: str, now: datetime) -> None:
    """Give the submission another status. Its study is locked, and follows."""
    was, study = submission.status, submission.study
    before = count_by_status(study)
    was_full = places_taken(before) >= study.total_available_places
    submission.status = status
    submission.due_at = due_at_of(submission)
    submission.save()
    hook_events.tell_of_submission(submission, now)
    is_place_freed = was == Status.AWAITING_REVIEW and status in (Status.REJECTED, Status.RETURNED)
    if is_place_freed and was_full and not study.is_stopped and study.status in PUBLISHED:
        # So that nobody comes before the researcher has looked, says Prolific.
        set_study_status(study, StudyStatus.PAUSED, now)
    refresh(study, now)
    if hook_events.is_anyone_told(study.workspace):
        after = count_by_status(study)
        taken = places_taken(after)
        if taken != places_taken(before):
            hook_events.tell_of_progress(study, taken, after[Status.RETURNED], sum(after.values()), now)


def due_at_of(submission: ProlificSubmission) -> datetime | None:
    """Return when something happens to the submission by itself."""
    match submission.status:
        case Status.RESERVED:
            return submission.reserved_at + RESERVATION
        case Status.ACTIVE:
            return submission.arrives_at or deadline_of(submission)
        case Status.AWAITING_REVIEW if submission.completed_at:
            return submission.completed_at + UNREVIEWED_FOR
        case _:
            return None


def deadline_of(submission: ProlificSubmission) -> datetime:
    began = submission.started_at or submission.reserved_at
    return began + timedelta(minutes=submission.study.maximum_minutes)


def finish(submission: ProlificSubmission, code: str, now: datetime, actor: str = "participant") -> None:
    """Take completed work. How it goes on follows from the code; a code that nobody knows is left to the researcher."""
    submission.entered_code = code
    submission.completed_at = now
    if lag := behaviour().arrival_seconds:
        submission.arrives_at = now + timedelta(seconds=lag)
        submission.due_at = due_at_of(submission)
        submission.save()
        return
    arrive(submission, now, actor)


def arrive(submission: ProlificSubmission, now: datetime, actor: str = "participant") -> None:
    """Let completed work count as completed, and do what its code asks for."""
    submission.arrives_at = None
    actions = {action["action"]: action for action in _actions_of(submission, actor)}
    if "REQUEST_RETURN" in actions:
        submission.return_requested_at = now
        submission.request_reasons = [actions["REQUEST_RETURN"].get("return_reason", "")]
    _change_groups(submission, actions, now)
    screen_out = actions.get("FIXED_SCREEN_OUT_PAYMENT")
    if screen_out is not None and _has_slot(submission, screen_out) and _can_pay(submission, screen_out["reward"]):
        wallet.pay_for_work(submission, screen_out["reward"], WalletEntry.Kind.SCREEN_OUT, now)
        move(submission, Status.SCREENED_OUT, now)
        return
    move(submission, Status.AWAITING_REVIEW, now)
    if "AUTOMATICALLY_APPROVE" in actions and _can_pay(submission, submission.study.reward_cents):
        approve(submission, now)


def approve(submission: ProlificSubmission, now: datetime) -> None:
    submission.reviewed_at = now
    if not submission.study.is_test:
        wallet.pay_for_work(submission, submission.study.reward_cents, WalletEntry.Kind.REWARD, now)
    move(submission, Status.APPROVED, now)


def approve_all(study: ProlificStudy, submissions: list[ProlificSubmission], now: datetime) -> list[ProlificSubmission]:
    """Approve the first of these for which there is money, at the moments when they were due, and return them."""
    study.workspace.refresh_from_db()
    cost = 0 if study.is_test else wallet.cost_cents(study.workspace, study.reward_cents)
    money = study.held_cents + study.workspace.available_cents
    approved = submissions[: money // cost] if cost else submissions
    for submission in approved:
        submission.study = study
        submission.status, submission.reviewed_at, submission.due_at = Status.APPROVED, submission.due_at, None
    ProlificSubmission.objects.bulk_update(approved, ["status", "reviewed_at", "due_at"], batch_size=500)
    if cost:
        wallet.pay_for_all(study, approved, now)
    if hook_events.is_anyone_told(study.workspace):
        for submission in approved:
            hook_events.tell_of_submission(submission, now)
    refresh(study, now)
    return approved


def approve_partially(submission: ProlificSubmission, percentage: float, now: datetime) -> None:
    submission.reviewed_at = now
    cents = round(submission.study.reward_cents * percentage / 100)
    wallet.pay_for_work(submission, cents, WalletEntry.Kind.REWARD, now)
    move(submission, Status.PARTIALLY_APPROVED, now)


def reject(submission: ProlificSubmission, category: str, message: str, now: datetime) -> None:
    submission.reviewed_at = now
    submission.rejection_category = category
    submission.message = message
    move(submission, Status.REJECTED, now)


def _actions_of(submission: ProlificSubmission, actor: str) -> list[dict[str, Any]]:
    for one in submission.study.completion_codes:
        if one["code"] == submission.entered_code and one.get("actor", "participant") == actor:
            return list(one["actions"])
    return []


def _has_slot(submission: ProlificSubmission, action: dict[str, Any]) -> bool:
    used = submission.study.submissions.filter(status=Status.SCREENED_OUT).count()
    return used < int(action["slots"])


def _can_pay(submission: ProlificSubmission, cents: int) -> bool:
    """Return whether there is money for it, held or free. Otherwise the work waits for the researcher: whoever hands
    it in must not be told that the wallet is empty."""
    study = submission.study
    study.workspace.refresh_from_db()
    return study.held_cents + study.workspace.available_cents >= wallet.cost_cents(study.workspace, cents)


def _change_groups(submission: ProlificSubmission, actions: dict[str, dict[str, Any]], now: datetime) -> None:
    if action := actions.get("ADD_TO_PARTICIPANT_GROUP"):
        group = ParticipantGroup.objects.filter(group_id=action["participant_group"]).first()
        if group is not None:
            group.members.get_or_create(participant=submission.participant, defaults={"joined_at": now})
    if action := actions.get("REMOVE_FROM_PARTICIPANT_GROUP"):
        members = GroupMember.objects.filter(group__group_id=action["participant_group"])
        members.filter(participant=submission.participant).delete()
