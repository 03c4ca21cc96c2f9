"""Gives places in HITs to workers, and frees them, where our page gives workers their HITs.

In: an offering and whoever comes, returns, runs out of time or hands in. Out: HitPlaces counters and the assignments'
`place`. Guaranteed: each place is taken by one statement that finds the HIT and counts it, and no HIT gets more than it
has; each is freed once; late work gets a free place before a new worker does. Each call is made under the study's lock,
and in the transaction that writes the assignment: after a kill, both are there or neither is. `recount_places` counts
everything again.
"""

from collections.abc import Sequence
from datetime import datetime

from hits.crowds import crowd_of
from hits.models import Assignment, Offering
from hits.serving.statements import as_stored, execute

Place = Assignment.Place

# The least filled HIT comes first, and of equally filled ones the first: the order in which HITs were frozen is a
# seeded shuffle of the dialogs already. The last line repeats the condition for whoever forgets the lock.
SEEN_BLOCKS = """SELECT hits_hit.study_id, block FROM hits_hit
    JOIN hits_assignment ON hits_assignment.hit_id = hits_hit.id
    WHERE hits_assignment.offering_id = %s AND crowd_worker_id = %s"""
TAKE = f"""WITH seen AS ({SEEN_BLOCKS})
    UPDATE hits_hitplaces SET taken = taken + 1
    WHERE id = (SELECT id FROM hits_hitplaces WHERE offering_id = %s AND is_on_offer AND taken < places
        AND block NOT IN (SELECT block FROM seen)
        AND block NOT IN (SELECT other FROM hits_sharedblock JOIN seen
            ON hits_sharedblock.study_id = seen.study_id AND hits_sharedblock.block = seen.block)
        ORDER BY taken, number LIMIT 1)
    AND taken < places RETURNING number"""  # noqa: S608
TAKE_OF_HIT = """UPDATE hits_hitplaces SET taken = taken + 1
    WHERE offering_id = %s AND hit_id = %s AND taken < places RETURNING 1"""
END_LEASES = """UPDATE hits_assignment SET place = 'freed' WHERE id IN
    (SELECT id FROM hits_assignment WHERE offering_id = %s AND place = 'held' AND held_at < %s
        ORDER BY held_at LIMIT %s)
    AND place = 'held' RETURNING hit_id"""
FREE = "UPDATE hits_assignment SET place = 'freed' WHERE id = %s AND place = 'held' RETURNING hit_id"
TO_LATE_WORK = """UPDATE hits_assignment SET place = 'filled' WHERE id =
    (SELECT id FROM hits_assignment WHERE offering_id = %s AND hit_id = %s AND place = 'extra'
        ORDER BY submitted_at, id LIMIT 1)
    RETURNING 1"""
FILL = "UPDATE hits_assignment SET place = %s, ended_as = '', ended_at = NULL WHERE id = %s"
COUNT_DOWN = "UPDATE hits_hitplaces SET taken = taken - 1 WHERE offering_id = %s AND hit_id = %s AND taken > 0"


COUNT_OWN = """SELECT count(*) FROM hits_assignment
    WHERE offering_id = %s AND crowd_worker_id = %s AND place IN ('held', 'filled', 'extra')"""


def is_leased(offering: Offering) -> bool:
    """Return whether our page gives workers their HITs in this offering, and so counts the places."""
    return crowd_of(offering).abilities.sends_to_study


def take_place(offering: Offering, worker_id: str) -> int | None:
    """Take a place in the least filled HIT whose dialogs the worker has not seen in this offering, and return the HIT's
    number; None if there is none."""
    found = execute(TAKE, offering.pk, worker_id, offering.pk)
    return int(found[0][0]) if found else None


def take_place_again(assignment: Assignment) -> bool:
    """Take a place for work whose own was freed, if its HIT has one."""
    return bool(execute(TAKE_OF_HIT, assignment.offering_id, assignment.hit_id))


def end_leases(offering: Offering, held_before: datetime, most: int) -> int:
    """Free the places of those who began before this and have not handed in, the oldest first, and return how many."""
    freed = execute(END_LEASES, offering.pk, as_stored(held_before), most)
    for (hit,) in freed:
        _pass_on(offering.pk, hit)
    return len(freed)


def free_place(assignment: Assignment) -> bool:
    """Free the place of work that was not handed in. Repeating it changes nothing."""
    freed = execute(FREE, assignment.pk)
    for (hit,) in freed:
        _pass_on(assignment.offering_id, hit)
    return bool(freed)


def fill_place(assignment: Assignment) -> None:
    """Note that work is handed in: as extra if its place was freed and somebody else has it."""
    has_place = assignment.place == Place.HELD or take_place_again(assignment)
    assignment.place = Place.FILLED if has_place else Place.EXTRA
    execute(FILL, assignment.place, assignment.pk)


def count_own(offering: Offering, worker_id: str) -> int:
    """Count the HITs that a worker has done or holds. Unlike in `work_of_worker`, the crowd need not have confirmed
    them: a crowd that can't tell who came must not let anyone do a study twice."""
    ((count,),) = execute(COUNT_OWN, offering.pk, worker_id)
    return int(count)


def rotations_in_use(offering: Offering, hit_pks: Sequence[int]) -> set[int]:
    """Return the card rotations of those who have worked on these HITs or are at it."""
    marks = ", ".join(["%s"] * len(hit_pks))
    statement = f"""SELECT rotation FROM hits_assignment
        WHERE hit_id IN ({marks}) AND offering_id = %s AND place IN ('held', 'filled', 'extra')"""  # noqa: S608
    return {int(rotation) for (rotation,) in execute(statement, *hit_pks, offering.pk)}


def _pass_on(offering_pk: int, hit_pk: int) -> None:
    """Give a place that became free to late work that waits for one, or else to whoever comes next."""
    if not execute(TO_LATE_WORK, offering_pk, hit_pk):
        execute(COUNT_DOWN, offering_pk, hit_pk)
