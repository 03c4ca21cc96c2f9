"""A worker opens a HIT: who they are, whether they may work on it, and the Assignment row that this makes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.db import transaction

from hits.models import Assignment, MarketEnvironment, Replacement, Submission
from hits.mturk.worker_sites import NOT_AVAILABLE, SUBMIT_SITES
from hits.serving.frozen import FrozenHit, FrozenStudy
from hits.serving.refusals import Refusal, WorkRefused
from hits.serving.rows import (
    assignments_of_hits,
    assignments_with_id,
    count_done_or_in_hand,
    find_assignment,
    is_published,
    is_stopped,
    lock_study,
    write_assignment,
)


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
    if not has_ids or not is_published(hit.pk, environment, visit.hit_id):
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
    known = find_assignment(environment, visit.assignment_id, visit.worker_id)
    if known is not None and known.hit_id != hit.pk:
        raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
    return known


@transaction.atomic
def _open_new(hit: FrozenHit, environment: str, visit: Visit, now: datetime) -> Assignment:
    # Locked by the study: openings of one block, which is several HITs, are counted one after the other.
    lock_study(hit.study.pk)
    known = _known(hit, environment, visit)
    if known is not None:
        return known
    of_block = assignments_of_hits(environment, hit.block_hits)
    _check_may_begin(hit, environment, visit.worker_id, of_block, now)
    _take_over(environment, visit.assignment_id, visit.worker_id, now)
    assignment = Assignment(
        hit_id=hit.pk,
        environment=environment,
        mturk_assignment_id=visit.assignment_id,
        mturk_worker_id=visit.worker_id,
        turn=len(of_block),
        opened_at=now,
        held_at=now,
    )
    write_assignment(assignment)
    return assignment


def _check_may_begin(
    hit: FrozenHit, environment: str, worker_id: str, of_block: Sequence[Assignment], now: datetime
) -> None:
    own = [one for one in of_block if one.mturk_worker_id == worker_id]
    if any(one.hit_id != hit.pk for one in own) or _has_done_it_before(own):
        raise WorkRefused(Refusal.NOT_ELIGIBLE)
    if is_stopped(hit.study.pk, environment, worker_id):
        message = (
            "We have no more HITs of this study for you. Please return this one; returning does not count against "
            "you, and what you have done is paid."
        )
        raise WorkRefused(Refusal.NOT_ELIGIBLE, message)
    limit = hit.study.design.crowd.max_hits_per_worker
    held_after = now - time_limit(hit.study)
    if count_done_or_in_hand(hit.study.pk, environment, worker_id, hit.pk, held_after) >= limit:
        message = (
            f"Each worker may do {limit:,} HITs of this study, so that many people are heard, and you have done yours: "
            "thank you! Please return this HIT; returning does not count against you."
        )
        raise WorkRefused(Refusal.LIMIT_REACHED, message)
    # What was handed in to us alone, and not to the marketplace, fills no place once we know it.
    handed_in = [one for one in of_block if one.hit_id == hit.pk and one.submitted_at is not None and not one.ended_as]
    if len(handed_in) >= hit.assignments and len(handed_in) >= _places(hit, environment):
        raise WorkRefused(Refusal.STUDY_FULL)


def _has_done_it_before(own: Sequence[Assignment]) -> bool:
    """A HIT that was put up again is another one to the marketplace, which lets the same worker have it again."""
    handed_in = [one.pk for one in own if one.submitted_at is not None and not one.ended_as]
    return bool(handed_in) and Submission.objects.filter(assignment__in=handed_in).exists()


def _places(hit: FrozenHit, environment: str) -> int:
    """With those that were asked for since, to replace what was lost. Asked for only where a HIT seems full."""
    standing = Replacement.objects.standing().filter(hit=hit.pk, environment=environment)
    return max(hit.assignments, *standing.values_list("places", flat=True), 0)


@transaction.atomic
def _hold_again(study: FrozenStudy, assignment: Assignment, now: datetime) -> Assignment:
    """Whoever holds it by the marketplace's word will be told apart when it is collected; both rows stay."""
    _take_over(assignment.environment, assignment.mturk_assignment_id, assignment.mturk_worker_id, now)
    if now > assignment.held_at + time_limit(study):
        assignment.held_at = now
    assignment.taken_over_at = None
    assignment.save(update_fields=["held_at", "taken_over_at"])
    return assignment


def _take_over(environment: str, assignment_id: str, worker_id: str, now: datetime) -> None:
    """From whoever else has it in hand: mostly, nobody."""
    if any(one.mturk_worker_id != worker_id for one in assignments_with_id(environment, assignment_id)):
        same_id = Assignment.objects.filter(environment=environment, mturk_assignment_id=assignment_id)
        in_hand = same_id.filter(submitted_at=None, taken_over_at=None)
        in_hand.exclude(mturk_worker_id=worker_id).update(taken_over_at=now)
