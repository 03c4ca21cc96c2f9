"""Make the changes that are due by time: publishing ends, reservations and time run out, payments are made.

Guaranteed: each happens once, under the lock of its study, when something is next read. Nothing needs to run in the
background.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import connection, transaction

from localprolific import wallet
from localprolific.behaviour import behaviour
from localprolific.lifecycle_rules import (
    Status,
    StudyStatus,
    approve_all,
    arrive,
    lock_study,
    lock_submission,
    move,
    refresh,
    set_study_status,
)
from localprolific.models import BonusOrder, PaidBonus, ProlificStudy, ProlificSubmission, WalletEntry

ANYTHING_DUE = """
    SELECT 1 WHERE EXISTS (SELECT 1 FROM localprolific_prolificstudy WHERE due_at <= %s)
    OR EXISTS (SELECT 1 FROM localprolific_prolificsubmission WHERE due_at <= %s)
    OR EXISTS (SELECT 1 FROM localprolific_bonusorder WHERE due_at <= %s)
"""


def settle(now: datetime) -> None:
    """Make all changes that are due. If none is, which is nearly always so, this costs one look at three indexes."""
    while _is_anything_due(now):
        for pk in list(ProlificStudy.objects.filter(due_at__lte=now).values_list("pk", flat=True)):
            _end_publishing(pk, now)
        due = ProlificSubmission.objects.filter(due_at__lte=now).order_by("due_at", "pk")
        unreviewed = due.filter(status=Status.AWAITING_REVIEW).order_by()
        for study_pk in list(unreviewed.values_list("study_id", flat=True).distinct()):
            _approve_due(study_pk, now)
        for pk in list(due.exclude(status=Status.AWAITING_REVIEW).values_list("pk", flat=True)):
            _settle_submission(pk, now)
        for pk in list(BonusOrder.objects.filter(due_at__lte=now).values_list("pk", flat=True)):
            _pay_order(pk)


def _is_anything_due(now: datetime) -> bool:
    # The SQL is written by hand, because every call begins with it, and the ORM would take longer than the database.
    with connection.cursor() as cursor:
        cursor.execute(ANYTHING_DUE, [connection.ops.adapt_datetimefield_value(now)] * 3)
        return cursor.fetchone() is not None


def _end_publishing(pk: int, now: datetime) -> None:
    with transaction.atomic():
        study = lock_study(pk)
        if study.due_at is None or study.due_at > now:
            return
        study.due_at = None
        set_study_status(study, StudyStatus.ACTIVE, now)
        refresh(study, now)


def _approve_due(study_pk: int, now: datetime) -> None:
    """Approve all work of a study whose time has come, together: it may be a thousand submissions."""
    with transaction.atomic():
        study = lock_study(study_pk)
        due = ProlificSubmission.objects.filter(study=study, status=Status.AWAITING_REVIEW, due_at__lte=now)
        approved = approve_all(study, list(due.select_related("participant").order_by("due_at", "pk")), now)
        # There is no money for the others. Prolific would freeze the account; we look again in an hour.
        due.exclude(pk__in=[one.pk for one in approved]).update(due_at=now + timedelta(hours=1))


def _settle_submission(pk: int, now: datetime) -> None:
    with transaction.atomic():
        submission = lock_submission(pk)
        due = submission.due_at
        if due is None or due > now or submission.status == Status.AWAITING_REVIEW:
            return
        if submission.arrives_at:
            arrive(submission, due)
        else:
            is_reserved = submission.status == Status.RESERVED
            submission.ended_at = due
            move(submission, behaviour().lapsed_reservation if is_reserved else Status.TIMED_OUT, due)


def _pay_order(pk: int) -> None:
    """Pay every line of the order's list, whatever was paid of it before."""
    with transaction.atomic():
        order = BonusOrder.objects.select_for_update().select_related("bonus_list__study__workspace").get(pk=pk)
        paid_at = order.due_at
        if paid_at is None:
            return
        lines = list(order.bonus_list.lines.select_related("submission__study__workspace"))
        visible_at = paid_at + timedelta(seconds=order.shown_after_seconds)
        wallet.pay_held(order.bonus_list.study.workspace, order.held_cents)
        fees_left = order.held_cents - sum(line.amount_cents for line in lines)
        for number, line in enumerate(lines):
            fee = fees_left // (len(lines) - number)
            fees_left -= fee
            wallet.note_payment(line.submission, line.amount_cents, fee, WalletEntry.Kind.BONUS, paid_at)
            PaidBonus.objects.create(
                order=order,
                line=line,
                submission=line.submission,
                amount_cents=line.amount_cents,
                paid_at=paid_at,
                visible_at=visible_at,
            )
        BonusOrder.objects.filter(pk=pk).update(due_at=None)


def approve_later(submissions: Iterable[ProlificSubmission], now: datetime) -> None:
    """Note that a bulk approval of these was asked for. Work that does not await its review is passed over."""
    due_at = now + timedelta(seconds=behaviour().bulk_approval_seconds)
    keys = [submission.pk for submission in submissions]
    awaiting = ProlificSubmission.objects.filter(pk__in=keys, status=Status.AWAITING_REVIEW)
    awaiting.filter(due_at__gt=due_at).update(due_at=due_at)
