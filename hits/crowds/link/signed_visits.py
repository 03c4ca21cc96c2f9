"""Signs the address with which a worker gets from a link's page to the work, and reads it again on arrival.

In: an offering and a worker's id, which some page of ours has made sure of. Out: a Visit, and the address of the work.
Guaranteed: nobody can make such an address up, and it opens only the study that it was made for.
"""

import hashlib
from typing import Any
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer
from django.http import HttpRequest

from hits.crowds.coming_and_going import Preview, Visit
from hits.crowds.link.link_environments import LINK
from hits.crowds.link.taking_part import can_return_to
from hits.models import Assignment, Offering

JOINED = "joined"
LOOK = "look"

_signer = Signer(salt="hits.crowds.link.visit")


def visit_for(offering: Offering, worker_id: str, session: str = "") -> Visit:
    """Return the visit of a worker at this offering: with the assignment that they have begun, or else their next one.

    This is where invitations and other pages that know who somebody is lead them to the work. `session` is how the
    service behind their link calls this visit: what is handed in by it is to its credit. Of who was invited by name, it
    is the key of the link by which they came.
    """
    # By one statement: between two, another device could begin, and then there would be neither work in hand nor none.
    ours = Assignment.objects.filter(offering=offering, crowd_worker_id=worker_id).order_by("-pk")
    work = list(ours.annotate(in_hand=can_return_to(offering)).values_list("crowd_assignment_id", "in_hand"))
    known = next((assignment_id for assignment_id, in_hand in work if in_hand), "")
    assignment_id = known or _next_assignment_id(offering, worker_id, len(work))
    return Visit(LINK, offering.environment, assignment_id, worker_id, submit_to=session)


def _next_assignment_id(offering: Offering, worker_id: str, ordinal: int) -> str:
    """Return the id of the worker's next assignment. It is the same for two requests at once, which so get one HIT."""
    about = f"{offering.study.key}.{offering.environment}.{worker_id}.{ordinal}"
    return f"{ordinal + 1}-{hashlib.sha256(about.encode()).hexdigest()[:20]}"


def work_address(offering: Offering, visit: Visit) -> str:
    """Return path and query of our page for the work of this visit."""
    said = [str(offering.study.key), visit.environment, visit.assignment_id, visit.worker_id, visit.submit_to]
    return f"/work/{offering.study.key}/?{urlencode({JOINED: _signer.sign_object(said)})}"


def arrival(request: HttpRequest) -> Visit | Preview | None:
    if request.GET.get(LOOK) == LINK:
        return Preview(LINK)
    if not (signed := request.GET.get(JOINED, "")):
        return None
    try:
        said: Any = _signer.unsign_object(signed)
        study_key, environment, assignment_id, worker_id, session = said
    except (BadSignature, ValueError):
        return Visit(LINK, "", "", "")
    is_of_page = f"/{study_key}/" in request.path_info
    return Visit(LINK, environment if is_of_page else "", assignment_id, worker_id, submit_to=session)
