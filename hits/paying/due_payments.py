"""Saves what is due before it is paid: a reward for each submission that may be approved, and the bonus won."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from hits.budgeting import beyond_cap, dues, submissions_without_dues, waiting_for_decision
from hits.models import Offering, Payment, Study, Submission
from hits.models.design import StudyDesign

Kind = Payment.Kind


@transaction.atomic
def record_dues(offering: Offering, now: datetime) -> None:
    """Save what we intend to pay: a reward for each submission that may be approved, and the bonus won with it.

    Submissions that wait for a person's decision are not approved here. If the marketplace has paid their reward all
    the same, that is noted, and no bonus follows.
    """
    # Lock the study: two runs at once must not both use up the last assignment that a worker may be paid for.
    Study.objects.select_for_update().get(pk=offering.study_id)
    design = offering.study.parsed_design
    waiting, beyond = waiting_for_decision(offering), beyond_cap(offering)
    open_ones = [one for one in submissions_without_dues(offering) if one.pk not in waiting]
    due = [one for one in open_ones if _is_due(design, one, now)]
    save_dues([payment for one in due for payment in dues(offering, one, now, one.pk in beyond)])


def _is_due(design: StudyDesign, submission: Submission, now: datetime) -> bool:
    if submission.status == Submission.Status.APPROVED or design.pay.approval == "at once":
        return True
    delay = timedelta(hours=design.pay.approval_delay_hours)
    return design.pay.approval == "after a delay" and submission.submitted_at + delay <= now


def save_dues(payments: Sequence[Payment]) -> None:
    """Save new payments. If somebody already gave a bonus of the same amount by hand, it is taken as that bonus."""
    if not payments:
        return
    of_study = Payment.objects.filter(submission__assignment__hit__study=payments[0].submission.assignment.hit.study_id)
    extras = {(one.submission_id, one.cents): one.pk for one in of_study.filter(kind=Kind.EXTRA)}
    given = {(one.submission_id, one.cents) for one in payments if one.kind == Kind.BONUS} & set(extras)
    Payment.objects.filter(pk__in=[extras[key] for key in given]).update(kind=Kind.BONUS)
    new = [one for one in payments if one.kind != Kind.BONUS or (one.submission_id, one.cents) not in given]
    Payment.objects.bulk_create(new, ignore_conflicts=True)
