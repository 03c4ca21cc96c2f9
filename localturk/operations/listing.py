"""List HITs, the newest first. MTurk documents no order, so this one is our guess."""

from datetime import datetime

from localturk.models import TurkHit
from localturk.models.turk_hit import TurkHitQuerySet
from localturk.operations.finding import find_hit_type, find_qualification_type
from localturk.operations.operation_table import Answer, Params, operation
from localturk.paging import page_of
from localturk.qualifying import SYSTEM_QUALIFICATION_TYPES
from localturk.rendering import hit_shape


@operation("ListHITs")
def list_hits(params: Params, now: datetime) -> Answer:
    return _list_page(TurkHit.objects.undeleted(), params, "hits")


@operation("ListReviewableHITs")
def list_reviewable_hits(params: Params, now: datetime) -> Answer:
    status = params.get("Status", TurkHit.Status.REVIEWABLE)
    hits = TurkHit.objects.filter(status=status)
    hit_type_id = params.get("HITTypeId", "")
    if hit_type_id:
        hits = hits.filter(hit_type=find_hit_type(hit_type_id))
    return _list_page(hits, params, f"{status} {hit_type_id}")


@operation("ListHITsForQualificationType")
def list_hits_for_qualification_type(params: Params, now: datetime) -> Answer:
    wanted = params["QualificationTypeId"]
    if wanted not in SYSTEM_QUALIFICATION_TYPES:
        find_qualification_type(wanted)
    hits = TurkHit.objects.undeleted().filter(hit_type__requirements__qualification_type_id=wanted)
    return _list_page(hits, params, f"hits of {wanted}")


def _list_page(hits: TurkHitQuerySet, params: Params, scope: str) -> Answer:
    page, counts = page_of(hits.select_related("hit_type"), params, scope, newest_first=True)
    return {"HITs": [hit_shape(hit) for hit in page], **counts}
