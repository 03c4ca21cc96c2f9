"""Decides whether a worker may open a HIT, which card rotation they get, and who goes on if two hold one id."""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.db import transaction

from hits.batching import secret_number
from hits.crowds import Held, Visit, Word, crowd_of
from hits.models import Assignment, Hit, Offering, Replacement, SharedBlock, Submission
from hits.serving.allocating import give_hit, go_on
from hits.serving.frozen import FrozenHit, FrozenStudy, frozen_offering
from hits.serving.leases import is_leased, rotations_in_use
from hits.serving.may_work import check_is_open, check_may_begin_another, find_refusal, is_time_over, time_limit
from hits.serving.sides import choose_turned
from hits.serving.statements import (
    confirmed_of_hits,
    find_assignment,
    is_published,
    lock_study,
    work_of_worker,
    write_assignment,
)
from hits.serving.taking_over import take_over
from hits.serving.visit_limits import check_unconfirmed_visit, check_visit, visitor_key
from hits.serving.work_refusals import Refusal, WorkRefused

REOPENED = ["held_at", "taken_over_at", "ended_as", "ended_at"]


def open_assignment(
    hit: FrozenHit,
    visit: Visit,
    now: datetime,
    is_held_again: bool = False,
    address: str = "",
) -> Assignment:
    """Return the assignment of this visit; the same visit again returns the same one. Raises WorkRefused.

    `is_held_again`: the worker was told that they no longer hold it, and says that they do.
    """
    check_visit(address)
    offering = _find_offering(hit, visit)
    return _open(hit.study, hit, offering, visit, now, is_held_again, address)


def open_free_assignment(
    study: FrozenStudy, visit: Visit, now: datetime, is_held_again: bool = False, address: str = ""
) -> Assignment:
    """Do the same for a crowd that sends its workers to the study: a new visit is given a HIT that is free for them."""
    check_visit(address)
    offering = frozen_offering(study.key, visit)
    if offering is None or not is_leased(offering):
        raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
    return _open(study, None, offering, visit, now, is_held_again, address)


def ask_crowd(study_key: UUID, visit: Visit) -> Held:
    """Ask the crowd whether the visitor holds the assignment. It may take a while: call it before locking anything."""
    offering = frozen_offering(study_key, visit)
    if offering is None:
        raise WorkRefused(Refusal.TOKEN_INVALID)
    return crowd_of(offering).ask_holder(visit, offering)


def _open(
    study: FrozenStudy,
    named: FrozenHit | None,
    offering: Offering,
    visit: Visit,
    now: datetime,
    is_held_again: bool,
    address: str,
) -> Assignment:
    """Open the HIT that the visit names, or else the one that the visitor has or is given."""
    known = _find_known(named, offering, visit)
    if known is not None and known.submitted_at is not None:
        return known
    # Ask before anything is locked, since it may take a while. We ask at every opening (but not with every save), so
    # that a worker who has returned the HIT does not go on for nothing. If the crowd does not answer, what it
    # confirmed before still holds.
    held = crowd_of(offering).ask_holder(visit, offering)
    if known is None:
        return _open_new(study, named, offering, visit, held, address, now)
    if is_leased(offering):
        return go_on(study, known, held, is_held_again, now)
    if known.confirmed_at is not None and held.word != Word.DOES_NOT and find_refusal(study, known, now) is None:
        return known
    return _open_again(study, known, held, is_held_again, now)


def _find_offering(hit: FrozenHit, visit: Visit) -> Offering:
    """Return the offering that the visit comes from, if this HIT was published there under the id that the visit
    names."""
    offering = frozen_offering(hit.study.key, visit)
    if offering is None or not is_published(hit.pk, offering, visit.hit_id):
        raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
    if is_leased(offering):  # nobody there may choose a HIT by its number
        raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
    return offering


def _find_known(named: FrozenHit | None, offering: Offering, visit: Visit) -> Assignment | None:
    known = find_assignment(offering, visit.assignment_id, visit.worker_id)
    if known is not None and named is not None and known.hit_id != named.pk:
        raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
    return known


# --- A new visit -----------------------------------------------------------------------------------------------------


@transaction.atomic
def _open_new(
    study: FrozenStudy,
    named: FrozenHit | None,
    offering: Offering,
    visit: Visit,
    held: Held,
    address: str,
    now: datetime,
) -> Assignment:
    if held.word == Word.DOES_NOT:
        raise WorkRefused(Refusal.NOT_HELD)
    # We lock the study, not the HIT: a block may be several HITs, and its openings must be counted one by one.
    lock_study(study.pk)
    known = _find_known(named, offering, visit)
    if known is not None:
        return known
    is_confirmed = held.word == Word.HOLDS
    take_over(offering, visit.assignment_id, visit.worker_id, is_confirmed, now)
    if named is None:
        hit = give_hit(study, offering, visit.worker_id, now)
        rotations = rotations_in_use(offering, hit.block_hits)
    else:
        hit = named
        rotations = _check_may_begin(hit, offering, visit, is_confirmed, address, now - time_limit(study))
    if not is_confirmed:
        check_unconfirmed_visit(hit, address, now)
    rotation = _choose_rotation(hit, visit, rotations, is_confirmed)
    assignment = Assignment(
        hit_id=hit.pk,
        offering=offering,
        crowd_assignment_id=visit.assignment_id,
        crowd_worker_id=visit.worker_id,
        rotation=rotation,
        turned=choose_turned(hit, offering, visit.worker_id, rotation),
        opened_at=now,
        held_at=now - held.held_for,
        confirmed_at=now if is_confirmed else None,
        visited_from="" if is_confirmed else visitor_key(address),
        place=Assignment.Place.HELD if named is None else Assignment.Place.NONE,
    )
    write_assignment(assignment)
    check_is_open(study, assignment, now)
    return assignment


