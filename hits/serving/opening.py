"""A worker opens a HIT: who they are, whether they may work on it, and the Assignment row that this makes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.db import transaction

from hits.models import Assignment, MarketEnvironment, Publication, Standing, Study
from hits.models.assignment import AssignmentQuerySet
from hits.mturk.worker_sites import NOT_AVAILABLE, SUBMIT_SITES
from hits.serving.frozen import FrozenHit, FrozenStudy
from hits.serving.refusals import Refusal, WorkRefused


@dataclass(frozen=True)
class Visit:
    """MTurk's four parameters, as the page's address carries them."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str

    @property
    def is_preview(self) -> bool:
        return self.assignment_id == NOT_AVAILABLE


def open_assignment(
    hit: FrozenHit, visit: Visit, local_origins: Iterable[str], now: datetime, is_held_again: bool = False
) -> Assignment:
    """The same visit again is the same assignment. `is_held_again`: the worker says that they hold it after all."""
    environment = _environment(hit, visit, local_origins)
    known = _known(hit, environment, visit)
    if known is None:
        return _open_new(hit, environment, visit, now)
    if known.submitted_at is None and is_held_again:
        return _hold_again(hit.study, known, now)
    check_is_open(hit.study, known, now)
    return known


def check_is_open(study: FrozenStudy, assignment: Assignment, now: datetime) -> None:
    """That the worker may still work on it. What was submitted is neither: the page shows it, and changes nothing."""
    if assignment.submitted_at is not None:
        return
    if assignment.taken_over_at is not None:
        raise WorkRefused(Refusal.TAKEN_OVER)
    if now > assignment.held_at + time_limit(study):
        raise WorkRefused(Refusal.TIME_OVER)


def time_limit(study: FrozenStudy) -> timedelta:
    return timedelta(minutes=study.design.crowd.time_limit_minutes)


def _environment(hit: FrozenHit, visit: Visit, local_origins: Iterable[str]) -> str:
    """Which marketplace the visit comes from: by where it submits to, and by a HIT of ours that was published there."""
    has_ids = all(
        re.fullmatch(r"[A-Za-z0-9_-]{1,64}", one) for one in (visit.assignment_id, visit.hit_id, visit.worker_id)
    )
    environment = _environment_of_site(visit.submit_to, local_origins)
    # An id that we have not heard of yet: a publishing run was killed between its call and its note.
    published = Publication.objects.filter(hit=hit.pk, environment=environment, mturk_hit_id__in=[visit.hit_id, ""])
    if not has_ids or not published.exists():
        raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
    return environment


def _environment_of_site(submit_to: str, local_origins: Iterable[str]) -> str:
    origin = origin_of(submit_to)
    if origin and origin in local_origins:
        return MarketEnvironment.LOCAL
    return next((environment for environment, sites in SUBMIT_SITES.items() if origin in sites), "")


def origin_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    except ValueError:
        return ""


def _known(hit: FrozenHit, environment: str, visit: Visit) -> Assignment | None:
    known = Assignment.objects.filter(
        environment=environment, mturk_assignment_id=visit.assignment_id, mturk_worker_id=visit.worker_id
    ).first()
    if known is not None and known.hit_id != hit.pk:
        raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
    return known


@transaction.atomic
def _open_new(hit: FrozenHit, environment: str, visit: Visit, now: datetime) -> Assignment:
    # Locked by the study: openings of one block, which is several HITs, are counted one after the other.
    Study.objects.select_for_update().values_list("pk").get(pk=hit.study.pk)
    known = _known(hit, environment, visit)
    if known is not None:
        return known
    _check_may_begin(hit, environment, visit.worker_id, now)
    _others_with_its_id(environment, visit.assignment_id, visit.worker_id).update(taken_over_at=now)
    of_block = Assignment.objects.filter(environment=environment, hit__study=hit.study.pk, hit__block=hit.block)
    return Assignment.objects.create(
        hit_id=hit.pk,
        environment=environment,
        mturk_assignment_id=visit.assignment_id,
        mturk_worker_id=visit.worker_id,
        turn=of_block.count(),
        opened_at=now,
        held_at=now,
    )


def _check_may_begin(hit: FrozenHit, environment: str, worker_id: str, now: datetime) -> None:
    design = hit.study.design
    of_study = Assignment.objects.filter(environment=environment, hit__study=hit.study.pk)
    of_worker = of_study.filter(mturk_worker_id=worker_id)
    if of_worker.filter(hit__block=hit.block).exclude(hit=hit.pk).exists():
        raise WorkRefused(Refusal.NOT_ELIGIBLE)
    standings = Standing.objects.active().filter(study=hit.study.pk, environment=environment)
    if standings.filter(mturk_worker_id=worker_id).exclude(kind=Standing.Kind.CAP).exists():
        message = (
            "We have no more HITs of this study for you. Please return this one; returning does not count against "
            "you, and what you have done is paid."
        )
        raise WorkRefused(Refusal.NOT_ELIGIBLE, message)
    limit = design.crowd.max_hits_per_worker
    if of_worker.exclude(hit=hit.pk).done_or_in_hand(now, time_limit(hit.study)).count() >= limit:
        message = (
            f"Each worker may do {limit:,} HITs of this study, so that many people are heard, and you have done yours: "
            "thank you! Please return this HIT; returning does not count against you."
        )
        raise WorkRefused(Refusal.LIMIT_REACHED, message)
    if of_study.filter(hit=hit.pk).submitted().count() >= hit.assignments:
        raise WorkRefused(Refusal.STUDY_FULL)


@transaction.atomic
def _hold_again(study: FrozenStudy, assignment: Assignment, now: datetime) -> Assignment:
    """Whoever holds it by the marketplace's word will be told apart when it is collected; both rows stay."""
    _others_with_its_id(assignment.environment, assignment.mturk_assignment_id, assignment.mturk_worker_id).update(
        taken_over_at=now
    )
    if now > assignment.held_at + time_limit(study):
        assignment.held_at = now
    assignment.taken_over_at = None
    assignment.save(update_fields=["held_at", "taken_over_at"])
    return assignment


def _others_with_its_id(environment: str, assignment_id: str, worker_id: str) -> AssignmentQuerySet:
    return Assignment.objects.filter(
        environment=environment, mturk_assignment_id=assignment_id, submitted_at=None, taken_over_at=None
    ).exclude(mturk_worker_id=worker_id)
