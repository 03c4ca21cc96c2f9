"""The round that is made every few minutes: collect what the marketplace confirms, pay it, cap who has done enough."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum

from hits.collecting import Collected, collect
from hits.limiting import Limited, limit_workers
from hits.models import Payment, Publication, Study, Submission
from hits.models.payment import PaymentQuerySet
from hits.models.submission import SubmissionQuerySet
from hits.mturk.client import Market
from hits.paying import Paid, pay

OnProgress = Callable[[str, int, int], None]


@dataclass
class Synced:
    collected: Collected
    paid: Paid
    limited: Limited


def unsettled_studies() -> list[tuple[int, str]]:
    """Studies by marketplace on which something may still happen: work to come, or money to be paid."""
    wanted = Publication.objects.confirmed().values_list("hit__study", "environment").annotate(Sum("hit__assignments"))
    return [
        (study_id, environment)
        for study_id, environment, count in wanted.order_by("hit__study", "environment")
        if _settled(study_id, environment).count() < count or _owed(study_id, environment).exists()
    ]


def _settled(study_id: int, environment: str) -> SubmissionQuerySet:
    of_study = Submission.objects.filter(assignment__hit__study=study_id, assignment__environment=environment)
    return of_study.exclude(status=Submission.Status.SUBMITTED)


def _owed(study_id: int, environment: str) -> PaymentQuerySet:
    of_study = Payment.objects.filter(submission__assignment__hit__study=study_id)
    return of_study.filter(submission__assignment__environment=environment).owed()


def sync(
    study: Study,
    environment: str,
    market: Market,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda stage, done, total: None,
) -> Synced:
    """Can be run at any time, again, and twice at once. `on_progress` hears the stage, and how far it is."""
    collected = collect(study, environment, market, now(), lambda done, total: on_progress("Collecting", done, total))
    limited = limit_workers(study, environment, market, now())
    paid = pay(study, environment, market, now, lambda done, total: on_progress("Paying", done, total))
    return Synced(collected, paid, limited)
