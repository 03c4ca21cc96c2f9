"""Says whether a worker may go on with what they hold, and whether they may begin another HIT."""

from datetime import datetime, timedelta

from hits.crowds import crowd_of
from hits.models import Assignment, Offering
from hits.serving.frozen import FrozenStudy
from hits.serving.leases import is_leased
from hits.serving.statements import is_stopped
from hits.serving.work_refusals import Refusal, WorkRefused, limit_words


def time_limit(study: FrozenStudy) -> timedelta:
    """Return how long a worker may hold a HIT of this study, and how long a lease holds their place."""
    return timedelta(minutes=study.design.crowd.time_limit_minutes)


def is_time_over(study: FrozenStudy, assignment: Assignment, now: datetime) -> bool:
    return now > assignment.held_at + time_limit(study)


def find_refusal(study: FrozenStudy, assignment: Assignment, now: datetime) -> Refusal | None:
    """Return why the worker may not go on, if they may not. Submitted work passes: the page shows it, and changes
    nothing."""
    if assignment.submitted_at is not None:
        return None
    if assignment.revoked_at is not None:
        return Refusal.REVOKED
    if assignment.taken_over_at is not None:
        return Refusal.TAKEN_OVER
    # Where a lease holds the place, its end only lets others in: late work is still taken and paid.
    if is_leased(assignment.offering):
        return None
    return Refusal.TIME_OVER if is_time_over(study, assignment, now) else None


def check_is_open(study: FrozenStudy, assignment: Assignment, now: datetime) -> None:
    """Raise unless the worker may go on."""
    if refusal := find_refusal(study, assignment, now):
        raise WorkRefused(refusal)


def check_may_begin_another(study: FrozenStudy, offering: Offering, worker_id: str, others: int) -> None:
    """Raise if the worker is blocked, or has done or holds as many other HITs as the study allows."""
    if is_stopped(offering, worker_id):
        raise WorkRefused(Refusal.STOPPED)
    check_limit(study, offering, others)


def check_limit(study: FrozenStudy, offering: Offering, others: int) -> None:
    """Raise if the worker has done or holds as many other HITs as the study allows."""
    limit = study.design.crowd.max_hits_per_worker
    if others >= limit:
        raise WorkRefused(Refusal.LIMIT_REACHED, limit_words(limit, crowd_of(offering).words))
