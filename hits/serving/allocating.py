"""Gives a HIT to a worker whom the crowd sends to the study: the least filled one with dialogs that they don't know.

In: an offering and a worker. Out: a HIT with a place in it, or a refusal if nothing is free for them. Guaranteed: no
HIT has more workers than places, and no worker gets the same dialogs twice: a dialog is in one block only, and each
block is given to a worker once. A place is leased: it is theirs until the time limit is over. Whoever is late may go on
and is paid, but somebody else may have the place by then (`serving.leases`).
"""

from datetime import datetime, timedelta

from django.db import transaction

from hits.crowds import Held, Word
from hits.models import Assignment, Offering
from hits.serving.frozen import FrozenHit, FrozenStudy, frozen_hit
from hits.serving.leases import (
    count_own,
    end_leases,
    fill_place,
    free_place,
    is_leased,
    take_place,
    take_place_again,
)
from hits.serving.may_work import check_limit, check_may_begin_another, is_time_over, time_limit
from hits.serving.statements import answers_of, hold_assignment, is_revoked, lock_study
from hits.serving.taking_over import take_over
from hits.serving.work_refusals import Refusal, WorkRefused

# Leases that an arrival ends. It is more than one, so that they never pile up, and few, so that nobody waits long after
# a night in which hundreds have ended.
ENDED_AT_ONCE = 20

Place = Assignment.Place


def give_hit(study: FrozenStudy, offering: Offering, worker_id: str, now: datetime) -> FrozenHit:
    """Take a place for the worker, and return its HIT. Called under the study's lock."""
    if is_revoked(offering, worker_id):
        raise WorkRefused(Refusal.REVOKED)
    check_may_begin_another(study, offering, worker_id, count_own(offering, worker_id))
    held_before = now - time_limit(study)
    while True:
        ended = end_leases(offering, held_before, ENDED_AT_ONCE)
        number = take_place(offering, worker_id)
        if number is not None:
            return frozen_hit(study.key, number, offering)
        if ended < ENDED_AT_ONCE:
            raise WorkRefused(Refusal.NOTHING_FREE)


def go_on(study: FrozenStudy, known: Assignment, held: Held, is_held_again: bool, now: datetime) -> Assignment:
    """Open again what was opened before and not handed in. Raises WorkRefused.

    Whoever is late gets their place back if it is still free. If it is not, they may go on if they have begun: then
    their work is extra. Somebody who has only looked is sent away; where nobody but our own address says that they hold
    it, so are those whose place is still free, since looking could hold it for ever.
    """
    if known.revoked_at is not None:
        raise WorkRefused(Refusal.REVOKED)
    if held.word == Word.DOES_NOT:
        give_back(known.offering, known.crowd_assignment_id, known.crowd_worker_id)
        raise WorkRefused(Refusal.NOT_HELD)
    is_settled = known.place == Place.HELD and known.taken_over_at is None and not is_time_over(study, known, now)
    if is_settled and (known.confirmed_at is not None or held.word != Word.HOLDS):
        return known
    return _go_on(study, known, held, is_held_again, now)


@transaction.atomic
def _go_on(study: FrozenStudy, known: Assignment, held: Held, is_held_again: bool, now: datetime) -> Assignment:
    lock_study(study.pk)
    ids = known.offering, known.crowd_assignment_id, known.crowd_worker_id
    known = hold_assignment(*ids) or known  # as it is now that nobody else can change its place
    if known.submitted_at is not None:
        return known
    if known.revoked_at is not None:
        raise WorkRefused(Refusal.REVOKED)
    if held.word == Word.HOLDS:
        if known.confirmed_at is None:
            known.confirmed_at, known.visited_from = now, ""
        take_over(*ids, True, now)
    elif known.taken_over_at is not None:
        # One worker's word against another's: both go on, and the crowd decides when the work is collected.
        if not is_held_again:
            raise WorkRefused(Refusal.TAKEN_OVER)
        known.held_again_at = now
    known.taken_over_at = None
    if known.place != Place.HELD or is_time_over(study, known, now):
        _renew_lease(study, known, held, now)
    known.save(
        update_fields=[
            *("confirmed_at", "visited_from", "taken_over_at", "held_again_at"),
            *("held_at", "place", "ended_as", "ended_at"),
        ]
    )
    return known


def _renew_lease(study: FrozenStudy, known: Assignment, held: Held, now: datetime) -> None:
    if held.is_by_our_word and not answers_of(known):
        raise WorkRefused(Refusal.NOT_BEGUN)
    if known.place == Place.HELD or take_place_again(known):
        known.place, known.held_at = Place.HELD, now - held.held_for
        if is_time_over(study, known, now):  # by the crowd's clock as well; but it says that they hold it
            known.held_at = now
        known.ended_as, known.ended_at = "", None
    elif not answers_of(known):
        raise WorkRefused(Refusal.NOTHING_FREE)


def take_up_again(known: Assignment, now: datetime) -> None:
    """Give somebody who has agreed again, and has answered nothing yet, their place for another time limit, if there is
    one. Called under the study's lock. Raises WorkRefused."""
    if known.place != Place.HELD and not take_place_again(known):
        raise WorkRefused(Refusal.NOTHING_FREE)
    known.place, known.held_at, known.ended_as, known.ended_at = Place.HELD, now, "", None
    known.save(update_fields=["place", "held_at", "ended_as", "ended_at"])


def take_in(study: FrozenStudy, assignment: Assignment) -> None:
    """Give work that is handed in its place, or call it extra. Called under the study's lock.

    Raises WorkRefused if the worker has begun as many others since their place was freed as they may do.
    """
    if assignment.place == Place.FREED:
        check_limit(study, assignment.offering, count_own(assignment.offering, assignment.crowd_worker_id))
    fill_place(assignment)


@transaction.atomic
def give_back(offering: Offering, assignment_id: str, worker_id: str) -> bool:
    """Free the place of work that was returned or given up, and return whether it had one.

    For crowds that hear of a return, by a button, a list or a webhook. Work that was handed in keeps its place; whoever
    comes back may go on.
    """
    if not is_leased(offering):
        return False
    lock_study(offering.study_id)
    known = hold_assignment(offering, assignment_id, worker_id)
    return known is not None and known.submitted_at is None and free_place(known)


@transaction.atomic
def end_old_leases(offering: Offering, now: datetime) -> int:
    """Free the places of all who have run out of time, and return how many. Syncs call it; arrivals need not wait."""
    if not is_leased(offering):
        return 0
    lock_study(offering.study_id)
    limit, count = timedelta(minutes=offering.study.parsed_design.crowd.time_limit_minutes), 0
    while ended := end_leases(offering, now - limit, ENDED_AT_ONCE):
        count += ended
    return count
