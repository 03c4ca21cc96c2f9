"""Create, get, extend, expire and delete HITs.

AWS does not document two things, so we chose: an expiry is at most a year ahead, and one in the past stays as given.
"""

from datetime import datetime, timedelta

from hits.crowds.mturk.costs import MOST_ASSIGNMENTS_AT_LOW_FEE
from localturk import funds, ids
from localturk.errors import RequestError, invalid, undeletable, wrong_state
from localturk.lifecycle import lock_hit, refresh
from localturk.limits import RANGES, YEAR_SECONDS
from localturk.models import HitType, TurkHit
from localturk.operations.finding import find_hit, find_hit_to_change, find_hit_type
from localturk.operations.hit_types import get_or_create_hit_type
from localturk.operations.operation_table import Answer, Params, operation
from localturk.rendering import hit_shape
from localturk.request_tokens import TokenKind, use_token


@operation("CreateHIT")
def create_hit(params: Params, now: datetime) -> Answer:
    return _create_hit(get_or_create_hit_type(params, now), params, now)


@operation("CreateHITWithHITType")
def create_hit_with_hit_type(params: Params, now: datetime) -> Answer:
    return _create_hit(find_hit_type(params["HITTypeId"]), params, now)


def _create_hit(hit_type: HitType, params: Params, now: datetime) -> Answer:
    hit = TurkHit(
        hit_id=ids.new_id(),
        hit_type=hit_type,
        question=params["Question"],
        max_assignments=params.get("MaxAssignments", 1),
        requester_annotation=params.get("RequesterAnnotation", ""),
        created_at=now,
        expires_at=now + timedelta(seconds=params["LifetimeInSeconds"]),
    )
    # Use the token before holding money, so that a repeated call is told that the HIT exists, even if no money is left.
    use_token(TokenKind.HIT, params.get("UniqueRequestToken"), hit.hit_id, now)
    refresh(hit, now)
    return {"HIT": hit_shape(hit)}


@operation("GetHIT")
def get_hit(params: Params, now: datetime) -> Answer:
    return {"HIT": hit_shape(find_hit(params["HITId"]))}


@operation("DeleteHIT")
def delete_hit(params: Params, now: datetime) -> Answer:
    """Delete a HIT. AWS documents this for Reviewable HITs only, but MTurk's error message also allows Reviewing."""
    hit = lock_hit(find_hit(params["HITId"]).pk)
    if hit.status not in (TurkHit.Status.REVIEWABLE, TurkHit.Status.REVIEWING) or hit.submitted_count:
        raise undeletable(hit.status)
    hit.status = TurkHit.Status.DISPOSED
    refresh(hit, now)
    return {}


@operation("UpdateExpirationForHIT")
def update_expiration(params: Params, now: datetime) -> Answer:
    hit = find_hit_to_change(params["HITId"])
    if params["ExpireAt"] > now + timedelta(seconds=YEAR_SECONDS):
        raise invalid("ExpireAt", "is more than a year ahead.")
    hit.expires_at = params["ExpireAt"]
    refresh(hit, now)
    return {}


@operation("UpdateHITReviewStatus")
def update_review_status(params: Params, now: datetime) -> Answer:
    hit = find_hit_to_change(params["HITId"])
    is_reverting = params.get("Revert", False)
    needed = TurkHit.Status.REVIEWING if is_reverting else TurkHit.Status.REVIEWABLE
    if hit.status != needed:
        raise wrong_state("HIT", needed, hit.status)
    hit.is_reviewing = not is_reverting
    refresh(hit, now)
    return {}


@operation("UpdateHITTypeOfHIT")
def update_hit_type(params: Params, now: datetime) -> Answer:
    hit = find_hit_to_change(params["HITId"])
    hit_type = find_hit_type(params["HITTypeId"])
    # Money is held at the old type's price. Release it, and hold it anew at the new price.
    funds.release(hit.held_count * funds.cost_cents(hit))
    hit.held_count = 0
    hit.hit_type = hit_type
    refresh(hit, now)
    return {}


@operation("CreateAdditionalAssignmentsForHIT")
def create_additional_assignments(params: Params, now: datetime) -> Answer:
    hit = find_hit_to_change(params["HITId"])
    use_token(TokenKind.ASSIGNMENTS, params.get("UniqueRequestToken"), hit.hit_id, now)
    total = hit.max_assignments + params["NumberOfAdditionalAssignments"]
    if hit.max_assignments <= MOST_ASSIGNMENTS_AT_LOW_FEE < total:
        message = (
            f"HIT {hit.hit_id} was created with {hit.max_assignments} assignments and can't be extended to {total}."
        )
        raise RequestError("AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease", message)
    if total > RANGES["MaxAssignments"][1]:
        raise invalid("NumberOfAdditionalAssignments", f"would make {total} assignments.")
    hit.max_assignments = total
    refresh(hit, now)
    return {}