def _check_may_begin(
    hit: FrozenHit, offering: Offering, visit: Visit, is_confirmed: bool, address: str, held_after: datetime
) -> set[int]:
    """Raise if the worker has seen these dialogs, may begin no other HIT, or the HIT is full. Return the block's
    rotations that are in use."""
    own = work_of_worker(offering, visit.worker_id, visitor_key(address), held_after)
    of_block = confirmed_of_hits(offering, hit.block_hits, held_after)
    others = [(pk, counts) for pk, counts in own if pk != hit.pk]
    is_begun = any(pk == hit.pk and counts for pk, counts in own)
    shows_the_same = {*hit.block_hits, *_hits_of_shared_blocks(hit)} if others else set()
    if any(pk in shows_the_same for pk, _ in others) or (is_begun and _has_done_it(hit, offering, visit.worker_id)):
        raise WorkRefused(Refusal.NOT_ELIGIBLE)
    check_may_begin_another(hit.study, offering, visit.worker_id, sum(counts for _, counts in others))
    if not is_confirmed:  # if the marketplace has given the worker a place, there is room
        _check_has_room(hit, offering, sum(is_in for of_hit, _, is_in in of_block if of_hit == hit.pk))
    return {rotation for _, rotation, _ in of_block}


def _hits_of_shared_blocks(hit: FrozenHit) -> Iterable[int]:
    """Return the HITs of other blocks that show some of the same items. They may have been added a moment ago, so they
    are not held in memory as the HITs of its own block are."""
    others = SharedBlock.objects.filter(study=hit.study.pk, block=hit.block).values("other")
    return Hit.objects.filter(study=hit.study.pk, block__in=others).values_list("pk", flat=True)


def _check_has_room(hit: FrozenHit, offering: Offering, handed_in: int) -> None:
    """Raise if the HIT has all the answers it needs. Only what the marketplace has confirmed fills a place."""
    if handed_in >= hit.assignments and handed_in >= _count_places(hit, offering):
        raise WorkRefused(Refusal.STUDY_FULL)


def _has_done_it(hit: FrozenHit, offering: Offering, worker_id: str) -> bool:
    """Return whether the worker has handed this HIT in. If it was put up again, the marketplace takes it for another
    HIT and offers it to the same worker."""
    theirs = Submission.objects.filter(assignment__hit=hit.pk, assignment__crowd_worker_id=worker_id)
    return theirs.filter(assignment__offering=offering, assignment__ended_as="").exists()


def _count_places(hit: FrozenHit, offering: Offering) -> int:
    """Return the HIT's number of places, including replacements. It costs a query, so only call it if a HIT seems
    full."""
    standing = Replacement.objects.standing().filter(hit=hit.pk, offering=offering)
    return max(hit.assignments, standing.places_of_hits().get(hit.pk, 0))


def _choose_rotation(hit: FrozenHit, visit: Visit, taken: Collection[int], is_confirmed: bool) -> int:
    """Return by how many places the cards are rotated: one of the block's rotations that no confirmed work has.

    A worker whom the crowd confirms gets the first free one. So the block's workers get each rotation once, and a
    worker who returns a HIT leaves theirs to the next. Others get one that the secret draws: if visits that may be
    forged took rotations one after the other, a stranger could choose, by the number of visits, which rotation the next
    worker gets.
    """
    rotations = max(hit.study.design.hits.assignments, len(taken) + 1)
    free = [rotation for rotation in range(rotations) if rotation not in taken]
    if is_confirmed:
        return free[0]
    # The word "turn" is part of what is hashed: another word would draw other rotations.
    return free[secret_number(hit.study.order_secret, "turn", visit.assignment_id, visit.worker_id) % len(free)]


# --- Who holds it ----------------------------------------------------------------------------------------------------


@transaction.atomic
def _open_again(study: FrozenStudy, known: Assignment, held: Held, is_held_again: bool, now: datetime) -> Assignment:
    """Open again what was opened before and is not confirmed, whose time is over, or which somebody else holds now."""
    if held.word == Word.DOES_NOT:
        raise WorkRefused(Refusal.NOT_HELD)
    refusal = find_refusal(study, known, now)
    if held.word == Word.HOLDS:
        known.confirmed_at, known.held_at, known.visited_from = now, now - held.held_for, ""
        known.taken_over_at, known.ended_as, known.ended_at = None, "", None
        known.save(update_fields=[*REOPENED, "confirmed_at", "visited_from"])
        take_over(known.offering, known.crowd_assignment_id, known.crowd_worker_id, True, now)
        check_is_open(study, known, now)
    elif refusal and not is_held_again:
        raise WorkRefused(refusal)
    elif refusal:
        # It is one worker's word against another's. Both go on, each in their own row, and the marketplace decides when
        # the work is collected.
        if is_time_over(study, known, now):
            known.held_at = now
        known.taken_over_at, known.ended_as, known.ended_at = None, "", None
        known.held_again_at = now
        known.save(update_fields=[*REOPENED, "held_again_at"])
    return known
