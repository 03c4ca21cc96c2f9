"""Asks workers to give work back, where a crowd can do that: they are not paid, and it does them no harm.

In: work that nobody has decided about. Out: the request, which the worker reads at the crowd. Guaranteed: the intent is
saved before the call, so that asking again after a crash goes on from there; from then on nothing is paid for the work
by itself (`hits.budgeting.waiting_for_decision`), until it is given back or a person decides.
"""

from datetime import datetime
from typing import cast

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from hits.crowds import Market, RequestsReturns, crowd_of
from hits.errors import MarketRefused
from hits.models import Event, Offering, Payment, Study, Submission
from hits.paying.reasons import check_reason, name_assignment


def check_can_ask_back(offering: Offering) -> None:
    """Raise if the crowd has no way to ask."""
    if not crowd_of(offering).abilities.can_request_returns:
        raise EvalPlatformError(
            f"Nobody can be asked to give work back on {offering.marketplace}. Approve it, and let screening leave it "
            "out of the results, or reject it if it was not done at all."
        )


def request_return(submission: Submission, reason: str, market: Market, by: User | None, now: datetime) -> bool:
    """Ask the worker to give the work back, and return False if that was asked before."""
    check_can_ask_back(submission.assignment.offering)
    check_reason(reason)
    if not _save_intent(submission, reason.strip(), now):
        return False
    this = Submission.objects.filter(pk=submission.pk)
    try:
        cast(RequestsReturns, market).request_return(submission.assignment.crowd_assignment_id, reason.strip())
    except MarketRefused:
        this.filter(return_asked_at=None).update(return_wanted_at=None, return_reason="")
        raise
    with transaction.atomic():
        if this.filter(return_asked_at=None).update(return_asked_at=now):
            study = submission.assignment.hit.study
            text = f"asked for {name_assignment(submission)} to be given back: {reason.strip()}"
            Event.objects.create(study=study, at=now, actor=by, text=text)
    return True


@transaction.atomic
def _save_intent(submission: Submission, reason: str, now: datetime) -> bool:
    # The study's lock first, as in `record_dues`: this work must not become due while we ask for it.
    Study.objects.select_for_update().get(pk=submission.assignment.offering.study_id)
    this = Submission.objects.select_for_update().get(pk=submission.pk)
    if this.status != Submission.Status.SUBMITTED:
        raise EvalPlatformError(f"This assignment is {this.status.lower()} already, so it can't be asked back.")
    if Payment.objects.filter(submission=this, kind=Payment.Kind.REWARD).exists():
        raise EvalPlatformError("This assignment's pay is in the ledger already, so it can't be asked back.")
    if this.return_asked_at is not None:
        return False
    Submission.objects.filter(pk=this.pk).update(return_wanted_at=now, return_reason=reason)
    return True
