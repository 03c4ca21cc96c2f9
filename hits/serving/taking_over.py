"""Takes an assignment from other workers who hold the same id: the crowd has given it to somebody new."""

from datetime import datetime

from hits.models import Assignment, Offering
from hits.serving.leases import free_place, is_leased
from hits.serving.statements import find_others_in_hand


def take_over(offering: Offering, assignment_id: str, worker_id: str, is_confirmed: bool, now: datetime) -> None:
    """Take the assignment from other workers who hold the same id.

    If the crowd confirmed this worker, it is taken from everyone. If not, it is taken only from workers whom the crowd
    has not confirmed, and only once: somebody who then says that they still hold it is not interrupted again.
    """
    if not find_others_in_hand(offering, assignment_id, worker_id):
        return
    same_id = Assignment.objects.filter(offering=offering, crowd_assignment_id=assignment_id)
    in_hand = same_id.filter(submitted_at=None, taken_over_at=None)
    if not is_confirmed:
        in_hand = in_hand.filter(confirmed_at=None, held_again_at=None)
    losing = list(in_hand.exclude(crowd_worker_id=worker_id)) if is_leased(offering) else []
    in_hand.exclude(crowd_worker_id=worker_id).update(taken_over_at=now)
    for one in losing:
        free_place(one)
