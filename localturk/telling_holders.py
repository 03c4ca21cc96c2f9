"""Who holds an assignment: the local marketplace's own extension. MTurk has no such operation, and tells of an
assignment only once it is submitted; another crowd may be able to answer the same question.

In: the ids that a page was opened with. Out: whether that worker accepted that assignment of that HIT and has not given
it back, and for how long they have had it, by this marketplace's own clock.
"""

from datetime import datetime
from typing import Any

from localturk.models import TurkAssignment, TurkHit

OPERATION = "LocalTurk.GetHolder"
HELD, NOT_HELD, UNKNOWN_HIT = "Held", "NotHeld", "UnknownHIT"


def tell_holder(crowd_hit_id: str, assignment_id: str, worker_id: str, now: datetime) -> dict[str, Any]:
    """Whoever asks has to have the time settled before (`lifecycle.settle`), so that what ran out is given back."""
    held = TurkAssignment.objects.live().filter(
        assignment_id=assignment_id, worker__worker_id=worker_id, hit__hit_id=crowd_hit_id
    )
    accepted_at = held.values_list("accepted_at", flat=True).first()
    if accepted_at is not None:
        return {"Status": HELD, "SecondsHeld": max(0.0, (now - accepted_at).total_seconds())}
    is_ours = TurkHit.objects.filter(hit_id=crowd_hit_id).exists()
    return {"Status": NOT_HELD if is_ours else UNKNOWN_HIT}
