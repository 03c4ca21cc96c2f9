"""Tell whether a worker holds an assignment. This operation is our own; MTurk has none like it.

MTurk shows an assignment only once it is submitted. Another crowd may be able to answer the same question.

In: the ids that a page was opened with. Out: whether that worker accepted that assignment of that HIT and has not given
it back, and for how long they have had it, by this marketplace's own clock.
"""

from datetime import datetime
from typing import Any

from localturk.models import TurkAssignment, TurkHit

OPERATION = "LocalTurk.GetHolder"
HELD, NOT_HELD, UNKNOWN_HIT = "Held", "NotHeld", "UnknownHIT"


def tell_holder(crowd_hit_id: str, assignment_id: str, worker_id: str, now: datetime) -> dict[str, Any]:
    """Return the answer. The caller must call `lifecycle.settle` first, so that assignments whose time is over are
    given back."""
    held = TurkAssignment.objects.live().filter(
        assignment_id=assignment_id, worker__worker_id=worker_id, hit__hit_id=crowd_hit_id
    )
    accepted_at = held.values_list("accepted_at", flat=True).first()
    if accepted_at is not None:
        return {"Status": HELD, "SecondsHeld": max(0.0, (now - accepted_at).total_seconds())}
    is_ours = TurkHit.objects.filter(hit_id=crowd_hit_id).exists()
    return {"Status": NOT_HELD if is_ours else UNKNOWN_HIT}
